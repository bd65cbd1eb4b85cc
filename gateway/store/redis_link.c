/* SPDX-License-Identifier: Apache-2.0 */
/* The operations on a line: what is sent waits in a queue for its answer, the oldest first, with
 * one deadline for that one. */
#include "gateway/store/redis_link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/net/stream.h"
#include "gateway/store/redis_info.h"
#include "gateway/store/redis_line.h"

enum {
    COMMAND_MS = 2000,
    GRACE_MS = 50 /* for answers that came while this process did not run */
};

struct redis_link {
    struct redis_line line;
    struct turn *turn;
    struct turn_step flush;
    struct redis_link_use use;
    struct redis_command command;        /* the one that is being built */
    struct buf out;                      /* for the end of the turn */
    struct store_task *sent, **sent_end; /* the oldest first */
    bool half;                           /* the oldest has the beginning of its answer */
    struct deadline deadline;
    void (*closed)(void *context);
    void *closed_context;
};

static const struct err odd = {REDIS_ODD_ANSWER};

static void end_badly(struct redis_link *link, struct store_task *task, enum store_answer answer,
                      const struct err *why)
{
    struct err err = *why;

    err_wrap(&err, "Redis at %s", link->line.place);
    task->work.redis->end(task, answer, &err);
}

static struct store_task *take_oldest(struct redis_link *link)
{
    struct store_task *task = link->sent;

    if (!task)
        return NULL;
    link->sent = task->next;
    if (!link->sent)
        link->sent_end = &link->sent;
    link->half = false;
    task->next = NULL;
    return task;
}

/* --- operations out --- */

static void flush(struct turn_step *step)
{
    struct redis_link *link = CONTAINER_OF(step, struct redis_link, flush);

    if (link->out.len > 0)
        redis_line_write(&link->line, buf_slice(&link->out));
    buf_clear(&link->out);
}

static void send_task(struct redis_link *link, struct store_task *task, const char *sha)
{
    static const struct err full = {"more waits to be sent than may"};

    task->work.redis->write(task, &link->command, sha);
    if (!redis_command_write(&link->command, &link->out)) {
        end_badly(link, task, STORE_DOWN, &full);
        return;
    }
    task->next = NULL;
    task->sent_ms = uv_now(link->turn->loop);
    *link->sent_end = task;
    link->sent_end = &task->next;
    if (!uv_is_active((uv_handle_t *)&link->deadline.timer))
        deadline_set(&link->deadline, COMMAND_MS);
    turn_want(&link->flush);
}

void redis_link_send(struct redis_link *link, struct store_task *task)
{
    bool plain = task->script == REDIS_NO_SCRIPT;

    if (link->line.state == LINE_READY)
        send_task(link, task, plain ? NULL : link->line.greeting.shas[task->script]);
    else
        end_badly(link, task, STORE_DOWN, &link->line.why);
}

void redis_link_forget(struct redis_link *link)
{
    link->sent = NULL;
}

/* --- answers in --- */

/* The first key of the script that `task` runs. */
static struct slice key_of(struct redis_link *link, const struct store_task *task)
{
    enum { KEY_WORD = 3 }; /* EVALSHA <sha> <keys> <key> ... */

    if (task->script == REDIS_NO_SCRIPT)
        return (struct slice){0};
    task->work.redis->write(task, &link->command, link->line.greeting.shas[task->script]);
    return (struct slice){link->command.words[KEY_WORD], link->command.lens[KEY_WORD]};
}

static void take_error(struct redis_link *link, struct store_task *task, struct slice words)
{
    struct redis_line *line = &link->line;
    struct err why;
    struct redis_fault fault = redis_fault_read(words, false, &why);

    if (fault.no_script && task->script != REDIS_NO_SCRIPT) {
        send_task(link, task, NULL); /* its text, which the server then keeps */
        return;
    }
    line->news.refuses = fault.wrong_node || link->use.endless;
    if (!line->news.refuses)
        redis_news_refused(&line->news, &fault, &why, key_of(link, task), uv_now(link->turn->loop));
    end_badly(link, task, STORE_DOWN, &why);
    if (line->news.refuses)
        redis_line_leave(line, &why, fault.lasting);
}

static void on_reply(void *context, const struct redis_reply *reply)
{
    struct redis_link *link = context;
    struct store_task *task = link->sent;

    bool is_error = reply->kind == REDIS_ERROR && !link->half;
    if (task && is_error && !task->work.redis->takes_errors) {
        take_error(link, take_oldest(link), reply->text);
        return;
    }
    enum redis_taken taken = task ? task->work.redis->take(task, reply) : REDIS_ODD;
    link->half = taken == REDIS_MORE;
    if (taken == REDIS_ODD)
        redis_line_leave(&link->line, &odd, false);
    if (taken != REDIS_TAKEN)
        return;
    redis_line_worked(&link->line);
    take_oldest(link);
    task->work.redis->end(task, STORE_OK, NULL);
}

static void look_at_oldest(struct deadline *deadline)
{
    static const struct err late = {"no answer in time"};
    struct redis_link *link = CONTAINER_OF(deadline, struct redis_link, deadline);

    if (!link->sent)
        return;
    uint64_t age = uv_now(link->turn->loop) - link->sent->sent_ms;
    if (age < COMMAND_MS) {
        deadline_set(&link->deadline, COMMAND_MS - age);
    } else if (link->line.heard) {
        link->line.heard = false;
        deadline_set(&link->deadline, GRACE_MS);
    } else {
        redis_line_leave(&link->line, &late, false);
    }
}

/* --- the line --- */

static void warn(struct redis_link *link, const struct err *warning)
{
    if (!link->use.warning)
        return;
    if (strcmp(link->use.warning->text, warning->text) != 0)
        redis_news_warning(&link->line.news, warning);
    *link->use.warning = *warning;
}

void redis_link_warn(struct redis_link *link, struct slice info)
{
    const struct err warning = redis_info_warning(info);

    warn(link, &warning);
}

static void on_ready(void *context)
{
    struct redis_link *link = context;

    warn(link, &link->line.greeting.warning);
    if (link->use.ready)
        link->use.ready(link->use.context);
}

/* What was sent may have happened or not. */
static void on_down(void *context, const struct err *why)
{
    struct redis_link *link = context;

    buf_clear(&link->out);
    deadline_clear(&link->deadline);
    for (struct store_task *task = take_oldest(link); task; task = take_oldest(link))
        end_badly(link, task, STORE_UNSURE, why);
}

/* --- opening and closing --- */

struct redis_link *redis_link_open(struct redis_url *url, const struct redis_link_use *use,
                                   struct turn *turn)
{
    static const struct redis_line_events events = {
        .ready = on_ready, .reply = on_reply, .down = on_down};
    struct redis_link *link = mem_new(sizeof(*link));

    link->use = *use;
    link->turn = turn;
    link->flush.run = flush;
    turn_add_late_step(turn, &link->flush);
    link->out.max = STREAM_QUEUE_BYTES;
    link->sent_end = &link->sent;
    redis_command_init(&link->command);
    deadline_open(&link->deadline, turn->loop, look_at_oldest);
    redis_line_open(&link->line, turn->loop, url, use->name, &events, link);
    return link;
}

struct redis_link *redis_link_twin(const struct redis_link *link, const struct redis_link_use *use)
{
    struct redis_url url = redis_url_copy(&link->line.url);

    return redis_link_open(&url, use, link->turn);
}

static void on_deadline_closed(struct deadline *deadline)
{
    struct redis_link *link = CONTAINER_OF(deadline, struct redis_link, deadline);
    void (*closed)(void *) = link->closed;
    void *context = link->closed_context;

    redis_command_release(&link->command);
    buf_release(&link->out);
    free(link);
    closed(context);
}

static void on_line_closed(void *context)
{
    struct redis_link *link = context;

    deadline_close(&link->deadline, on_deadline_closed);
}

void redis_link_close(struct redis_link *link, void (*closed)(void *context), void *context)
{
    assert(!link->sent);
    link->closed = closed;
    link->closed_context = context;
    turn_remove_step(link->turn, &link->flush);
    deadline_clear(&link->deadline);
    redis_line_close(&link->line, on_line_closed);
}
