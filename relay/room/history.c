/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The envelopes of a run are collected until it ends, and then folded into messages: the one that
 * opened it and the texts that it streamed. A message that comes again, as in a second try of one
 * wake, stays where it first stood. One run is in flight at a time; another that begins ends it.
 */
#include "relay/room/history.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/clock.h"
#include "relay/room/fields.h"

enum { TEXT_BYTES = 4 * 1024 * 1024 };

void history_init(struct history *history, unsigned kept, int64_t kept_ms)
{
    *history = (struct history){.kept = kept, .kept_ms = kept_ms};
}

static void end_flight(struct history *history)
{
    json_decref(history->flight);
    free(history->flight_run);
    history->flight = NULL;
    history->flight_run = NULL;
    history->flight_cut = false;
}

void history_release(struct history *history)
{
    for (size_t i = 0; i < history->message_count; i++)
        json_decref(history->messages[i].json);
    free(history->messages);
    end_flight(history);
    json_decref(history->pending);
    *history = (struct history){0};
}

/* --- messages --- */

static struct history_message *find(const struct history *history, struct slice id)
{
    for (size_t i = history->message_count; i > 0; i--)
        if (slice_eq(field_text(history->messages[i - 1].json, "id"), id))
            return &history->messages[i - 1];
    return NULL;
}

bool history_has_message(const struct history *history, struct slice id)
{
    return find(history, id) != NULL;
}

/* Takes the message over. */
static void keep(struct history *history, json_t *json, int64_t began_ms)
{
    struct history_message *known = find(history, field_text(json, "id"));

    if (known) {
        known->entry = history->entries;
        known->began_ms = began_ms;
        json_decref(json);
        return;
    }
    if (history->message_count == history->message_room) {
        history->message_room = history->message_room ? 2 * history->message_room : 16;
        history->messages =
            mem_grow(history->messages, history->message_room * sizeof(struct history_message));
    }
    history->messages[history->message_count++] =
        (struct history_message){.json = json,
                                 .entry = history->entries,
                                 .began_ms = began_ms,
                                 .size = json_dumpb(json, NULL, 0, JSON_COMPACT)};
}

static void forget(struct history *history, int64_t wall_ms)
{
    size_t gone = 0;

    while (gone < history->message_count) {
        const struct history_message *message = &history->messages[gone];
        bool counted_out = message->entry + history->kept <= history->entries;
        if (!counted_out && wall_ms - message->began_ms <= history->kept_ms)
            break;
        json_decref(history->messages[gone++].json);
    }
    if (gone == 0)
        return;
    history->message_count -= gone;
    memmove(history->messages, history->messages + gone,
            history->message_count * sizeof(struct history_message));
}

/* --- folding a run that is over --- */

/* The text that the run streamed under `id`. */
static json_t *joined_text(const json_t *flight, struct slice id)
{
    struct buf text = BUF_INIT(TEXT_BYTES);
    const json_t *envelope;
    size_t index;

    json_array_foreach (flight, index, envelope) {
        const json_t *event = json_object_get(envelope, "event");
        bool content = slice_eq(field_text(event, "type"), SLICE("TEXT_MESSAGE_CONTENT"));
        if (content && slice_eq(field_text(event, "messageId"), id))
            buf_append(&text, field_text(event, "delta"));
    }
    json_t *string = json_stringn(buf_text(&text), text.len);
    buf_release(&text);
    return string;
}

static json_t *streamed_message(const json_t *flight, json_t *start, int64_t began_ms)
{
    char began[CLOCK_ISO_SIZE];
    struct slice id = field_text(start, "messageId"), role = field_text(start, "role");

    clock_format_iso(began_ms, began);
    return json_pack("{s:s%, s:s, s:o, s:s}", "id", id.data, id.len, "role",
                     role.len > 0 ? role.data : "assistant", "content", joined_text(flight, id),
                     "createdAt", began);
}

/* A timestamp that no clock shows counts as none. */
static int64_t began_of(const json_t *event, int64_t wall_ms)
{
    const json_t *timestamp = json_object_get(event, "timestamp");
    int64_t ms = json_is_integer(timestamp) ? json_integer_value(timestamp) : -1;

    return ms >= 0 ? ms : wall_ms;
}

static void fold(struct history *history, int64_t wall_ms)
{
    int64_t began_ms = wall_ms;
    const json_t *envelope;
    size_t index;

    json_array_foreach (history->flight, index, envelope) {
        json_t *event = json_object_get(envelope, "event");
        json_t *message = json_object_get(event, "message");
        struct slice type = field_text(event, "type");
        if (slice_eq(type, SLICE("RUN_STARTED"))) {
            began_ms = began_of(event, wall_ms);
            if (field_text(message, "id").len > 0)
                keep(history, json_incref(message), began_ms);
        } else if (slice_eq(type, SLICE("TEXT_MESSAGE_START"))) {
            json_t *streamed = streamed_message(history->flight, event, began_ms);
            if (streamed) /* NULL: it has no id */
                keep(history, streamed, began_ms);
        }
    }
    end_flight(history);
    forget(history, wall_ms);
}

/* --- the next entry --- */

static void read_interrupt(struct history *history, const struct envelope *envelope,
                           uint64_t steady_ms)
{
    json_t *id = json_object_get(envelope->event, "interruptId");
    json_t *payload = json_object_get(envelope->event, "payload");
    json_t *expires = json_object_get(envelope->event, "expiresInMs");

    if (!json_is_string(id))
        return;
    json_decref(history->pending);
    history->pending = json_pack("{s:O, s:s%, s:O*}", "interruptId", id, "runId",
                                 envelope->run.data, envelope->run.len, "payload", payload);
    history->pending_until =
        json_is_integer(expires) ? steady_ms + (uint64_t)json_integer_value(expires) : UINT64_MAX;
}

static void read_result(struct history *history, const struct envelope *envelope,
                        struct history_settled *settled)
{
    const json_t *result = json_object_get(envelope->event, "result");
    struct slice interrupt = field_text(result, "interruptId"), taker = field_text(result, "taker");
    bool settles = json_is_string(json_object_get(result, "settled"));

    if (interrupt.len == 0 || !settles)
        return;
    settled->interrupt = mem_text(interrupt);
    settled->taker = taker.len > 0 ? mem_text(taker) : NULL;
    if (slice_eq(field_text(history->pending, "interruptId"), interrupt))
        history_confirm(history, (struct slice){0});
}

static void join_flight(struct history *history, const struct envelope *envelope, json_t *json,
                        int64_t wall_ms)
{
    if (history->flight && !slice_eq(slice_from(history->flight_run), envelope->run))
        fold(history, wall_ms);
    if (!history->flight) {
        history->flight = json_array();
        history->flight_run = mem_text(envelope->run);
        history->flight_cut = envelope->sequence > 1;
    }
    if (json_array_size(history->flight) >= history->kept) {
        json_array_remove(history->flight, 0);
        history->flight_cut = true;
    }
    json_array_append(history->flight, json);
}

bool history_add(struct history *history, json_t *json, uint64_t steady_ms, int64_t wall_ms,
                 struct history_settled *settled)
{
    struct envelope envelope;

    *settled = (struct history_settled){0};
    history->entries++;
    if (!envelope_read(json, &envelope))
        return false;
    join_flight(history, &envelope, json, wall_ms);
    if (slice_eq(envelope.type, SLICE("INTERRUPT")))
        read_interrupt(history, &envelope, steady_ms);
    if (envelope_ends_run(&envelope)) {
        read_result(history, &envelope, settled);
        fold(history, wall_ms);
    }
    return true;
}

void history_confirm(struct history *history, struct slice pending)
{
    if (!history->pending || slice_eq(field_text(history->pending, "interruptId"), pending))
        return;
    json_decref(history->pending);
    history->pending = NULL;
}

/* --- answering --- */

/* Where the newest that have `most` bytes begin. */
static size_t first_within(const struct history *history, size_t most)
{
    size_t first = history->message_count, bytes = 0;

    while (first > 0) {
        bytes += history->messages[first - 1].size;
        if (bytes > most && first < history->message_count)
            break;
        first--;
    }
    return first;
}

json_t *history_answer(struct history *history, size_t most, uint64_t steady_ms, int64_t wall_ms)
{
    json_t *messages = json_array(), *answer = json_object();

    forget(history, wall_ms);
    for (size_t i = first_within(history, most); i < history->message_count; i++)
        json_array_append(messages, history->messages[i].json);
    json_object_set_new(answer, "ok", json_true());
    json_object_set_new(answer, "messages", messages);
    if (history->flight)
        json_object_set_new(answer, "replay",
                            json_pack("{s:o, s:b}", "envelopes", json_copy(history->flight),
                                      "truncated", (int)history->flight_cut));
    if (history->pending && steady_ms < history->pending_until)
        json_object_set(answer, "pendingInterrupt", history->pending);
    return answer;
}
