/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream: one asynchronous byte stream on libuv: TCP or a unix socket, with or without TLS.
 *
 * Events come from the loop, never from inside a call of this file. After `closed` nothing more
 * comes. Names are resolved on libuv's pool; every address of a name is tried, each for its share
 * of the time that is left. What a peer sent before it closed is told, even where something could
 * not be written to it any more. The process must ignore SIGPIPE.
 */
#ifndef WAKEGATE_NET_STREAM_H
#define WAKEGATE_NET_STREAM_H

#include <uv.h>

#include "gateway/core/err.h"
#include "gateway/core/slice.h"
#include "gateway/net/tls.h"

/* What may wait for a peer that does not read; the stream closes with an error over it. */
enum { STREAM_QUEUE_BYTES = 16 * 1024 * 1024 };

struct stream;

struct stream_events {
    void (*opened)(void *context);                        /* connected, TLS finished */
    void (*bytes)(void *context, struct slice bytes);     /* borrowed for the call */
    void (*closed)(void *context, const struct err *why); /* the stream is gone and freed; once */
};

struct stream_address {
    const char *host; /* a name or an address; or, with port NULL, the path of a unix socket */
    const char *port;
    const char *name;       /* whom the certificate must name; NULL: the host */
    bool tls;               /* as a client: 1.2 or later, certificate and host verified */
    struct tls_files files; /* only with tls */
};

/* Strings in `address` are copied. `connect_ms` bounds name, connect and TLS together. Failing to
 * connect is `closed` without `opened`. */
struct stream *stream_connect(uv_loop_t *loop, const struct stream_address *address,
                              int64_t connect_ms, const struct stream_events *events,
                              void *context);

/* After `opened`. Writes all of it, in order; the bytes are copied where the socket does not take
 * them at once. On a stream that is closing they are dropped. */
void stream_write(struct stream *stream, struct slice bytes);

/* After `opened`, with TLS: when the peer's certificate ends, in milliseconds since 1970. */
int64_t stream_certificate_end(const struct stream *stream);

/* Closes at once, without what still waits to be written; `closed` comes later, with an empty text.
 * Fine to call more than once. */
void stream_close(struct stream *stream);

#endif
