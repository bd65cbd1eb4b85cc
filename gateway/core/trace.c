/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/core/trace.h"

enum { VERSION_LEN = 2, ID_AT = 3, ID_LEN = 32, SPAN_AT = 36, SPAN_LEN = 16, FLAGS_AT = 53 };

static bool is_hex(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
            return false;
    }
    return true;
}

static bool is_zero(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] != '0')
            return false;
    return true;
}

static struct slice part(struct slice parent, size_t at, size_t len)
{
    return slice_first(slice_from_at(parent, at), len);
}

/* Section 3.2; the only version there is. */
static bool is_parent(struct slice text)
{
    return text.len == TRACE_PARENT_BYTES && slice_starts(text, SLICE("00-")) &&
           text.data[SPAN_AT - 1] == '-' && text.data[FLAGS_AT - 1] == '-' &&
           is_hex(part(text, ID_AT, ID_LEN)) && is_hex(part(text, SPAN_AT, SPAN_LEN)) &&
           is_hex(part(text, FLAGS_AT, VERSION_LEN)) && !is_zero(part(text, ID_AT, ID_LEN)) &&
           !is_zero(part(text, SPAN_AT, SPAN_LEN));
}

static bool is_state(struct slice text)
{
    if (text.len > TRACE_STATE_BYTES)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] < 0x20 || text.data[i] > 0x7e)
            return false;
    return true;
}

struct trace trace_read(const struct request *request)
{
    struct trace trace = {0};
    struct slice text;

    if (request_header(request, SLICE("traceparent"), &text) != HEADER_FOUND || !is_parent(text))
        return trace;
    trace.parent = text;
    if (request_header(request, SLICE("tracestate"), &text) == HEADER_FOUND && is_state(text))
        trace.state = text;
    return trace;
}

struct slice trace_id(const struct trace *trace)
{
    return part(trace->parent, ID_AT, trace->parent.len > 0 ? ID_LEN : 0);
}
