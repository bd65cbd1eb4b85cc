/* SPDX-License-Identifier: Apache-2.0 */
#include "dialects/text.h"

#include <string.h>

#include "dialects/payload.h"

enum { MOST_ATTEMPTS = 1000000 };

static struct slice without_end(struct slice text)
{
    while (text.len > 0 && strchr(" \t\r\n", text.data[text.len - 1]))
        text.len--;
    return text;
}

static struct slice last_line(struct slice text)
{
    const char *newline = text.len > 0 ? memrchr(text.data, '\n', text.len) : NULL;

    return newline ? slice_from_at(text, (size_t)(newline - text.data) + 1) : text;
}

bool text_trailer(struct slice text, struct trailer *trailer)
{
    static const char cycle[] = "(AgentChat wake cycle ", attempt[] = " attempt ";
    struct slice id, rest, number, remark;
    uint64_t count;

    struct slice line = last_line(without_end(text));
    if (!slice_starts(line, slice_from(cycle)) || !slice_ends(line, SLICE(")")))
        return false;
    line = slice_from_at(line, sizeof(cycle) - 1);
    if (!slice_cut(line, ',', &id, &rest) || !wake_is_delivery_id(id))
        return false;
    if (!slice_starts(rest, slice_from(attempt)))
        return false;
    rest = slice_from_at(rest, sizeof(attempt) - 1);
    if (!slice_cut(rest, '.', &number, &remark) || !slice_number(number, &count))
        return false;
    if (count < 1 || count > MOST_ATTEMPTS)
        return false;
    *trailer = (struct trailer){.id = id, .attempt = (int64_t)count, .number = number};
    return true;
}

struct slice text_first_paragraph(struct slice text)
{
    const char *end = text.len > 0 ? memmem(text.data, text.len, "\n\n", 2) : NULL;

    return without_end(end ? slice_first(text, (size_t)(end - text.data)) : text);
}

struct slice text_without_trailer(struct slice text)
{
    struct trailer trailer;

    text = without_end(text);
    if (text_trailer(text, &trailer))
        text = slice_first(text, (size_t)(last_line(text).data - text.data));
    return without_end(text);
}

/* false: a member that should be the text is something else. */
static bool read_text(struct wake *wake, json_t *root, const struct text_shape *shape,
                      struct err *err)
{
    for (size_t i = 0; i < TEXT_NAMES && shape->member[i]; i++) {
        json_t *value = json_object_get(root, shape->member[i]);
        if (!value)
            continue;
        if (!json_is_string(value))
            return err_set(err, "%s is not a string", shape->member[i]);
        struct slice text = {.data = json_string_value(value), .len = json_string_length(value)};
        if (without_end(text).len == 0)
            return err_set(err, "%s is empty", shape->member[i]);
        wake->text = wake_keep(wake, text);
        return true;
    }
    if (!json_object_get(root, "type"))
        return err_set(err, "neither %s nor a payload", shape->member[0]);
    return true;
}

/* A header that cannot be a delivery_id is passed over: the runtimes do so, too. */
static bool id_from_headers(const struct request *request, const struct text_shape *shape,
                            struct slice *id, struct err *err)
{
    for (size_t i = 0; i < TEXT_NAMES && shape->id_header[i] && id->len == 0; i++) {
        struct slice value = {0};
        struct slice name = slice_from(shape->id_header[i]);
        if (request_header(request, name, &value) == HEADER_REPEATED)
            return err_set(err, "%s stands there more than once", shape->id_header[i]);
        if (wake_is_delivery_id(value))
            *id = value;
    }
    return true;
}

static struct slice id_from_member(json_t *root, const struct text_shape *shape)
{
    json_t *value = shape->id_member ? json_object_get(root, shape->id_member) : NULL;
    struct slice id = {.data = json_string_value(value), .len = json_string_length(value)};

    return wake_is_delivery_id(id) ? id : (struct slice){0};
}

static bool read_parts(const struct request *request, const struct text_shape *shape, json_t *root,
                       struct wake *wake, struct err *err)
{
    struct trailer trailer = {.attempt = 0};
    struct slice id = {0};

    if (!wake_read_payload(wake, root, request->body, err))
        return false;
    if (!read_text(wake, root, shape, err))
        return false;
    bool trailed = text_trailer(wake->text, &trailer);
    wake->attempt = trailer.attempt;
    if (wake->delivery_id.len > 0)
        return true;
    if (!id_from_headers(request, shape, &id, err))
        return false;
    if (id.len == 0)
        id = id_from_member(root, shape);
    if (id.len == 0 && !trailed)
        return err_set(err, "no delivery_id: no field, no header and no trailer names the cycle");
    wake->delivery_id = id.len > 0 ? wake_keep(wake, id) : trailer.id;
    return true;
}

bool text_decode(const struct request *request, const struct text_shape *shape, struct wake *wake,
                 struct err *err)
{
    json_t *root = payload_parse(request->body, err);

    if (!root)
        return false;
    bool read = read_parts(request, shape, root, wake, err);
    json_decref(root);
    return read;
}

static void append_trailer(struct buf *text, struct slice id)
{
    buf_appendf(text,
                "\n\n(AgentChat wake cycle %.*s, attempt 1. This text carries no message content.)",
                SLICE_ARG(id));
}

static void append_received(const struct wake *wake, struct buf *text)
{
    struct trailer trailer;

    if (!text_trailer(wake->text, &trailer) || !slice_eq(trailer.id, wake->delivery_id)) {
        buf_append(text, without_end(wake->text));
        append_trailer(text, wake->delivery_id);
        return;
    }
    size_t before = (size_t)(trailer.number.data - wake->text.data);
    buf_append(text, slice_first(wake->text, before));
    buf_append_char(text, '1');
    buf_append(text, slice_from_at(wake->text, before + trailer.number.len));
}

static void append_composed(const struct wake *wake, struct slice prompt, struct buf *text)
{
    if (wake->summary.len > 0)
        buf_append(text, wake->summary);
    else
        buf_appendf(text, "AgentChat wake for %.*s: %.*s.", SLICE_ARG(wake->handle),
                    SLICE_ARG(wake_reason(wake)));
    if (prompt.len > 0) {
        buf_append(text, SLICE("\n\n"));
        buf_append(text, prompt);
    }
    append_trailer(text, wake->delivery_id);
}

static size_t characters(struct slice text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += (text.data[i] & 0xc0) != 0x80;
    return count;
}

static json_t *as_string(const struct buf *text, size_t max_characters, struct err *err)
{
    if (text->overflow || characters(buf_slice(text)) > max_characters) {
        err_set(err, "the text is longer than the runtime's %zu characters", max_characters);
        return NULL;
    }
    json_t *string = json_stringn(buf_text(text), text->len);
    if (!string)
        err_set(err, "the text is not UTF-8");
    return string;
}

json_t *text_compose(const struct wake *wake, const struct trigger_speech *speech,
                     size_t max_characters, struct err *err)
{
    struct buf text = BUF_INIT(LIMIT_OUT_BODY_BYTES);

    if (wake->text.len > 0)
        append_received(wake, &text);
    else
        append_composed(wake, speech->prompt, &text);
    json_t *string = as_string(&text, max_characters, err);
    buf_release(&text);
    return string;
}
