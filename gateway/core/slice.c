/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/core/slice.h"

#include <string.h>

struct slice slice_from(const char *text)
{
    return (struct slice){.data = text, .len = text ? strlen(text) : 0};
}

bool slice_eq(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool slice_eq_nocase(struct slice a, struct slice b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (lower(a.data[i]) != lower(b.data[i]))
            return false;
    return true;
}

bool slice_starts(struct slice s, struct slice prefix)
{
    return s.len >= prefix.len && slice_eq(slice_first(s, prefix.len), prefix);
}

bool slice_starts_nocase(struct slice s, struct slice prefix)
{
    return s.len >= prefix.len && slice_eq_nocase(slice_first(s, prefix.len), prefix);
}

bool slice_ends(struct slice s, struct slice suffix)
{
    return s.len >= suffix.len && slice_eq(slice_from_at(s, s.len - suffix.len), suffix);
}

struct slice slice_from_at(struct slice s, size_t at)
{
    if (at >= s.len)
        return (struct slice){0};
    return (struct slice){.data = s.data + at, .len = s.len - at};
}

struct slice slice_first(struct slice s, size_t len)
{
    return (struct slice){.data = s.data, .len = len < s.len ? len : s.len};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct slice slice_trim(struct slice s)
{
    while (s.len > 0 && is_blank(s.data[0]))
        s = slice_from_at(s, 1);
    while (s.len > 0 && is_blank(s.data[s.len - 1]))
        s.len--;
    return s;
}

bool slice_cut(struct slice s, char separator, struct slice *head, struct slice *rest)
{
    const char *at = s.len > 0 ? memchr(s.data, separator, s.len) : NULL;

    if (!at) {
        *head = s;
        *rest = (struct slice){0};
        return false;
    }
    size_t before = (size_t)(at - s.data);
    *head = slice_first(s, before);
    *rest = slice_from_at(s, before + 1);
    return true;
}

bool slice_number(struct slice s, uint64_t *number)
{
    uint64_t value = 0;

    if (s.len == 0)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] < '0' || s.data[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(s.data[i] - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    return true;
}

bool slice_is_visible(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.data[i] < 0x21 || s.data[i] > 0x7e)
            return false;
    return s.len > 0;
}

/* The ranges are those of RFC 3629, section 4. */
size_t slice_utf8_sequence(struct slice s)
{
    const unsigned char *b = (const unsigned char *)s.data;

    if (s.len == 0)
        return 0;
    if (b[0] < 0x80)
        return 1;
    if (b[0] >= 0xc2 && b[0] <= 0xdf && s.len >= 2)
        return (b[1] & 0xc0) == 0x80 ? 2 : 0;
    if ((b[0] & 0xf0) == 0xe0 && s.len >= 3) {
        unsigned char low = b[0] == 0xe0 ? 0xa0 : 0x80, high = b[0] == 0xed ? 0x9f : 0xbf;
        return b[1] >= low && b[1] <= high && (b[2] & 0xc0) == 0x80 ? 3 : 0;
    }
    if (b[0] >= 0xf0 && b[0] <= 0xf4 && s.len >= 4) {
        unsigned char low = b[0] == 0xf0 ? 0x90 : 0x80, high = b[0] == 0xf4 ? 0x8f : 0xbf;
        bool tail = (b[2] & 0xc0) == 0x80 && (b[3] & 0xc0) == 0x80;
        return b[1] >= low && b[1] <= high && tail ? 4 : 0;
    }
    return 0;
}

bool slice_is_utf8(struct slice s)
{
    while (s.len > 0) {
        size_t len = slice_utf8_sequence(s);
        if (len == 0)
            return false;
        s = slice_from_at(s, len);
    }
    return true;
}
