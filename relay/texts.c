/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each runtime's texts have one operation at a time, in this order: load, then fetch and keep, and
 * fetch again when the deadline says so.
 */
#include "relay/texts.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "dialects/payload.h"
#include "gateway/core/deadline.h"
#include "gateway/core/digest.h"
#include "gateway/core/limits.h"
#include "gateway/core/log.h"
#include "gateway/store/threads.h"
#include "relay/http_client.h"

#define PATH "/v1/texts?runtime="

enum {
    DAY_MS = 24 * 3600 * 1000,
    FIRST_RETRY_MS = 1000, /* doubles */
    LAST_RETRY_MS = 3600 * 1000,
    FETCH_TIMEOUT_MS = 10 * 1000,
    URL_BYTES = LIMIT_URL_BYTES + 64,
    HEADER_BYTES = LIMIT_SECRET_BYTES + 64,
    THREAD_BYTES = 40
};

const char *const texts_runtimes[] = {"generic", "claude-code", "codex",
                                      "hermes",  "openclaw",    NULL};

struct entry { /* of one runtime */
    struct texts *texts;
    const char *runtime;
    bool wanted;
    json_t *served; /* NULL: nothing is known yet */
    int64_t pause_ms;
    struct deadline deadline; /* the next fetch */
    struct http_call call;
    struct threads_op store;
    char url[URL_BYTES];
    char thread[THREAD_BYTES]; /* where the copy is kept; no room's thread has a '#' */
};

struct texts {
    char *url;
    struct buf headers;
    struct turn *turn;
    struct store *store;
    struct http_client *client;
    struct threads *threads; /* NULL: nothing was wanted yet */
    struct entry entries[TEXTS_RUNTIMES];
    unsigned open_deadlines;
    bool closing;
    void (*closed)(void *context);
    void *context;
};

/* --- what is served --- */

static struct slice member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return (struct slice){.data = json_string_value(value), .len = json_string_length(value)};
}

static bool is_instruction(const json_t *object, const char *key, struct err *err)
{
    struct slice text = member(object, key);

    if (text.len == 0)
        return err_set(err, "has no %s", key);
    return text.len <= LIMIT_PROMPT_BYTES ||
           err_set(err, "has a %s of more than %d bytes", key, LIMIT_PROMPT_BYTES);
}

/* Whole texts of the version that we know; NULL otherwise. */
static json_t *read_texts(struct slice body, struct err *err)
{
    json_t *object = payload_parse(body, err);
    bool good = object != NULL;

    if (good && !slice_eq(member(object, "version"), SLICE("1")))
        good = err_set(err, "its version is not \"1\"");
    good = good && is_instruction(object, "wake_instruction", err) &&
           is_instruction(object, "invite_prompt", err);
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

struct slice texts_instruction(const struct texts *texts, size_t runtime, struct slice reason)
{
    bool invite = slice_eq(reason, SLICE("invite"));

    if (!texts)
        return (struct slice){0};
    return member(texts->entries[runtime].served, invite ? "invite_prompt" : "wake_instruction");
}

static void take_over(struct entry *entry, json_t *served, const char *from)
{
    json_decref(entry->served);
    entry->served = served;
    log_begin(LOG_INFO, "texts");
    log_text("runtime", entry->runtime);
    log_text("from", from);
    log_str("manual", member(json_object_get(served, "manual"), "version"));
    log_end();
}

/* --- closing --- */

static void on_threads_closed(void *context)
{
    struct texts *texts = context;
    void (*closed)(void *context) = texts->closed;
    void *closed_context = texts->context;

    for (size_t i = 0; i < TEXTS_RUNTIMES; i++)
        json_decref(texts->entries[i].served);
    digest_wipe(texts->headers.data, texts->headers.len);
    buf_release(&texts->headers);
    free(texts->url);
    free(texts);
    closed(closed_context);
}

static void on_deadline_closed(struct deadline *deadline)
{
    struct texts *texts = CONTAINER_OF(deadline, struct entry, deadline)->texts;

    if (--texts->open_deadlines > 0)
        return;
    if (texts->threads)
        threads_close(texts->threads, on_threads_closed, texts);
    else
        on_threads_closed(texts);
}

static bool works(const struct entry *entry)
{
    return entry->call.op.running || entry->store.op.running;
}

static void close_when_idle(struct texts *texts)
{
    for (size_t i = 0; i < TEXTS_RUNTIMES; i++)
        if (works(&texts->entries[i]))
            return;
    for (size_t i = 0; i < TEXTS_RUNTIMES; i++)
        deadline_close(&texts->entries[i].deadline, on_deadline_closed);
}

void texts_close(struct texts *texts, void (*closed)(void *context), void *context)
{
    if (!texts) {
        closed(context);
        return;
    }
    texts->closing = true;
    texts->closed = closed;
    texts->context = context;
    for (size_t i = 0; i < TEXTS_RUNTIMES; i++)
        if (texts->entries[i].call.op.running)
            http_client_cancel(texts->client, &texts->entries[i].call);
    close_when_idle(texts);
}

/* --- loading, fetching, keeping --- */

static void fetch(struct entry *entry);

static void on_loaded(struct op *op)
{
    struct threads_op *store = CONTAINER_OF(op, struct threads_op, op);
    struct entry *entry = CONTAINER_OF(store, struct entry, store);
    struct err err = {0};
    json_t *kept = NULL;

    if (store->answer == THREADS_DONE && store->read_count > 0)
        kept = read_texts(store->read[store->read_count - 1].text, &err);
    if (kept)
        take_over(entry, kept, "store");
    threads_op_release(store);
    if (entry->texts->closing)
        close_when_idle(entry->texts);
    else
        fetch(entry);
}

static void load(struct entry *entry)
{
    entry->store = (struct threads_op){.thread = slice_from(entry->thread)};
    threads_submit(entry->texts->threads, &entry->store, THREADS_READ, on_loaded);
}

static void try_later(struct entry *entry, int64_t least_ms)
{
    int64_t pause_ms = least_ms > entry->pause_ms ? least_ms : entry->pause_ms;

    deadline_set(&entry->deadline, (uint64_t)pause_ms);
    entry->pause_ms *= 2;
    if (entry->pause_ms > LAST_RETRY_MS)
        entry->pause_ms = LAST_RETRY_MS;
}

/* What could not be kept is fetched again. */
static void on_kept(struct op *op)
{
    struct threads_op *store = CONTAINER_OF(op, struct threads_op, op);
    struct entry *entry = CONTAINER_OF(store, struct entry, store);

    buf_release(&entry->call.answer);
    if (entry->texts->closing) {
        close_when_idle(entry->texts);
    } else if (store->answer != THREADS_DONE) {
        try_later(entry, 0);
    } else {
        entry->pause_ms = FIRST_RETRY_MS;
        deadline_set(&entry->deadline, DAY_MS);
        log_begin(LOG_DEBUG, "texts_kept");
        log_text("runtime", entry->runtime);
        log_end();
    }
}

static void keep(struct entry *entry)
{
    entry->store = (struct threads_op){.thread = slice_from(entry->thread),
                                       .entries = {buf_slice(&entry->call.answer)},
                                       .entry_count = 1};
    threads_submit(entry->texts->threads, &entry->store, THREADS_APPEND, on_kept);
}

static json_t *judge(const struct http_call *call, struct err *err)
{
    if (call->result != HTTP_ANSWERED)
        err_set(err, "%s", call->err.text);
    else if (call->status != 200)
        err_set(err, "the answer is %u", call->status);
    else
        return read_texts(buf_slice(&call->answer), err);
    return NULL;
}

static void on_fetched(struct op *op)
{
    struct entry *entry = CONTAINER_OF(op, struct entry, call.op);
    struct err err = {0};
    json_t *served = judge(&entry->call, &err);

    if (served && !entry->texts->closing) {
        take_over(entry, served, "agentchat");
        keep(entry);
        return;
    }
    json_decref(served);
    buf_release(&entry->call.answer);
    if (entry->texts->closing) {
        close_when_idle(entry->texts);
        return;
    }
    log_begin(LOG_WARN, "texts_not_fetched");
    log_text("runtime", entry->runtime);
    log_text("detail", err.text);
    log_text("now",
             entry->served ? "the copy before stays in force" : "wakes go without an instruction");
    log_end();
    try_later(entry, entry->call.has_retry_after ? entry->call.retry_after_ms : 0);
}

static void fetch(struct entry *entry)
{
    entry->call = (struct http_call){.url = entry->url,
                                     .headers = buf_slice(&entry->texts->headers),
                                     .timeout_ms = FETCH_TIMEOUT_MS};
    http_client_get(entry->texts->client, &entry->call, on_fetched);
}

static void on_deadline(struct deadline *deadline)
{
    struct entry *entry = CONTAINER_OF(deadline, struct entry, deadline);

    if (entry->served)
        fetch(entry);
    else /* the store may have been away, too */
        load(entry);
}

static struct threads *open_threads(struct texts *texts)
{
    const int64_t year_ms = INT64_C(366) * DAY_MS;
    const struct threads_settings kept = {
        .kept = 1, .kept_ms = year_ms, .window_ms = year_ms, .unfollowed = true};
    struct err err = {0};

    struct threads *threads = threads_open(texts->store, &kept, texts->turn, NULL, NULL, &err);
    assert(threads);
    return threads;
}

void texts_want(struct texts *texts, size_t runtime)
{
    assert(runtime < TEXTS_RUNTIMES);
    if (!texts || texts->closing || texts->entries[runtime].wanted)
        return;
    if (!texts->threads)
        texts->threads = open_threads(texts);
    texts->entries[runtime].wanted = true;
    load(&texts->entries[runtime]);
}

/* --- opening --- */

static void open_entry(struct texts *texts, size_t runtime)
{
    struct entry *entry = &texts->entries[runtime];

    entry->texts = texts;
    entry->runtime = texts_runtimes[runtime];
    entry->pause_ms = FIRST_RETRY_MS;
    snprintf(entry->url, sizeof(entry->url), "%s" PATH "%s", texts->url, entry->runtime);
    snprintf(entry->thread, sizeof(entry->thread), "#texts-%s", entry->runtime);
    deadline_open(&entry->deadline, texts->turn->loop, on_deadline);
    texts->open_deadlines++;
}

struct texts *texts_open(const struct texts_settings *settings, struct turn *turn,
                         struct store *store, struct http_client *client)
{
    if (!settings->on)
        return NULL;
    struct texts *texts = mem_new(sizeof(*texts));
    *texts = (struct texts){.url = mem_text(settings->url),
                            .headers = BUF_INIT(HEADER_BYTES),
                            .turn = turn,
                            .store = store,
                            .client = client};
    buf_append(&texts->headers, SLICE("Accept: application/json\0"));
    if (settings->key.text.len > 0) {
        buf_appendf(&texts->headers, "Authorization: Bearer %.*s", SLICE_ARG(settings->key.text));
        buf_append_char(&texts->headers, '\0');
    }
    for (size_t i = 0; i < TEXTS_RUNTIMES; i++)
        open_entry(texts, i);
    return texts;
}
