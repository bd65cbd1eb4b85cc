/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/relay_journal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dialects/payload.h"
#include "gateway/core/clock.h"
#include "gateway/core/quote.h"
#include "gateway/store/journal.h"
#include "relay/relays.h"

#define PAYLOAD SLICE(",\"payload\":")

enum { LINE_BYTES = 64 * 1024, LINE_USUAL = 768 };

/* `head` is what stands before the text: `,"key":"`. */
static void put_text(struct buf *line, struct slice head, struct slice text)
{
    if (text.len == 0)
        return;
    buf_append(line, head);
    quote_append(line, text);
    buf_append_char(line, '"');
}

static void put_number(struct buf *line, const char *key, int64_t number)
{
    if (number > 0)
        buf_appendf(line, ",\"%s\":%" PRId64, key, number);
}

/* --- the wake --- */

/* What a wake that came as text carries beside it, as a payload. */
static void put_fields(struct buf *line, const struct wake *wake)
{
    const struct trigger_speech nothing = {0};
    struct err err;
    json_t *object = payload_object(wake, &nothing, clock_wall_ms(), &err);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

    put_text(line, SLICE(",\"fields\":\""), slice_from(text));
    free(text);
    json_decref(object);
}

static bool has_fields(const struct wake *wake)
{
    return wake->version != 0 || wake->reason.len > 0 || wake->handle.len > 0 ||
           wake->summary.len > 0 || wake->conversation_count > 0;
}

static void put_wake(struct buf *line, const struct wake *wake)
{
    size_t bytes = wake->raw.len + wake->text.len;
    size_t before = line->len;

    if (bytes <= RELAY_JOURNAL_WAKE_BYTES) {
        put_text(line, SLICE(",\"text\":\""), wake->text);
        if (wake->raw.len == 0 && has_fields(wake))
            put_fields(line, wake);
        if (wake->raw.len > 0) { /* it was proved to be JSON, and stays as it is */
            buf_append(line, PAYLOAD);
            buf_append(line, wake->raw);
        }
    }
    if (bytes <= RELAY_JOURNAL_WAKE_BYTES && !line->overflow)
        return;
    line->overflow = false; /* more escapes than any wake has */
    line->len = before;
    put_number(line, "wake_bytes", (int64_t)bytes);
}

void relay_journal_add(const struct relay *relay, uint64_t took_us)
{
    struct journal *journal = relay->relays->world->journal;
    const struct wake *wake = &relay->wake->wake;
    const struct outcome *outcome = &relay->outcome;
    struct slice destination = slice_from(relay->to->id), target = slice_from(outcome->target);
    struct buf line = BUF_INIT(LINE_BYTES);
    char now[CLOCK_ISO_SIZE];

    if (!journal)
        return;
    clock_format_iso(clock_wall_ms(), now);
    buf_reserve(&line, LINE_USUAL + wake->raw.len + wake->text.len);
    buf_appendf(&line, "{\"at\":\"%s\"", now);
    put_text(&line, SLICE(",\"route\":\""), slice_from(relay->to->route));
    if (!slice_eq(destination, target))
        put_text(&line, SLICE(",\"destination\":\""), destination);
    put_text(&line, SLICE(",\"target\":\""), target);
    put_text(&line, SLICE(",\"delivery_id\":\""), wake->delivery_id);
    put_number(&line, "generation", relay->generation);
    put_text(&line, SLICE(",\"reason\":\""), wake->reason);
    put_number(&line, "attempt", wake->attempt);
    put_text(&line, SLICE(",\"outcome\":\""), slice_from(outcome_name(outcome->code)));
    put_text(&line, SLICE(",\"run\":\""), slice_from(outcome->run));
    put_text(&line, SLICE(",\"detail\":\""), slice_from(outcome->detail));
    put_number(&line, "us", (int64_t)took_us);
    put_text(&line, SLICE(",\"trace_id\":\""), trace_id(&wake->trace));
    put_wake(&line, wake);
    buf_append_char(&line, '}');
    journal_add(journal, &line);
}

/* --- the wake again --- */

json_t *relay_journal_read(struct slice text)
{
    json_t *line = json_loadb(text.data, text.len, 0, NULL);
    const char *mark = memmem(text.data, text.len, PAYLOAD.data, PAYLOAD.len);

    if (!json_is_object(line)) {
        json_decref(line);
        return NULL;
    }
    if (mark) { /* no string before it can have such quotation marks, and it is the last member */
        const char *payload = mark + PAYLOAD.len, *end = text.data + text.len - 1;
        json_object_set_new(line, "payload", json_stringn(payload, (size_t)(end - payload)));
    }
    return line;
}

static struct slice member(const json_t *line, const char *key)
{
    const json_t *value = json_object_get(line, key);

    return (struct slice){.data = json_string_value(value), .len = json_string_length(value)};
}

static bool read_fields(struct wake *wake, struct slice fields, size_t room, struct err *err)
{
    json_t *object = fields.len > 0 ? payload_parse(fields, err) : json_object();

    if (!object)
        return false;
    bool read = wake_read_payload(wake, object, (struct slice){.data = "", .len = room}, err);
    json_decref(object);
    return read;
}

bool relay_journal_wake(const json_t *line, struct wake *wake, struct err *err)
{
    struct slice payload = member(line, "payload"), text = member(line, "text");
    struct slice fields = member(line, "fields"), id = member(line, "delivery_id");
    json_int_t bytes = json_integer_value(json_object_get(line, "wake_bytes"));

    if (bytes > 0)
        return err_set(err, "the wake had %lld bytes; of so long a one the journal keeps no copy",
                       (long long)bytes);
    if (payload.len + text.len + fields.len == 0 || !wake_is_delivery_id(id))
        return err_set(err, "the journal's line holds no wake");
    size_t room = payload.len + text.len + fields.len;
    if (!read_fields(wake, payload.len > 0 ? payload : fields, room, err))
        return err_wrap(err, "the journal's line cannot be read");
    wake->raw = wake_keep(wake, payload);
    wake->text = wake_keep(wake, text);
    wake->delivery_id = wake_keep(wake, id);
    wake->attempt = json_integer_value(json_object_get(line, "attempt"));
    return true;
}
