/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_sentinel: asks Sentinels which server is the master now (redis.io, "Guidelines for Redis
 * clients with support for Redis Sentinel").
 *
 * One after the other, from a given one on, until one knows. Each has a second to be reached and a
 * second to answer. Whether the server itself agrees is for the caller to find out.
 */
#ifndef WAKEGATE_STORE_REDIS_SENTINEL_H
#define WAKEGATE_STORE_REDIS_SENTINEL_H

#include <uv.h>

#include "gateway/store/redis_url.h"

struct redis_sentinel;

/* From the loop, once. `server` is the master, borrowed for the call, and `who` the place in the
 * URL of the Sentinel that named it; or it is NULL and `why` says what became of each, in the order
 * of the URL. */
typedef void redis_found(void *context, const struct redis_host *server, size_t who,
                         const struct err *why);

/* `url` must outlive `done`. */
struct redis_sentinel *redis_sentinel_ask(uv_loop_t *loop, const struct redis_url *url,
                                          size_t first, redis_found *done, void *context);

/* Asks no further; `done` still comes. */
void redis_sentinel_drop(struct redis_sentinel *sentinel);

#endif
