/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server answers each read after BLOCK_MS at the latest, so a connection that is dead without
 * saying so is found by the link's own time-out.
 *
 * An answer is, element by element:
 *   [1] [2] <the stream> [n], and n times: [2] <id> [2] "t" <thread>
 * where [n] is the head of an array of n; nothing new is [0].
 */
#include "gateway/store/redis_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/store/redis_threads_script.h"

enum { BLOCK_MS = 1000, READ_MOST = 200, ID_SIZE = 48, HEAD = 4, ENTRY = 5 };

struct redis_feed {
    struct redis_link *link;
    struct follow *follow;
    struct store_task task;
    char last[ID_SIZE];      /* read up to there */
    uint64_t seen, expected; /* elements of the answer */
    void (*closed)(void *context);
    void *closed_context;
};

static void write_read(const struct store_task *task, struct redis_command *command,
                       const char *sha)
{
    const struct redis_feed *feed = task->of;

    (void)sha;
    redis_command_start(command, "XREAD");
    redis_command_add(command, SLICE("COUNT"));
    redis_command_add_number(command, READ_MOST);
    redis_command_add(command, SLICE("BLOCK"));
    redis_command_add_number(command, BLOCK_MS);
    redis_command_add(command, SLICE("STREAMS"));
    redis_command_add(command, SLICE(REDIS_FEED));
    redis_command_add(command, slice_from(feed->last));
}

static bool take_head(struct redis_feed *feed, const struct redis_reply *reply)
{
    static const uint64_t lengths[] = {1, 2, 0};

    if (feed->seen == 2)
        return reply->kind == REDIS_TEXT;
    if (feed->seen == 3) {
        feed->expected = HEAD + reply->count * ENTRY;
        return reply->kind == REDIS_ARRAY && reply->count <= READ_MOST;
    }
    return reply->kind == REDIS_ARRAY && reply->count == lengths[feed->seen];
}

static bool take_entry(struct redis_feed *feed, const struct redis_reply *reply)
{
    uint64_t element = (feed->seen - HEAD) % ENTRY;

    if (element == 0 || element == 2)
        return reply->kind == REDIS_ARRAY && reply->count == 2;
    if (reply->kind != REDIS_TEXT)
        return false;
    if (element == 1 && reply->text.len < ID_SIZE)
        snprintf(feed->last, ID_SIZE, "%.*s", SLICE_ARG(reply->text));
    if (element == ENTRY - 1)
        follow_look(feed->follow, reply->text);
    return true;
}

static enum redis_taken take_read(struct store_task *task, const struct redis_reply *reply)
{
    struct redis_feed *feed = task->of;
    bool nothing = reply->kind == REDIS_ARRAY && reply->count == 0;

    if (feed->seen == 0 && nothing)
        return REDIS_TAKEN;
    bool ok = feed->seen < HEAD ? take_head(feed, reply) : take_entry(feed, reply);
    feed->seen++;
    if (!ok)
        return REDIS_ODD;
    return feed->seen < feed->expected ? REDIS_MORE : REDIS_TAKEN;
}

static void start_read(struct redis_feed *feed)
{
    feed->seen = 0;
    feed->expected = HEAD;
    redis_link_send(feed->link, &feed->task);
}

/* After a failure, `ready` starts the next one: whatever is refused here ends the connection. */
static void end_read(struct store_task *task, enum store_answer how, const struct err *why)
{
    (void)why;
    if (how == STORE_OK)
        start_read(task->of);
}

static const struct redis_work read_work = {
    .write = write_read,
    .take = take_read,
    .end = end_read,
};

/* From the beginning of what the server has: it may have lost what this instance saw. */
static void on_ready(void *context)
{
    struct redis_feed *feed = context;

    snprintf(feed->last, ID_SIZE, "0");
    start_read(feed);
    follow_look_at_all(feed->follow);
}

struct redis_feed *redis_feed_open(const struct redis_link *beside, struct follow *follow)
{
    struct redis_feed *feed = mem_new(sizeof(*feed));
    struct redis_link_use use = {
        .name = " (to follow threads)", .ready = on_ready, .context = feed, .endless = true};

    feed->follow = follow;
    feed->task.work.redis = &read_work;
    feed->task.of = feed;
    feed->task.script = REDIS_NO_SCRIPT;
    feed->link = redis_link_twin(beside, &use);
    return feed;
}

static void on_closed(void *context)
{
    struct redis_feed *feed = context;
    void (*closed)(void *) = feed->closed;
    void *closed_context = feed->closed_context;

    free(feed);
    closed(closed_context);
}

void redis_feed_close(struct redis_feed *feed, void (*closed)(void *context), void *context)
{
    feed->closed = closed;
    feed->closed_context = context;
    redis_link_forget(feed->link);
    redis_link_close(feed->link, on_closed, feed);
}
