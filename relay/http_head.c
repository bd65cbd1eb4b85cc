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

bool http_head_is_too_long(const struct http_head *head)
{
    return head->bytes > LIMIT_ANSWER_HEADER_BYTES;
}

bool http_head_take(struct http_head *head, struct slice line)
{
    head->bytes += line.len;
    line = without_end(line);
    if (slice_starts(line, SLICE("HTTP/")))
        head->whole = false;
    else if (line.len == 0)
        head->whole = true;
    else if (names_coding(line))
        head->coded = true;
    return !http_head_is_too_long(head) && !(head->coded && head->whole);
}
