/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/store/redis_sentinel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/deadline.h"
#include "gateway/core/op.h"
#include "gateway/net/stream.h"
#include "gateway/store/redis.h"
#include "gateway/store/redis_fault.h"

enum { CONNECT_MS = 1000, ANSWER_MS = 1000, HOST_BYTES = 255, OUT_BYTES = 16384 };

enum step { STEP_LOGIN, STEP_HEAD, STEP_HOST, STEP_PORT, STEP_KNOWN };

struct redis_sentinel {
    uv_loop_t *loop;
    const struct redis_url *url;
    redis_found *done;
    void *context;
    size_t first, asked; /* asked: how many, with the present one */
    bool dropped;
    enum step step;              /* whose answer comes next */
    struct stream *stream;       /* NULL between two */
    struct redis_reader *reader; /* lives as long as the stream */
    struct deadline deadline;
    struct redis_host found;
    struct err whys[REDIS_SENTINELS];
};

static size_t present(const struct redis_sentinel *sentinel)
{
    size_t count = sentinel->url->sentinel_count;

    assert(count > 0);
    return (sentinel->first + sentinel->asked - 1) % count;
}

/* --- the end --- */

static void on_deadline_closed(struct deadline *deadline)
{
    struct redis_sentinel *sentinel = CONTAINER_OF(deadline, struct redis_sentinel, deadline);
    bool known = sentinel->step == STEP_KNOWN;
    struct buf text = BUF_INIT(sizeof(sentinel->whys[0].text) - 1);
    struct err why = {0};

    for (size_t i = 0; !known && i < sentinel->url->sentinel_count; i++) {
        char *place = redis_host_text(&sentinel->url->sentinels[i]);
        buf_appendf(&text, "%sSentinel at %s: %s", i ? "; " : "", place, sentinel->whys[i].text);
        free(place);
    }
    err_set(&why, "%s", buf_text(&text));
    buf_release(&text);
    sentinel->done(sentinel->context, known ? &sentinel->found : NULL, present(sentinel), &why);
    free(sentinel->found.host);
    free(sentinel->found.port);
    free(sentinel);
}

/* The first reason is the one that is told. */
static void leave(struct redis_sentinel *sentinel, const char *why)
{
    struct err *kept = &sentinel->whys[present(sentinel)];

    if (!kept->text[0])
        err_set(kept, "%s", why);
    stream_close(sentinel->stream);
}

/* --- the question --- */

static void write_question(struct redis_sentinel *sentinel, struct buf *out)
{
    const struct redis_login *login = &sentinel->url->sentinel_login;
    struct redis_command command;

    redis_command_init(&command);
    if (login->password) {
        redis_command_start(&command, "AUTH");
        if (login->user)
            redis_command_add(&command, slice_from(login->user));
        redis_command_add(&command, slice_from(login->password));
        redis_command_write(&command, out);
    }
    redis_command_start(&command, "SENTINEL");
    redis_command_add(&command, SLICE("GET-MASTER-ADDR-BY-NAME"));
    redis_command_add(&command, slice_from(sentinel->url->master));
    redis_command_write(&command, out);
    redis_command_release(&command);
}

static void on_opened(void *context)
{
    struct redis_sentinel *sentinel = context;
    struct buf out = BUF_INIT(OUT_BYTES);

    write_question(sentinel, &out);
    deadline_set(&sentinel->deadline, ANSWER_MS);
    stream_write(sentinel->stream, buf_slice(&out));
    explicit_bzero(out.data, out.len);
    buf_release(&out);
}

static void on_deadline(struct deadline *deadline)
{
    leave(CONTAINER_OF(deadline, struct redis_sentinel, deadline), "no answer in time");
}

/* --- the answer --- */

static void refuse(struct redis_sentinel *sentinel, struct slice words)
{
    struct err why = {0};

    redis_fault_read(words, sentinel->step == STEP_LOGIN, &why);
    leave(sentinel, why.text);
}

static bool is_good(enum step step, const struct redis_reply *reply)
{
    uint64_t port;

    if (step == STEP_HEAD)
        return reply->kind == REDIS_ARRAY && (reply->count == 2 || reply->count == 0);
    if (step == STEP_HOST)
        return reply->kind == REDIS_TEXT && slice_is_visible(reply->text) &&
               reply->text.len <= HOST_BYTES;
    if (step == STEP_PORT)
        return reply->kind == REDIS_TEXT && slice_number(reply->text, &port) && port > 0 &&
               port <= 65535;
    return reply->kind == REDIS_TEXT;
}

static void set_text(char **to, struct slice text)
{
    free(*to);
    *to = mem_text(text);
}

static void take(struct redis_sentinel *sentinel, const struct redis_reply *reply)
{
    enum step step = sentinel->step;

    if (reply->kind == REDIS_ERROR) {
        refuse(sentinel, reply->text);
        return;
    }
    if (!is_good(step, reply)) {
        leave(sentinel, "an answer that is no address: is this a Sentinel?");
        return;
    }
    if (step == STEP_HEAD && reply->count == 0) {
        leave(sentinel, "it knows no master of that name; check the URL's /name");
        return;
    }
    if (step == STEP_HOST)
        set_text(&sentinel->found.host, reply->text);
    if (step == STEP_PORT)
        set_text(&sentinel->found.port, reply->text);
    sentinel->step = step + 1;
    if (sentinel->step == STEP_KNOWN)
        stream_close(sentinel->stream);
}

static void on_bytes(void *context, struct slice bytes)
{
    struct redis_sentinel *sentinel = context;
    struct redis_reply reply;
    struct err why = {0};

    redis_reader_feed(sentinel->reader, bytes);
    while (sentinel->step != STEP_KNOWN && !sentinel->whys[present(sentinel)].text[0]) {
        if (!redis_reader_next(sentinel->reader, &reply, &why)) {
            leave(sentinel, why.text);
            return;
        }
        if (reply.kind == REDIS_INCOMPLETE)
            return;
        take(sentinel, &reply);
    }
}

/* --- one after the other --- */

static void ask_next(struct redis_sentinel *sentinel);

static void on_closed(void *context, const struct err *why)
{
    struct redis_sentinel *sentinel = context;
    struct err *kept = &sentinel->whys[present(sentinel)];

    sentinel->stream = NULL;
    redis_reader_free(sentinel->reader);
    deadline_clear(&sentinel->deadline);
    if (sentinel->step != STEP_KNOWN && !kept->text[0])
        *kept = *why;
    bool over = sentinel->dropped || sentinel->step == STEP_KNOWN ||
                sentinel->asked == sentinel->url->sentinel_count;
    if (over)
        deadline_close(&sentinel->deadline, on_deadline_closed);
    else
        ask_next(sentinel);
}

static void ask_next(struct redis_sentinel *sentinel)
{
    static const struct stream_events events = {on_opened, on_bytes, on_closed};
    const struct redis_url *url = sentinel->url;

    sentinel->asked++;
    sentinel->step = url->sentinel_login.password ? STEP_LOGIN : STEP_HEAD;
    sentinel->reader = redis_reader_new();
    const struct redis_host *host = &url->sentinels[present(sentinel)];
    const struct stream_address address = {
        .host = host->host, .port = host->port, .tls = url->tls, .files = redis_url_files(url)};
    sentinel->stream = stream_connect(sentinel->loop, &address, CONNECT_MS, &events, sentinel);
}

struct redis_sentinel *redis_sentinel_ask(uv_loop_t *loop, const struct redis_url *url,
                                          size_t first, redis_found *done, void *context)
{
    struct redis_sentinel *sentinel = mem_new(sizeof(*sentinel));

    sentinel->loop = loop;
    sentinel->url = url;
    sentinel->first = first;
    sentinel->done = done;
    sentinel->context = context;
    deadline_open(&sentinel->deadline, loop, on_deadline);
    ask_next(sentinel);
    return sentinel;
}

void redis_sentinel_drop(struct redis_sentinel *sentinel)
{
    sentinel->dropped = true;
    if (sentinel->stream)
        leave(sentinel, "not asked to the end");
}
