/* SPDX-License-Identifier: Apache-2.0 */
/* The store on a Redis: three schemes for one connection. What an operation does stands in
 * redis_script.c, what becomes of the connection in redis_link.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/core/buf.h"
#include "gateway/store/redis_link.h"

struct redis_store {
    struct store store; /* first */
    struct redis_link *link;
    void (*closed)(void *context); /* may be NULL */
    void *closed_context;
};

static bool open_with(const struct store_impl *impl, struct slice text, int64_t window_ms,
                      struct turn *turn, struct store **store, struct err *err)
{
    struct redis_url url;

    if (!redis_url_init(&url, text, err))
        return false;
    if (url.ca_file && access(url.ca_file, R_OK) != 0) {
        err_set(err, "the store's ca_file %s: %s", url.ca_file, strerror(errno));
        redis_url_release(&url);
        return false;
    }
    struct redis_store *redis = mem_new(sizeof(*redis));
    redis->store.impl = impl;
    redis->link = redis_link_open(&url, window_ms, turn);
    *store = &redis->store;
    return true;
}

static bool open_plain(struct slice url, int64_t window_ms, struct turn *turn, struct store **store,
                       struct err *err)
{
    return open_with(&store_redis, url, window_ms, turn, store, err);
}

static bool open_tls(struct slice url, int64_t window_ms, struct turn *turn, struct store **store,
                     struct err *err)
{
    return open_with(&store_rediss, url, window_ms, turn, store, err);
}

static bool open_unix(struct slice url, int64_t window_ms, struct turn *turn, struct store **store,
                      struct err *err)
{
    return open_with(&store_redis_unix, url, window_ms, turn, store, err);
}

static void submit(struct store *store, struct store_op *op)
{
    redis_link_send(CONTAINER_OF(store, struct redis_store, store)->link, op);
}

static void on_closed(void *context)
{
    struct redis_store *redis = context;
    void (*closed)(void *) = redis->closed;
    void *closed_context = redis->closed_context;

    free(redis);
    if (closed)
        closed(closed_context);
}

static void close_store(struct store *store, void (*closed)(void *context), void *context)
{
    struct redis_store *redis = CONTAINER_OF(store, struct redis_store, store);

    redis->closed = closed;
    redis->closed_context = context;
    redis_link_close(redis->link, on_closed, redis);
}

const struct store_impl store_redis = {
    .scheme = "redis",
    .open = open_plain,
    .submit = submit,
    .close = close_store,
};

const struct store_impl store_rediss = {
    .scheme = "rediss",
    .open = open_tls,
    .submit = submit,
    .close = close_store,
};

const struct store_impl store_redis_unix = {
    .scheme = "redis+unix",
    .open = open_unix,
    .submit = submit,
    .close = close_store,
};
