/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/room/envelope.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/clock.h"
#include "gateway/core/codec.h"
#include "gateway/core/digest.h"
#include "relay/room/fields.h"

static json_t *string_of(struct slice text)
{
    json_t *string = json_stringn(text.data, text.len);

    assert(string); /* all that comes here is UTF-8 */
    return string;
}

/* The next envelope; takes the event over. */
static void add(struct run *run, json_t *event)
{
    json_t *envelope = json_pack("{s:i, s:o, s:o, s:I, s:o}", "v", PROTOCOL_MAJOR, "threadId",
                                 string_of(run->thread), "runId", string_of(run->id), "sequence",
                                 (json_int_t)run->count + 1, "event", event);

    assert(envelope && run->count < ENVELOPES_OF_RUN);
    run->texts[run->count++] = json_dumps(envelope, JSON_COMPACT);
    json_decref(envelope);
}

/* An event that names its run, as those of the run's life cycle do. */
static json_t *life(const struct run *run, const char *type)
{
    return json_pack("{s:s, s:o, s:o}", "type", type, "threadId", string_of(run->thread), "runId",
                     string_of(run->id));
}

/* RUN_STARTED; `message` may be NULL, else it is taken over. */
static void add_start(struct run *run, json_t *message)
{
    json_t *event = life(run, "RUN_STARTED");

    json_object_set_new(event, "timestamp", json_integer(run->now_ms));
    if (message)
        json_object_set_new(event, "message", message);
    add(run, event);
}

static void add_text(struct run *run, struct slice message_id, const char *role, json_t *text)
{
    add(run, json_pack("{s:s, s:o, s:s}", "type", "TEXT_MESSAGE_START", "messageId",
                       string_of(message_id), "role", role));
    add(run, json_pack("{s:s, s:o, s:O}", "type", "TEXT_MESSAGE_CONTENT", "messageId",
                       string_of(message_id), "delta", text));
    add(run,
        json_pack("{s:s, s:o}", "type", "TEXT_MESSAGE_END", "messageId", string_of(message_id)));
}

static void add_message(struct run *run, struct slice message_id, json_t *text)
{
    char now[CLOCK_ISO_SIZE];

    clock_format_iso(run->now_ms, now);
    add_start(run, json_pack("{s:o, s:s, s:O, s:s}", "id", string_of(message_id), "role", "user",
                             "content", text, "createdAt", now));
    add_text(run, message_id, "user", text);
}

void run_stored(struct run *run, struct slice message_id, json_t *text)
{
    add_message(run, message_id, text);
    add(run, life(run, "RUN_FINISHED"));
}

void run_offer(struct run *run, struct slice message_id, json_t *text, struct slice interrupt,
               json_t *payload, int64_t for_ms)
{
    add_message(run, message_id, text);
    add(run, json_pack("{s:s, s:o, s:{s:s, s:O}, s:I}", "type", "INTERRUPT", "interruptId",
                       string_of(interrupt), "payload", "clientTool", "agentchat_wake", "arguments",
                       payload, "expiresInMs", (json_int_t)for_ms));
    add(run, life(run, "RUN_PAUSED"));
    add(run, life(run, "RUN_FINISHED"));
}

void run_settled(struct run *run, struct slice interrupt, struct slice taker)
{
    bool taken = taker.len > 0;
    struct buf id = BUF_INIT(1024), words = BUF_INIT(1024);
    json_t *result = json_pack("{s:o, s:s}", "interruptId", string_of(interrupt), "settled",
                               taken ? "taken" : "withdrawn");

    buf_appendf(&id, "settled-%.*s", SLICE_ARG(interrupt));
    if (taken) {
        json_object_set_new(result, "taker", string_of(taker));
        buf_appendf(&words, "Taken by %.*s.", SLICE_ARG(taker));
    } else {
        buf_append(&words, SLICE("Withdrawn: nobody took it in time."));
    }
    json_t *text = string_of(buf_slice(&words)), *end = life(run, "RUN_FINISHED");
    add_start(run, NULL);
    add_text(run, buf_slice(&id), "assistant", text);
    json_object_set_new(end, "result", result);
    add(run, end);
    json_decref(text);
    buf_release(&id);
    buf_release(&words);
}

void run_entries(const struct run *run, struct slice *entries, size_t *count)
{
    for (size_t i = 0; i < run->count; i++)
        entries[i] = slice_from(run->texts[i]);
    *count = run->count;
}

void run_release(struct run *run)
{
    for (size_t i = 0; i < run->count; i++)
        free(run->texts[i]);
    run->count = 0;
}

void envelope_fresh_id(char id[static ENVELOPE_ID_SIZE])
{
    unsigned char bytes[(ENVELOPE_ID_SIZE - 1) / 2];

    random_bytes(bytes, sizeof(bytes));
    hex_encode(bytes, sizeof(bytes), id);
}

json_t *envelope_hello(void)
{
    return json_pack("{s:{s:i, s:i}, s:i}", "protocol", "major", PROTOCOL_MAJOR, "minor",
                     PROTOCOL_MINOR, "minClientMajor", PROTOCOL_MAJOR);
}

bool envelope_read(json_t *json, struct envelope *envelope)
{
    json_t *event = json_object_get(json, "event");
    struct envelope read = {
        .run = field_text(json, "runId"),
        .type = field_text(event, "type"),
        .sequence = json_integer_value(json_object_get(json, "sequence")),
        .event = event,
    };

    if (read.run.len == 0 || read.type.len == 0 || read.sequence < 1)
        return false;
    *envelope = read;
    return true;
}

bool envelope_ends_run(const struct envelope *envelope)
{
    static const char *const ends[] = {"RUN_FINISHED", "RUN_CANCELLED", "RUN_ERROR"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (slice_eq(envelope->type, slice_from(ends[i])))
            return true;
    return false;
}
