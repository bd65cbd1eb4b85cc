/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads on a Redis: operations go over the store's own connection, hints come over the
 * feed's. What an operation does stands in redis_threads_script.c.
 *
 * Answers come one after the other, so one place is enough for the one that is half read.
 */
#include <stdlib.h>

#include "gateway/core/buf.h"
#include "gateway/store/redis_feed.h"
#include "gateway/store/redis_script.h"
#include "gateway/store/redis_store.h"
#include "gateway/store/redis_threads_script.h"
#include "gateway/store/threads_impl.h"

enum { POSITION_BYTES = 64 };

struct redis_threads {
    struct threads threads; /* first */
    struct redis_link *link;
    struct redis_feed *feed; /* NULL: nobody follows */
    struct turn *turn;
    struct threads_settings settings;
    uint64_t seen, expected; /* elements of a read's answer */
    struct buf position;     /* of the entry whose text comes next */
};

static struct threads_op *op_of(struct store_task *task)
{
    return CONTAINER_OF(task, struct threads_op, task);
}

static void write_op(const struct store_task *task, struct redis_command *command, const char *sha)
{
    const struct redis_threads *redis = task->of;
    const struct threads_op *op = op_of((struct store_task *)(uintptr_t)task);

    redis_threads_script_command(command, op, sha, &redis->settings);
}

static void take_element(struct redis_threads *redis, struct threads_op *op, struct slice text)
{
    uint64_t element = redis->seen++;

    if (element == 0) {
        op->more = slice_eq(text, SLICE("1"));
    } else if (element == 1) {
        threads_op_pending(op, text);
    } else if (element % 2 == 0) {
        buf_clear(&redis->position);
        buf_append(&redis->position, text);
    } else {
        threads_op_add(op, buf_slice(&redis->position), text);
    }
}

/* An array: more, pending, and of each entry its position and its text. */
static enum redis_taken take_read(struct redis_threads *redis, struct threads_op *op,
                                  const struct redis_reply *reply)
{
    if (reply->kind == REDIS_ARRAY) {
        bool ok = reply->count >= 2 && reply->count % 2 == 0;
        redis->seen = 0;
        redis->expected = reply->count;
        op->answer = THREADS_DONE;
        return ok ? REDIS_MORE : REDIS_ODD;
    }
    if (reply->kind != REDIS_TEXT || redis->seen >= redis->expected)
        return REDIS_ODD;
    take_element(redis, op, reply->text);
    return redis->seen < redis->expected ? REDIS_MORE : REDIS_TAKEN;
}

static enum redis_taken take_op(struct store_task *task, const struct redis_reply *reply)
{
    struct threads_op *op = op_of(task);

    if (op->verb == THREADS_READ)
        return take_read(task->of, op, reply);
    return redis_threads_script_answer(op, reply->text) ? REDIS_TAKEN : REDIS_ODD;
}

static void end_op(struct store_task *task, enum store_answer how, const struct err *why)
{
    struct redis_threads *redis = task->of;
    struct threads_op *op = op_of(task);

    redis->seen = redis->expected = 0;
    if (how != STORE_OK)
        threads_op_fail(op, how == STORE_DOWN ? THREADS_DOWN : THREADS_UNSURE, why);
    op_finish(&op->op, redis->turn);
}

static const struct redis_work op_work = {.write = write_op, .take = take_op, .end = end_op};

static void submit(struct threads *threads, struct threads_op *op)
{
    struct redis_threads *redis = CONTAINER_OF(threads, struct redis_threads, threads);

    op->task = (struct store_task){
        .work.redis = &op_work,
        .of = redis,
        .script = REDIS_THREADS_SCRIPTS + (int)op->verb,
    };
    redis_link_send(redis->link, &op->task);
}

static struct threads *open_threads(struct store *store, const struct threads_settings *settings,
                                    struct turn *turn, struct follow *follow)
{
    struct redis_threads *redis = mem_new(sizeof(*redis));

    redis->link = redis_store_link(store);
    redis->turn = turn;
    redis->settings = *settings;
    redis->position.max = POSITION_BYTES;
    if (!settings->unfollowed)
        redis->feed = redis_feed_open(redis->link, follow);
    return &redis->threads;
}

static void on_feed_closed(void *context)
{
    struct redis_threads *redis = context;
    void (*closed)(void *) = redis->threads.closed;
    void *closed_context = redis->threads.closed_context;

    buf_release(&redis->position);
    free(redis);
    if (closed)
        closed(closed_context);
}

static void close_feed(struct threads *threads)
{
    struct redis_threads *redis = CONTAINER_OF(threads, struct redis_threads, threads);

    if (redis->feed)
        redis_feed_close(redis->feed, on_feed_closed, redis);
    else
        on_feed_closed(redis);
}

const struct threads_impl threads_redis = {
    .open = open_threads,
    .submit = submit,
    .close = close_feed,
};
