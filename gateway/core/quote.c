/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/core/quote.h"

static bool is_plain_ascii(char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* How much of the text needs no escape. */
static size_t plain_run(struct slice text)
{
    size_t run = 0;

    while (run < text.len) {
        const unsigned char *b = (const unsigned char *)text.data + run;
        if (is_plain_ascii(text.data[run])) {
            run++;
            continue;
        }
        size_t len = b[0] < 0x80 ? 0 : slice_utf8_sequence(slice_from_at(text, run));
        if (len == 0 || (b[0] == 0xc2 && b[1] < 0xa0)) /* U+0080 to U+009F: controls too */
            break;
        run += len;
    }
    return run;
}

/* Writes the first character of `text`, or its first byte where that starts none, as an escape.
 * Returns the bytes that it stood for. */
static size_t put_escape(struct buf *out, struct slice text)
{
    size_t len = slice_utf8_sequence(text);
    unsigned char first = (unsigned char)text.data[0];
    const char escape[] = {'\\', first == '\n' ? 'n' : (char)first};

    if (len == 0)
        buf_append(out, SLICE("\\ufffd"));
    else if (first == '"' || first == '\\' || first == '\n')
        buf_append(out, (struct slice){.data = escape, .len = sizeof(escape)});
    else
        buf_appendf(out, "\\u%04x", len == 1 ? first : (unsigned char)text.data[1]);
    return len > 0 ? len : 1;
}

void quote_append(struct buf *out, struct slice text)
{
    while (text.len > 0) {
        size_t run = plain_run(text);
        buf_append(out, slice_first(text, run));
        text = slice_from_at(text, run);
        if (text.len > 0)
            text = slice_from_at(text, put_escape(out, text));
    }
}
