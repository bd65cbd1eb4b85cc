/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/conceal.h"

#include <string.h>

/* Shorter pieces stand in any text. A signature has 43 characters or more; a timestamp, which may
 * well begin a run id, has 10. */
enum { LEAST_OF_SECRET = 8, LEAST_OF_HEADER = 20, MARK_BYTES = 3 };

/* How much of the beginning of `text` stands somewhere in `where`. */
static size_t common(struct slice text, struct slice where)
{
    size_t most = 0;

    for (size_t at = 0; at + most < where.len; at++) {
        size_t len = 0;
        while (len < text.len && at + len < where.len && text.data[len] == where.data[at + len])
            len++;
        if (len > most)
            most = len;
    }
    return most;
}

static void hide(char *text, struct slice what, size_t least, struct slice key)
{
    struct slice rest = slice_from(text);
    size_t len = 0;

    if (what.len < MARK_BYTES)
        return;
    if (what.len < least)
        least = what.len;
    if (rest.len < least)
        return;
    while (rest.len > 0) {
        size_t found = common(rest, what);
        if (found >= least && common(rest, key) < found) {
            memcpy(text + len, "***", MARK_BYTES);
            len += MARK_BYTES;
        } else {
            text[len++] = rest.data[0];
            found = 1;
        }
        rest = slice_from_at(rest, found);
    }
    text[len] = '\0';
}

static void hide_headers(char *text, struct slice lines, struct slice key)
{
    struct slice line, name, value;

    while (lines.len > 0) {
        slice_cut(lines, '\0', &line, &lines);
        slice_cut(line, ':', &name, &value);
        value = slice_trim(value);
        bool is_trace = slice_starts_nocase(name, SLICE("trace"));
        if (value.len >= LEAST_OF_HEADER && !is_trace)
            hide(text, value, LEAST_OF_HEADER, key);
    }
}

static void hide_url(char *text, const char *url, bool host_too, struct slice key)
{
    const char *scheme_end = strstr(url, "://");
    const char *begin = scheme_end ? scheme_end + strlen("://") : url;
    struct slice authority = {.data = begin, .len = strcspn(begin, "/?")};
    struct slice host = {.data = begin, .len = strcspn(begin, ":/?")};

    hide(text, slice_from(begin + authority.len), LEAST_OF_SECRET, key);
    if (slice_starts(authority, SLICE("[")))
        host = (struct slice){.data = begin + 1, .len = strcspn(begin + 1, "]")};
    if (host_too)
        hide(text, host, host.len, key);
}

void conceal(const struct conceal *request, char *text)
{
    hide(text, request->secret, LEAST_OF_SECRET, request->key);
    hide_headers(text, request->headers, request->key);
    hide_url(text, request->url, request->host_too, request->key);
}
