/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/http_head.h"

#include "gateway/core/limits.h"

static struct slice without_end(struct slice line)
{
    if (slice_ends(line, SLICE("\n")))
        line.len--;
    if (slice_ends(line, SLICE("\r")))
        line.len--;
    return line;
}

static bool names_coding(struct slice line)
{
    struct slice name, value;

    return slice_cut(line, ':', &name, &value) &&
           slice_eq_nocase(slice_trim(name), SLICE("Transfer-Encoding")) &&
           !slice_eq_nocase(slice_trim(value), SLICE("chunked"));
}

static void keep(const struct http_head *head, struct slice line)
{
    struct slice name, value;

    if (!slice_cut(line, ':', &name, &value))
        return;
    for (size_t i = 0; head->wanted[i]; i++) {
        if (!slice_eq_nocase(name, slice_from(head->wanted[i])))
            continue;
        value = slice_trim(value);
        buf_appendf(head->kept, "%s: %.*s", head->wanted[i], SLICE_ARG(value));
        buf_append_char(head->kept, '\0');
    }
}

bool http_head_take(struct http_head *head, struct slice line)
{
    head->bytes += line.len;
    line = without_end(line);
    bool begins = slice_starts(line, SLICE("HTTP/"));
    if (begins && head->kept)
        buf_clear(head->kept);
    if (begins)
        head->whole = false;
    else if (line.len == 0)
        head->whole = true;
    else if (names_coding(line))
        head->coded = true;
    if (head->wanted)
        keep(head, line);
    return head->bytes <= LIMIT_ANSWER_HEADER_BYTES && !(head->coded && head->whole);
}

bool http_head_explain(const struct http_head *head, struct err *err)
{
    if (head->bytes > LIMIT_ANSWER_HEADER_BYTES)
        err_set(err, "the answer has more than %d bytes of headers", LIMIT_ANSWER_HEADER_BYTES);
    else if (head->coded)
        err_set(err, "an answer in a transfer coding that was not asked for");
    return head->coded || head->bytes > LIMIT_ANSWER_HEADER_BYTES;
}
