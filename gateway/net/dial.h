/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dial: from a host and a port, or from a path, to a connected socket.
 *
 * The name is looked up on libuv's pool. Every address of it is tried in turn, each for its share
 * of the time that is left, so that one that does not answer leaves time for the others.
 */
#ifndef WAKEGATE_NET_DIAL_H
#define WAKEGATE_NET_DIAL_H

#include <uv.h>

#include "gateway/core/err.h"

struct dial;

/* `port` NULL: `host` is the path of a unix socket. `done` comes once, from the loop: with a socket
 * that is the receiver's, to uv_close and, in that close callback, to free(); or with NULL and the
 * reason. The dial is gone then. */
struct dial *dial_start(uv_loop_t *loop, const char *host, const char *port, uint64_t for_ms,
                        void (*done)(void *context, uv_stream_t *socket, const struct err *why),
                        void *context);

/* Instead of `done`, which then never comes. A name look-up that hangs cannot be stopped; it ends
 * and frees itself unheard. */
void dial_drop(struct dial *dial);

#endif
