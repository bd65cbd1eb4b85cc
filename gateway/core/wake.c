/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decoded JSON string is never longer than its source, so a block of twice the body's size holds
 * the body itself and everything decoded from it, and no string of a payload needs a check of its
 * own. The conversations stand at the block's start, where it is aligned; the bytes follow.
 */
#include "gateway/core/wake.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/clock.h"
#include "gateway/core/limits.h"

/* A delivery_id may come from a header too, and once more from a text's trailer. */
enum { BYTES_BESIDE_BODY = 4 * LIMIT_DELIVERY_ID_BYTES + TRACE_PARENT_BYTES + TRACE_STATE_BYTES };

void wake_reserve_for(struct wake *wake, size_t conversations, size_t bytes)
{
    assert(!wake->memory);
    size_t front = conversations * sizeof(struct conversation);
    wake->size = front + bytes + BYTES_BESIDE_BODY;
    wake->memory = mem_new(wake->size);
    wake->conversations = (struct conversation *)(void *)wake->memory;
    wake->used = front;
}

void wake_reserve(struct wake *wake, struct slice body, size_t conversations)
{
    wake_reserve_for(wake, conversations, 2 * body.len);
}

struct slice wake_keep(struct wake *wake, struct slice bytes)
{
    if (bytes.len == 0)
        return (struct slice){0};
    assert(bytes.len <= wake->size - wake->used);
    char *kept = wake->memory + wake->used;
    memcpy(kept, bytes.data, bytes.len);
    wake->used += bytes.len;
    return (struct slice){.data = kept, .len = bytes.len};
}

void wake_keep_trace(struct wake *wake, const struct request *request)
{
    const struct trace trace = trace_read(request);

    wake->trace.parent = wake_keep(wake, trace.parent);
    wake->trace.state = wake_keep(wake, trace.state);
}

/* Each reader leaves its field as it is when the member is absent. */

static bool read_string(struct wake *wake, json_t *object, const char *key, struct slice *text,
                        struct err *err)
{
    json_t *value = json_object_get(object, key);

    if (!value)
        return true;
    if (!json_is_string(value))
        return err_set(err, "%s is not a string", key);
    *text = wake_keep(wake, (struct slice){json_string_value(value), json_string_length(value)});
    return true;
}

static bool read_integer(json_t *object, const char *key, int64_t *number, struct err *err)
{
    json_t *value = json_object_get(object, key);

    if (!value)
        return true;
    if (!json_is_integer(value))
        return err_set(err, "%s is not a whole number", key);
    *number = json_integer_value(value);
    return true;
}

static bool read_bool(json_t *object, const char *key, bool *flag, struct err *err)
{
    json_t *value = json_object_get(object, key);

    if (!value)
        return true;
    if (!json_is_boolean(value))
        return err_set(err, "%s is neither true nor false", key);
    *flag = json_is_true(value);
    return true;
}

static bool read_conversation(struct wake *wake, json_t *element, struct err *err)
{
    struct conversation conversation = {0};

    if (!json_is_object(element))
        return err_set(err, "is not an object");
    if (!read_string(wake, element, "id", &conversation.id, err) ||
        !read_integer(element, "unread", &conversation.unread, err) ||
        !read_string(wake, element, "latest_sender", &conversation.latest_sender, err))
        return false;
    if (conversation.id.len > 0) /* without one it names nothing */
        wake->conversations[wake->conversation_count++] = conversation;
    return true;
}

static bool read_conversations(struct wake *wake, json_t *list, size_t count, struct err *err)
{
    if (list && !json_is_array(list))
        return err_set(err, "conversations is not an array");
    for (size_t i = 0; i < count; i++)
        if (!read_conversation(wake, json_array_get(list, i), err))
            return err_wrap(err, "conversations[%zu]", i);
    return true;
}

static bool check_type(json_t *type, struct err *err)
{
    if (!type)
        return true;
    if (!json_is_string(type))
        return err_set(err, "type is not a string");
    const struct slice name = {json_string_value(type), json_string_length(type)};
    return slice_eq(name, SLICE("agentchat.wake")) || err_set(err, "type is not agentchat.wake");
}

static bool read_delivery_id(struct wake *wake, json_t *payload, struct err *err)
{
    if (!read_string(wake, payload, "delivery_id", &wake->delivery_id, err))
        return false;
    return !json_object_get(payload, "delivery_id") || wake_is_delivery_id(wake->delivery_id) ||
           err_set(err, "delivery_id is not 1 to %d letters, digits, '-' and '_'",
                   LIMIT_DELIVERY_ID_BYTES);
}

static bool read_step(struct wake *wake, json_t *payload, struct err *err)
{
    return json_is_null(json_object_get(payload, "step")) ||
           read_integer(payload, "step", &wake->step, err);
}

bool wake_read_payload(struct wake *wake, json_t *payload, struct slice body, struct err *err)
{
    json_t *list = json_object_get(payload, "conversations");
    size_t count = json_array_size(list); /* 0 for anything else */

    count = count < LIMIT_CONVERSATIONS ? count : LIMIT_CONVERSATIONS;
    wake_reserve(wake, body, count);
    if (!check_type(json_object_get(payload, "type"), err) ||
        !read_integer(payload, "version", &wake->version, err) ||
        !read_string(wake, payload, "reason", &wake->reason, err) ||
        !read_step(wake, payload, err) ||
        !read_string(wake, payload, "handle", &wake->handle, err) ||
        !read_conversations(wake, list, count, err) ||
        !read_string(wake, payload, "summary", &wake->summary, err) ||
        !read_delivery_id(wake, payload, err) ||
        !read_string(wake, payload, "ts", &wake->ts, err) ||
        !read_bool(payload, "test", &wake->test, err))
        return false;
    if (!clock_parse_iso(wake->ts, &wake->ts_ms))
        wake->ts_ms = 0;
    return true;
}

static bool is_id_letter(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '_';
}

bool wake_is_delivery_id(struct slice id)
{
    for (size_t i = 0; i < id.len; i++)
        if (!is_id_letter(id.data[i]))
            return false;
    return id.len > 0 && id.len <= LIMIT_DELIVERY_ID_BYTES;
}

struct slice wake_reason(const struct wake *wake)
{
    return wake->reason.len > 0 ? wake->reason : SLICE("messages");
}

void wake_release(struct wake *wake)
{
    if (!wake)
        return;
    free(wake->memory);
    *wake = (struct wake){0};
}
