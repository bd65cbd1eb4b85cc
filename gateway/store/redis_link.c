/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states follow each other as in the enum; after LEAVING comes WAITING again. One deadline
 * serves whatever the state waits for: the next try, the greeting, or the oldest operation.
 */
#include "gateway/store/redis_link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/deadline.h"
#include "gateway/core/log.h"
#include "gateway/net/stream.h"
#include "gateway/store/redis_fault.h"
#include "gateway/store/redis_greeting.h"

enum {
    CONNECT_MS = 3000,
    COMMAND_MS = 2000,
    GRACE_MS = 50, /* for answers that came while this process did not run */
    LOOK_AGAIN_MS = 50
};

enum link_state {
    LINK_WAITING, /* for the next try */
    LINK_CONNECTING,
    LINK_GREETING,
    LINK_READY,
    LINK_LEAVING, /* given up; the stream is not gone yet */
    LINK_CLOSING
};

struct redis_link {
    enum link_state state;
    struct turn *turn;
    struct turn_step flush;
    struct redis_url url;
    struct redis_link_use use;
    struct stream *stream;                    /* NULL while waiting */
    struct redis_reader *reader;              /* lives as long as the stream */
    enum redis_greeting step;                 /* whose answer comes next */
    char shas[REDIS_SCRIPTS][REDIS_SHA_SIZE]; /* of the scripts */
    struct redis_command command;             /* the one that is being built */
    struct buf out;                           /* for the end of the turn */
    struct store_task *sent, **sent_end;      /* the oldest first */
    bool half;                                /* the oldest has the beginning of its answer */
    struct deadline deadline;
    bool has_deadline, overdue;
    unsigned failures; /* since an operation was last answered */
    struct err why;    /* it is not usable */
    void (*closed)(void *context);
    void *closed_context;
};

static const struct err odd = {"an answer that fits no question"};

static void end_badly(struct redis_link *link, struct store_task *task, enum store_answer answer,
                      const struct err *why)
{
    struct err err = *why;

    err_wrap(&err, "Redis at %s", link->url.place);
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

/* --- giving up --- */

/* What was sent may have happened or not. The deadline becomes that of the next try. */
static void give_up(struct redis_link *link, const struct err *why, bool lasting)
{
    struct store_task *task;

    if (strcmp(link->why.text, why->text) != 0)
        log_note(LOG_WARN, "store_down", "Redis at %s%s: %s", link->url.place, link->use.name,
                 why->text);
    link->why = *why;
    link->failures++;
    buf_clear(&link->out);
    for (task = take_oldest(link); task; task = take_oldest(link))
        end_badly(link, task, STORE_UNSURE, why);
    deadline_set(&link->deadline, redis_fault_wait(link->failures, lasting));
}

static void leave(struct redis_link *link, const struct err *why, bool lasting)
{
    link->state = LINK_LEAVING;
    give_up(link, why, lasting);
    stream_close(link->stream);
}

/* --- operations out --- */

static void flush(struct turn_step *step)
{
    struct redis_link *link = CONTAINER_OF(step, struct redis_link, flush);

    if (link->out.len > 0)
        stream_write(link->stream, buf_slice(&link->out));
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

    if (link->state == LINK_READY)
        send_task(link, task, plain ? NULL : link->shas[task->script]);
    else
        end_badly(link, task, STORE_DOWN, &link->why);
}

void redis_link_forget(struct redis_link *link)
{
    link->sent = NULL;
}

/* --- answers in --- */

static void warn_of_eviction(const struct redis_link *link, struct slice info)
{
    struct slice policy = redis_greeting_policy(info);

    if (policy.len > 0 && !slice_eq(policy, SLICE("noeviction")))
        log_note(LOG_WARN, "store_evicts",
                 "Redis at %s has maxmemory-policy %.*s and may forget what was relayed: "
                 "set noeviction",
                 link->url.place, SLICE_ARG(policy));
}

static void become_ready(struct redis_link *link)
{
    link->state = LINK_READY;
    link->why = (struct err){0};
    deadline_clear(&link->deadline);
    log_note(LOG_INFO, "store_up", "Redis at %s%s", link->url.place, link->use.name);
    if (link->use.ready)
        link->use.ready(link->use.context);
}

static void take_greeting(struct redis_link *link, const struct redis_reply *reply)
{
    enum redis_greeting step = link->step;
    struct err why;

    link->step = redis_greeting_from(&link->url, (int)step + 1);
    if (step == GREET_INFO) {
        if (reply->kind == REDIS_TEXT)
            warn_of_eviction(link, reply->text);
        return;
    }
    if (reply->kind == REDIS_ERROR) {
        struct redis_fault fault = redis_fault_read(reply->text, step == GREET_AUTH, &why);
        leave(link, &why, fault.lasting);
        return;
    }
    if (reply->kind == REDIS_ARRAY) {
        leave(link, &odd, false);
        return;
    }
    bool is_script = step >= GREET_SCRIPTS && step < GREET_INFO;
    if (is_script && !redis_greeting_sha(reply->text, link->shas[step - GREET_SCRIPTS])) {
        err_set(&why, "SCRIPT LOAD was not answered with a digest");
        leave(link, &why, true);
        return;
    }
    if (link->step == GREET_DONE)
        become_ready(link);
}

static void take_error(struct redis_link *link, struct store_task *task, struct slice words)
{
    struct err why;
    struct redis_fault fault = redis_fault_read(words, false, &why);

    if (fault.no_script && task->script != REDIS_NO_SCRIPT) {
        send_task(link, task, NULL); /* its text, which the server then keeps */
        return;
    }
    end_badly(link, task, STORE_DOWN, &why);
    if (fault.wrong_node)
        leave(link, &why, fault.lasting);
}

static void take_answer(struct redis_link *link, const struct redis_reply *reply)
{
    struct store_task *task = link->sent;

    if (task && reply->kind == REDIS_ERROR && !link->half) {
        take_error(link, take_oldest(link), reply->text);
        return;
    }
    enum redis_taken taken = task ? task->work.redis->take(task, reply) : REDIS_ODD;
    link->half = taken == REDIS_MORE;
    if (taken == REDIS_ODD)
        leave(link, &odd, false);
    if (taken != REDIS_TAKEN)
        return;
    link->failures = 0;
    take_oldest(link);
    task->work.redis->end(task, STORE_OK, NULL);
}

static void on_bytes(void *context, struct slice bytes)
{
    struct redis_link *link = context;
    struct redis_reply reply;
    struct err why;

    link->overdue = false;
    redis_reader_feed(link->reader, bytes);
    while (link->state == LINK_GREETING || link->state == LINK_READY) {
        if (!redis_reader_next(link->reader, &reply, &why)) {
            leave(link, &why, false);
            return;
        }
        if (reply.kind == REDIS_INCOMPLETE)
            return;
        if (link->state == LINK_GREETING)
            take_greeting(link, &reply);
        else
            take_answer(link, &reply);
    }
}

/* --- the connection --- */

static void on_opened(void *context)
{
    struct redis_link *link = context;
    enum redis_greeting step = redis_greeting_from(&link->url, GREET_AUTH);

    link->state = LINK_GREETING;
    link->step = step;
    while (step != GREET_DONE) {
        redis_greeting_command(&link->command, &link->url, step);
        redis_command_write(&link->command, &link->out);
        step = redis_greeting_from(&link->url, (int)step + 1);
    }
    deadline_set(&link->deadline, COMMAND_MS);
    flush(&link->flush);
}

static void free_when_gone(struct redis_link *link)
{
    if (link->stream || link->has_deadline)
        return;
    void (*closed)(void *) = link->closed;
    void *context = link->closed_context;

    redis_command_release(&link->command);
    redis_url_release(&link->url);
    buf_release(&link->out);
    free(link);
    closed(context);
}

static void on_closed(void *context, const struct err *why)
{
    struct redis_link *link = context;

    link->stream = NULL;
    redis_reader_free(link->reader);
    link->reader = NULL;
    if (link->state == LINK_CLOSING) {
        free_when_gone(link);
        return;
    }
    if (link->state != LINK_LEAVING)
        give_up(link, why, false);
    link->state = LINK_WAITING;
}

static void connect_stream(struct redis_link *link)
{
    static const struct stream_events events = {on_opened, on_bytes, on_closed};
    const struct stream_address address = {
        .host = link->url.host,
        .port = link->url.port,
        .tls = link->url.tls,
        .ca_file = link->url.ca_file,
    };

    link->state = LINK_CONNECTING;
    link->overdue = false;
    link->reader = redis_reader_new();
    link->stream = stream_connect(link->turn->loop, &address, CONNECT_MS, &events, link);
}

static void look_at_oldest(struct redis_link *link)
{
    static const struct err late = {"no answer in time"};

    if (!link->sent)
        return;
    uint64_t age = uv_now(link->turn->loop) - link->sent->sent_ms;
    if (age < COMMAND_MS) {
        deadline_set(&link->deadline, COMMAND_MS - age);
    } else if (!link->overdue) {
        link->overdue = true;
        deadline_set(&link->deadline, GRACE_MS);
    } else {
        leave(link, &late, false);
    }
}

static void on_deadline(struct deadline *deadline)
{
    static const struct err late = {"the greeting was not answered in time"};
    struct redis_link *link = CONTAINER_OF(deadline, struct redis_link, deadline);

    if (link->state == LINK_WAITING)
        connect_stream(link);
    else if (link->state == LINK_GREETING)
        leave(link, &late, false);
    else if (link->state == LINK_READY)
        look_at_oldest(link);
    else if (link->state == LINK_LEAVING) /* the stream takes its time to go */
        deadline_set(deadline, LOOK_AGAIN_MS);
}

struct redis_link *redis_link_open(struct redis_url *url, const struct redis_link_use *use,
                                   struct turn *turn)
{
    struct redis_link *link = mem_new(sizeof(*link));

    link->url = *url;
    *url = (struct redis_url){0};
    link->use = *use;
    link->turn = turn;
    link->flush.run = flush;
    turn_add_late_step(turn, &link->flush);
    link->out.max = STREAM_QUEUE_BYTES;
    link->sent_end = &link->sent;
    redis_command_init(&link->command);
    err_set(&link->why, "not connected yet");
    deadline_open(&link->deadline, turn->loop, on_deadline);
    link->has_deadline = true;
    connect_stream(link);
    return link;
}

struct redis_link *redis_link_twin(const struct redis_link *link, const struct redis_link_use *use)
{
    struct redis_url url = redis_url_copy(&link->url);

    return redis_link_open(&url, use, link->turn);
}

static void on_deadline_closed(struct deadline *deadline)
{
    struct redis_link *link = CONTAINER_OF(deadline, struct redis_link, deadline);

    link->has_deadline = false;
    free_when_gone(link);
}

void redis_link_close(struct redis_link *link, void (*closed)(void *context), void *context)
{
    assert(!link->sent);
    link->state = LINK_CLOSING;
    link->closed = closed;
    link->closed_context = context;
    turn_remove_step(link->turn, &link->flush);
    if (link->stream)
        stream_close(link->stream);
    deadline_close(&link->deadline, on_deadline_closed);
}
