/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/core/codec.h"

static const char hex_digits[] = "0123456789abcdef";
static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The value of a digit, -1 for anything else. */
static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool hex_decode(struct slice text, unsigned char *bytes, size_t len)
{
    if (text.len % 2 != 0 || text.len / 2 != len)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (hex_value(text.data[i]) < 0)
            return false;
    for (size_t i = 0; i < len; i++)
        bytes[i] =
            (unsigned char)(hex_value(text.data[2 * i]) << 4 | hex_value(text.data[2 * i + 1]));
    return true;
}

void hex_encode(const unsigned char *bytes, size_t len, char *text)
{
    for (size_t i = 0; i < len; i++) {
        *text++ = hex_digits[bytes[i] >> 4];
        *text++ = hex_digits[bytes[i] & 15];
    }
    *text = '\0';
}

static int base64_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

/* The bytes that `text` stands for, in `*len`; false: it is not canonical. */
static bool base64_measure(struct slice text, size_t *len)
{
    size_t padding = 0;

    if (text.len % 4 != 0)
        return false;
    while (padding < 2 && padding < text.len && text.data[text.len - 1 - padding] == '=')
        padding++;
    size_t digits = text.len - padding;
    for (size_t i = 0; i < digits; i++)
        if (base64_value(text.data[i]) < 0)
            return false;
    int unused = padding == 2 ? 15 : padding == 1 ? 3 : 0; /* bits of the last digit */
    if (padding > 0 && (base64_value(text.data[digits - 1]) & unused) != 0)
        return false;
    *len = text.len / 4 * 3 - padding;
    return true;
}

bool base64_decode(struct slice text, unsigned char *bytes, size_t max, size_t *len)
{
    size_t need = 0;

    if (!base64_measure(text, &need) || need > max)
        return false;
    for (size_t i = 0; i < need; i++) {
        const char *digit = text.data + i / 3 * 4 + i % 3; /* byte i stands in this and the next */
        int shift = 4 - (int)(i % 3) * 2;
        int pair = base64_value(digit[0]) << 6 | base64_value(digit[1]);
        bytes[i] = (unsigned char)(pair >> shift);
    }
    *len = need;
    return true;
}

void base64_encode(const unsigned char *bytes, size_t len, char *text)
{
    for (size_t i = 0; i < len; i += 3) {
        unsigned second = i + 1 < len ? bytes[i + 1] : 0, third = i + 2 < len ? bytes[i + 2] : 0;
        unsigned group = (unsigned)bytes[i] << 16 | second << 8 | third;
        *text++ = base64_digits[group >> 18];
        *text++ = base64_digits[group >> 12 & 63];
        *text++ = '=';
        *text++ = '=';
        if (i + 1 < len)
            text[-2] = base64_digits[group >> 6 & 63];
        if (i + 2 < len)
            text[-1] = base64_digits[group & 63];
    }
    *text = '\0';
}
