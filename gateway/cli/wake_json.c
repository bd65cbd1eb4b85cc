/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/cli/wake_json.h"

static void put(json_t *object, const char *name, struct slice text)
{
    if (text.len > 0)
        json_object_set_new(object, name, json_stringn(text.data, text.len));
}

static void put_number(json_t *object, const char *name, int64_t number)
{
    if (number != 0)
        json_object_set_new(object, name, json_integer(number));
}

json_t *wake_json(const struct wake *wake)
{
    json_t *object = json_object(), *list = json_array();

    put_number(object, "version", wake->version);
    put(object, "reason", wake->reason);
    put_number(object, "step", wake->step);
    put(object, "handle", wake->handle);
    for (size_t i = 0; i < wake->conversation_count; i++) {
        json_t *item = json_object();
        put(item, "id", wake->conversations[i].id);
        json_object_set_new(item, "unread", json_integer(wake->conversations[i].unread));
        put(item, "latest_sender", wake->conversations[i].latest_sender);
        json_array_append_new(list, item);
    }
    if (wake->version != 0)
        json_object_set(object, "conversations", list);
    json_decref(list);
    put(object, "summary", wake->summary);
    put(object, "delivery_id", wake->delivery_id);
    put(object, "ts", wake->ts);
    put_number(object, "attempt", wake->attempt);
    put(object, "text", wake->text);
    if (wake->test)
        json_object_set_new(object, "test", json_true());
    return object;
}
