/* SPDX-License-Identifier: Apache-2.0 */
/* The store on a Redis. What an operation does stands in redis_script.c, what becomes of the
 * connection in redis_link.c. */
#include "gateway/store/redis_store.h"

#include <stdlib.h>

#include "gateway/core/buf.h"
#include "gateway/store/redis_script.h"
#include "gateway/store/threads_impl.h"

struct redis_store {
    struct store store; /* first */
    struct redis_link *link;
    struct turn *turn;
    int64_t window_ms;
    struct store_task policy; /* asks how the server forgets, before each ping */
    bool asking;
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

/* --- how the server forgets --- */

static void write_policy(const struct store_task *task, struct redis_command *command,
                         const char *sha)
{
    (void)task;
    (void)sha;
    redis_command_start(command, "INFO");
    redis_command_add(command, SLICE("memory"));
}

static enum redis_taken take_policy(struct store_task *task, const struct redis_reply *reply)
{
    const struct redis_store *redis = task->of;

    redis_link_warn(redis->link, reply->kind == REDIS_TEXT ? reply->text : SLICE(""));
    return reply->kind == REDIS_ARRAY ? REDIS_ODD : REDIS_TAKEN;
}

static void end_policy(struct store_task *task, enum store_answer how, const struct err *why)
{
    struct redis_store *redis = task->of;

    (void)how;
    (void)why;
    redis->asking = false;
}

static const struct redis_work policy_work = {
    .write = write_policy, .take = take_policy, .end = end_policy, .takes_errors = true};

/* It ends before the ping does, which is sent after it. */
static void ask_policy(struct redis_store *redis)
{
    if (redis->asking)
        return;
    redis->asking = true;
    redis_link_send(redis->link, &redis->policy);
}

/* --- all operations --- */

static void submit(struct store *store, struct store_op *op)
{
    struct redis_store *redis = CONTAINER_OF(store, struct redis_store, store);

    op->task = (struct store_task){
        .work.redis = &op_work,
        .of = redis,
        .script = op->verb == STORE_PING ? REDIS_NO_SCRIPT : (int)op->verb,
    };
    if (op->verb == STORE_PING)
        ask_policy(redis);
    redis_link_send(redis->link, &op->task);
}

struct redis_link *redis_store_link(struct store *store)
{
    return CONTAINER_OF(store, struct redis_store, store)->link;
}

/* --- opening and closing --- */

static bool open_store(struct slice text, int64_t window_ms, struct turn *turn,
                       struct store **store, struct err *err)
{
    struct redis_url url;

    if (!redis_url_init(&url, text, err))
        return false;
    struct redis_store *redis = mem_new(sizeof(*redis));
    redis->store.impl = &store_redis;
    redis->turn = turn;
    redis->window_ms = window_ms;
    redis->policy =
        (struct store_task){.work.redis = &policy_work, .of = redis, .script = REDIS_NO_SCRIPT};
    const struct redis_link_use use = {.name = "", .warning = &redis->store.warning};
    redis->link = redis_link_open(&url, &use, turn);
    *store = &redis->store;
    return true;
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

static const char *const schemes[] = {"redis",          "rediss",          "redis+unix",
                                      "redis+sentinel", "rediss+sentinel", NULL};

const struct store_impl store_redis = {
    .schemes = schemes,
    .threads = &threads_redis,
    .open = open_store,
    .submit = submit,
    .close = close_store,
};
