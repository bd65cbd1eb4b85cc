/* SPDX-License-Identifier: Apache-2.0 */
/* The store on a Redis: three schemes for one connection. What an operation does stands in
 * redis_script.c, what becomes of the connection in redis_link.c. */
#include "gateway/store/redis_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/core/buf.h"
#include "gateway/store/redis_script.h"
#include "gateway/store/threads_impl.h"

struct redis_store {
    struct store store; /* first */
    struct redis_link *link;
    struct turn *turn;
    int64_t window_ms;
    void (*closed)(void *context); /* may be NULL */
    void *closed_context;
};

/* --- operations --- */

static struct store_op *op_of(struct store_task *task)
{
    return CONTAINER_OF(task, struct store_op, task);
}

static void write_op(const struct store_task *task, struct redis_command *command, const char *sha)
{
    const struct redis_store *redis = task->of;

    redis_script_command(command, op_of((struct store_task *)(uintptr_t)task), sha,
                         redis->window_ms);
}

static enum redis_taken take_op(struct store_task *task, const struct redis_reply *reply)
{
    return redis_script_answer(op_of(task), reply->text) ? REDIS_TAKEN : REDIS_ODD;
}

static void end_op(struct store_task *task, enum store_answer how, const struct err *why)
{
    const struct redis_store *redis = task->of;
    struct store_op *op = op_of(task);

    if (how != STORE_OK) {
        op->answer = how;
        op->answer_ms = 0;
        op->err = *why;
    }
    op_finish(&op->op, redis->turn);
}

static const struct redis_work op_work = {.write = write_op, .take = take_op, .end = end_op};

static void submit(struct store *store, struct store_op *op)
{
    struct redis_store *redis = CONTAINER_OF(store, struct redis_store, store);

    op->task = (struct store_task){
        .work.redis = &op_work,
        .of = redis,
        .script = op->verb == STORE_PING ? REDIS_NO_SCRIPT : (int)op->verb,
    };
    redis_link_send(redis->link, &op->task);
}

struct redis_link *redis_store_link(struct store *store)
{
    return CONTAINER_OF(store, struct redis_store, store)->link;
}

/* --- opening and closing --- */

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
    redis->turn = turn;
    redis->window_ms = window_ms;
    redis->link = redis_link_open(&url, &(struct redis_link_use){.name = ""}, turn);
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
    .threads = &threads_redis,
    .open = open_plain,
    .submit = submit,
    .close = close_store,
};

const struct store_impl store_rediss = {
    .scheme = "rediss",
    .threads = &threads_redis,
    .open = open_tls,
    .submit = submit,
    .close = close_store,
};

const struct store_impl store_redis_unix = {
    .scheme = "redis+unix",
    .threads = &threads_redis,
    .open = open_unix,
    .submit = submit,
    .close = close_store,
};
