/* SPDX-License-Identifier: Apache-2.0 */
#include "dialects/outgoing.h"

void outgoing_header(struct outgoing *out, const char *name, struct slice value)
{
    buf_append(&out->headers, slice_from(name));
    buf_append(&out->headers, SLICE(": "));
    buf_append(&out->headers, value);
    buf_append_char(&out->headers, '\0');
}

void outgoing_bearer(struct outgoing *out, const struct secret *secret)
{
    buf_append(&out->headers, SLICE("Authorization: Bearer "));
    buf_append(&out->headers, secret->text);
    buf_append_char(&out->headers, '\0');
}

static int append(const char *bytes, size_t len, void *body)
{
    buf_append(body, (struct slice){.data = bytes, .len = len});
    return 0;
}

bool outgoing_json(struct outgoing *out, json_t *body, struct err *err)
{
    if (!body)
        return false;
    int failed = json_dump_callback(body, append, &out->body, JSON_COMPACT);
    json_decref(body);
    if (failed)
        return err_set(err, "the body cannot be written as JSON");
    outgoing_header(out, "Content-Type", SLICE("application/json"));
    return outgoing_end(out, err);
}

void outgoing_merge(json_t *body, json_t *more)
{
    if (body && more)
        json_object_update_missing(body, more);
}

bool outgoing_end(const struct outgoing *out, struct err *err)
{
    if (out->headers.overflow || out->body.overflow)
        return err_set(err, "the request to the runtime would be too long");
    return true;
}
