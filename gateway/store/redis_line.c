/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states follow each other as in the enum; after LEAVING comes WAITING again. Where a server
 * was found through Sentinels and could not be used, another of them is asked first the next time.
 */
#include "gateway/store/redis_line.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/net/stream.h"
#include "gateway/store/redis_sentinel.h"

enum {
    CONNECT_MS = 3000,
    GREETING_MS = 2000,
    SENTINEL_MS = 1000, /* between two looks at who is the master */
    LOOK_AGAIN_MS = 50,
    GREETING_BYTES = 64 * 1024
};

static void set_place(struct redis_line *line, char *place)
{
    free(line->place);
    line->place = place;
    line->news.place = place;
}

/* --- giving up --- */

/* The deadline becomes that of the next try. */
static void give_up(struct redis_line *line, const struct err *why, bool lasting)
{
    redis_news_down(&line->news, why);
    line->why = *why;
    line->failures++;
    if (line->sentinel)
        redis_sentinel_drop(line->sentinel);
    deadline_set(&line->deadline, redis_fault_wait(line->failures, lasting));
    line->events->down(line->context, why);
}

void redis_line_leave(struct redis_line *line, const struct err *why, bool lasting)
{
    line->state = LINE_LEAVING;
    give_up(line, why, lasting);
    stream_close(line->stream);
}

/* --- answers --- */

static void become_ready(struct redis_line *line)
{
    line->state = LINE_READY;
    line->why = (struct err){0};
    deadline_clear(&line->deadline);
    if (line->url.master)
        deadline_set(&line->deadline, SENTINEL_MS);
    redis_news_ready(&line->news);
    line->events->ready(line->context);
}

static void take_greeting(struct redis_line *line, const struct redis_reply *reply)
{
    struct err why = {0};
    bool lasting;

    switch (redis_greeting_take(&line->greeting, &line->url, reply, &why, &lasting)) {
    case GREETED_PARTLY:
        return;
    case GREETED:
        become_ready(line);
        return;
    case GREETED_BADLY:
        redis_line_leave(line, &why, lasting);
    }
}

static void on_bytes(void *context, struct slice bytes)
{
    struct redis_line *line = context;
    struct redis_reply reply;
    struct err why;

    line->heard = true;
    redis_reader_feed(line->reader, bytes);
    while (line->state == LINE_GREETING || line->state == LINE_READY) {
        if (!redis_reader_next(line->reader, &reply, &why)) {
            redis_line_leave(line, &why, false);
            return;
        }
        if (reply.kind == REDIS_INCOMPLETE)
            return;
        if (line->state == LINE_GREETING)
            take_greeting(line, &reply);
        else
            line->events->reply(line->context, &reply);
    }
}

void redis_line_worked(struct redis_line *line)
{
    line->failures = 0;
    redis_news_answered(&line->news, uv_now(line->loop));
}

/* --- the connection --- */

void redis_line_write(struct redis_line *line, struct slice bytes)
{
    stream_write(line->stream, bytes);
}

static void on_opened(void *context)
{
    struct redis_line *line = context;
    struct buf out = BUF_INIT(GREETING_BYTES);

    line->state = LINE_GREETING;
    redis_greeting_begin(&line->greeting, &line->url, &out);
    deadline_set(&line->deadline, GREETING_MS);
    stream_write(line->stream, buf_slice(&out));
    buf_release(&out);
}

static void free_when_gone(struct redis_line *line)
{
    if (line->stream || line->sentinel || line->has_deadline)
        return;
    redis_url_release(&line->url);
    free(line->place);
    line->closed(line->context);
}

static void on_stream_closed(void *context, const struct err *why)
{
    struct redis_line *line = context;

    line->stream = NULL;
    redis_reader_free(line->reader);
    line->reader = NULL;
    if (line->state == LINE_CLOSING) {
        free_when_gone(line);
        return;
    }
    enum redis_line_state was = line->state;
    line->state = LINE_WAITING;
    if (was != LINE_READY)
        line->asked_first++;
    if (was != LINE_LEAVING)
        give_up(line, why, false);
}

static void connect_to(struct redis_line *line, const struct redis_host *server)
{
    static const struct stream_events events = {on_opened, on_bytes, on_stream_closed};
    const struct stream_address address = {
        .host = server->host,
        .port = server->port,
        .tls = line->url.tls,
        .files = redis_url_files(&line->url),
    };

    line->state = LINE_CONNECTING;
    line->reader = redis_reader_new();
    line->stream = stream_connect(line->loop, &address, CONNECT_MS, &events, line);
}

/* Who is the master now? Where nobody knows, the one that works goes on. */
static void take_look(struct redis_line *line, const struct redis_host *server)
{
    char *place = server ? redis_host_text(server) : NULL;
    struct err why;

    if (place && strcmp(place, line->place) != 0) {
        err_set(&why, "Sentinel names another master, %s", place);
        redis_line_leave(line, &why, false);
    } else {
        deadline_set(&line->deadline, SENTINEL_MS);
    }
    free(place);
}

static void on_found(void *context, const struct redis_host *server, size_t who,
                     const struct err *why)
{
    struct redis_line *line = context;

    line->sentinel = NULL;
    if (server)
        line->asked_first = who;
    if (line->state == LINE_CLOSING) {
        free_when_gone(line);
    } else if (line->state == LINE_READY) {
        take_look(line, server);
    } else if (line->state == LINE_ASKING && server) {
        set_place(line, redis_host_text(server));
        connect_to(line, server);
    } else if (line->state == LINE_ASKING) {
        line->state = LINE_WAITING;
        give_up(line, why, false);
    }
}

static void ask(struct redis_line *line)
{
    size_t first = line->asked_first % line->url.sentinel_count;

    line->sentinel = redis_sentinel_ask(line->loop, &line->url, first, on_found, line);
}

static void begin(struct redis_line *line)
{
    if (!line->url.master) {
        connect_to(line, &line->url.server);
    } else if (line->sentinel) { /* given up, and not gone yet */
        deadline_set(&line->deadline, LOOK_AGAIN_MS);
    } else {
        line->state = LINE_ASKING;
        ask(line);
    }
}

static void on_deadline(struct deadline *deadline)
{
    static const struct err late = {"the greeting was not answered in time"};
    struct redis_line *line = CONTAINER_OF(deadline, struct redis_line, deadline);

    if (line->state == LINE_WAITING)
        begin(line);
    else if (line->state == LINE_GREETING)
        redis_line_leave(line, &late, false);
    else if (line->state == LINE_READY)
        ask(line);
    else if (line->state == LINE_LEAVING) /* the stream takes its time to go */
        deadline_set(deadline, LOOK_AGAIN_MS);
}

void redis_line_open(struct redis_line *line, uv_loop_t *loop, struct redis_url *url,
                     const char *name, const struct redis_line_events *events, void *context)
{
    *line = (struct redis_line){
        .loop = loop, .url = *url, .news = {.name = name}, .events = events, .context = context};
    *url = (struct redis_url){0};
    set_place(line, mem_text(slice_from(line->url.place)));
    err_set(&line->why, "not connected yet");
    deadline_open(&line->deadline, loop, on_deadline);
    line->has_deadline = true;
    begin(line);
}

static void on_deadline_closed(struct deadline *deadline)
{
    struct redis_line *line = CONTAINER_OF(deadline, struct redis_line, deadline);

    line->has_deadline = false;
    free_when_gone(line);
}

void redis_line_close(struct redis_line *line, void (*closed)(void *context))
{
    line->state = LINE_CLOSING;
    line->closed = closed;
    if (line->stream)
        stream_close(line->stream);
    if (line->sentinel)
        redis_sentinel_drop(line->sentinel);
    deadline_close(&line->deadline, on_deadline_closed);
}
