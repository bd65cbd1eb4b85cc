/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream: one asynchronous byte stream on libuv: TCP or a unix socket, with or without TLS (OpenSSL
 * over memory BIOs). It connects, or takes an accepted descriptor over.
 *
 * Events come from the loop, never from inside a call of this file. After `closed` nothing more
 * comes. Names are resolved on libuv's pool.
 */
#ifndef WAKEGATE_NET_STREAM_H
#define WAKEGATE_NET_STREAM_H

#include <uv.h>

#include "gateway/core/err.h"
#include "gateway/core/slice.h"

struct stream;

struct stream_events {
    void (*opened)(void *context);                        /* connected, TLS finished */
    void (*bytes)(void *context, struct slice bytes);     /* borrowed for the call */
    void (*closed)(void *context, const struct err *why); /* the stream is gone and freed; once */
};

struct stream_address {
    const char *host; /* a name or an address; or, with port NULL, the path of a unix socket */
    const char *port;
    bool tls;
    const char *ca_file; /* NULL: the system's certificates; only with tls */
};

/* Strings in `address` are copied. `connect_ms` bounds name, connect and TLS together. */
struct stream *stream_connect(uv_loop_t *loop, const struct stream_address *address,
                              int64_t connect_ms, const struct stream_events *events,
                              void *context);

/* Writes all of it, in order; the bytes are copied where the socket does not take them at once. */
void stream_write(struct stream *stream, struct slice bytes);

/* Closes at once; `closed` comes later, with an empty text. Fine to call more than once. */
void stream_close(struct stream *stream);

#endif
