/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of plain characters are copied whole; most texts are one such run of ASCII. */
#include "gateway/core/quote.h"

static bool is_plain_ascii(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* The bytes of the plain character that `text` begins with; 0: it begins with none. */
static size_t plain_sequence(struct slice text)
{
    const unsigned char *b = (const unsigned char *)text.data;

    if (b[0] < 0x80)
        return is_plain_ascii(b[0]);
    return b[0] == 0xc2 && text.len > 1 && b[1] < 0xa0 ? 0 : slice_utf8_sequence(text);
}

static size_t plain_run(struct slice text)
{
    size_t run = 0;

    while (run < text.len) {
        size_t len = plain_sequence(slice_from_at(text, run));
        if (len == 0)
            break;
        run += len;
        while (run < text.len && is_plain_ascii((unsigned char)text.data[run]))
            run++;
    }
    return run;
}

/* Writes the first character of `text`, or its first byte where that starts none, as an escape.
 * Returns the bytes that it stood for. */
static size_t put_escape(struct buf *out, struct slice text)
{
    size_t len = slice_utf8_sequence(text);
    unsigned char first = (unsigned char)text.data[0];

    if (len == 0)
        buf_append(out, SLICE("\\ufffd"));
    else if (first == '"' || first == '\\')
        buf_appendf(out, "\\%c", first);
    else if (first == '\n')
        buf_append(out, SLICE("\\n"));
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
