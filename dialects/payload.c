/* SPDX-License-Identifier: Apache-2.0 */
#include "dialects/payload.h"

#include "dialects/outgoing.h"
#include "dialects/payload_scan.h"
#include "dialects/text.h"
#include "gateway/core/clock.h"

/* jansson's own limit is 2048 levels; a wake has three. */
static bool is_shallow(struct slice body)
{
    bool in_string = false;
    int depth = 0;

    for (size_t i = 0; i < body.len; i++) {
        char c = body.data[i];
        if (in_string && c == '\\')
            i++; /* whatever is escaped ends no string */
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '{' || c == '['))
            depth++;
        else if (!in_string && (c == '}' || c == ']'))
            depth--;
        if (depth > LIMIT_JSON_DEPTH)
            return false;
    }
    return true;
}

json_t *payload_parse(struct slice body, struct err *err)
{
    json_error_t why;

    if (body.len == 0)
        err_set(err, "the body is empty");
    else if (slice_starts(body, SLICE("\xef\xbb\xbf")))
        err_set(err, "the body begins with a byte order mark");
    else if (!slice_is_utf8(body))
        err_set(err, "the body is not UTF-8");
    else if (!is_shallow(body))
        err_set(err, "the JSON is nested more than %d deep", LIMIT_JSON_DEPTH);
    else {
        json_t *root = json_loadb(body.data, body.len, JSON_REJECT_DUPLICATES, &why);
        if (json_is_object(root))
            return root;
        if (root)
            err_set(err, "the JSON is no object");
        else /* jansson's own text quotes the body, which is nobody's business */
            err_set(err, "not JSON from byte %d on", why.position);
        json_decref(root);
    }
    return NULL;
}

bool payload_decode(const struct request *request, struct wake *wake, struct err *err)
{
    if (payload_scan(request->body, wake))
        return true;
    json_t *root = payload_parse(request->body, err);
    if (!root)
        return false;
    bool typed = json_object_get(root, "type") != NULL;
    bool versioned = json_object_get(root, "version") != NULL;
    bool read = wake_read_payload(wake, root, request->body, err);
    json_decref(root);
    if (!read)
        return false;
    if (!typed)
        return err_set(err, "no type");
    if (!versioned)
        return err_set(err, "no version");
    if (wake->handle.len == 0)
        return err_set(err, "no handle");
    if (wake->delivery_id.len == 0)
        return err_set(err, "no delivery_id");
    wake->raw = wake_keep(wake, request->body);
    return true;
}

/* An absent field is no member. false: not UTF-8. */
static bool put(json_t *object, const char *name, struct slice text)
{
    if (text.len == 0)
        return true;
    return json_object_set_new(object, name, json_stringn(text.data, text.len)) == 0;
}

static json_t *conversations(const struct wake *wake)
{
    json_t *list = json_array();

    for (size_t i = 0; i < wake->conversation_count; i++) {
        const struct conversation *conversation = &wake->conversations[i];
        json_t *item = json_object();
        put(item, "id", conversation->id);
        json_object_set_new(item, "unread", json_integer(conversation->unread));
        put(item, "latest_sender", conversation->latest_sender);
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *build(const struct wake *wake, const struct trigger_speech *speech, int64_t now_ms,
                     struct err *err)
{
    char now[CLOCK_ISO_SIZE];
    json_t *object = json_object();

    clock_format_iso(now_ms, now);
    struct slice handle = wake->handle.len > 0 ? wake->handle : speech->handle;
    struct slice summary = wake->summary.len > 0 ? wake->summary : text_first_paragraph(wake->text);
    struct slice ts = wake->ts.len > 0 ? wake->ts : slice_from(now);
    bool whole = put(object, "type", SLICE("agentchat.wake"));
    json_object_set_new(object, "version", json_integer(wake->version ? wake->version : 1));
    whole = put(object, "reason", wake_reason(wake)) && whole;
    if (wake->step)
        json_object_set_new(object, "step", json_integer(wake->step));
    whole = put(object, "handle", handle) && whole;
    json_object_set_new(object, "conversations", conversations(wake));
    whole = put(object, "summary", summary) && whole;
    whole = put(object, "delivery_id", wake->delivery_id) && whole;
    whole = put(object, "ts", ts) && whole;
    if (wake->test)
        json_object_set_new(object, "test", json_true());
    if (whole)
        return object;
    json_decref(object);
    err_set(err, "a field of the wake is not UTF-8");
    return NULL;
}

json_t *payload_object(const struct wake *wake, const struct trigger_speech *speech, int64_t now_ms,
                       struct err *err)
{
    if (wake->raw.len > 0)
        return payload_parse(wake->raw, err);
    return build(wake, speech, now_ms, err);
}

bool payload_write(const struct wake *wake, const struct trigger_speech *speech, int64_t now_ms,
                   struct outgoing *out, struct err *err)
{
    if (wake->raw.len == 0)
        return outgoing_json(out, build(wake, speech, now_ms, err), err);
    buf_append(&out->body, wake->raw);
    outgoing_header(out, "Content-Type", SLICE("application/json"));
    return outgoing_end(out, err);
}
