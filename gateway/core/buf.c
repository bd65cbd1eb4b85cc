/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/core/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 64 };

static void *or_die(void *memory)
{
    if (!memory) {
        static const char text[] = "wakegate: out of memory\n";
        fwrite(text, 1, sizeof(text) - 1, stderr);
        abort();
    }
    return memory;
}

void *mem_new(size_t size)
{
    return or_die(calloc(1, size));
}

void *mem_room(size_t size)
{
    return or_die(malloc(size ? size : 1));
}

void *mem_grow(void *old, size_t size)
{
    return or_die(realloc(old, size));
}

char *mem_text(struct slice text)
{
    char *copy = mem_new(text.len + 1);

    if (text.len > 0)
        memcpy(copy, text.data, text.len);
    return copy;
}

void buf_release(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){.max = buf->max};
}

void buf_clear(struct buf *buf)
{
    buf->len = 0;
    buf->overflow = false;
    if (buf->data)
        buf->data[0] = '\0';
}

char *buf_reserve(struct buf *buf, size_t len)
{
    assert(buf->max > 0);
    if (len > buf->max - buf->len) {
        buf->overflow = true;
        return NULL;
    }
    size_t need = buf->len + len + 1;
    if (need > buf->size) {
        size_t size = buf->size ? buf->size : SMALLEST;
        while (size < need)
            size *= 2;
        buf->data = mem_grow(buf->data, size);
        buf->size = size;
    }
    return buf->data + buf->len;
}

bool buf_append(struct buf *buf, struct slice bytes)
{
    char *room = buf_reserve(buf, bytes.len);

    if (!room)
        return false;
    if (bytes.len > 0)
        memcpy(room, bytes.data, bytes.len);
    buf->len += bytes.len;
    buf->data[buf->len] = '\0';
    return true;
}

bool buf_append_char(struct buf *buf, char c)
{
    return buf_append(buf, (struct slice){.data = &c, .len = 1});
}

bool buf_append_number(struct buf *buf, uint64_t number, size_t least_digits)
{
    char digits[20];
    size_t at = sizeof(digits);

    assert(least_digits <= sizeof(digits));
    for (; number > 0 || sizeof(digits) - at < least_digits; number /= 10)
        digits[--at] = (char)('0' + number % 10);
    return buf_append(buf, (struct slice){.data = digits + at, .len = sizeof(digits) - at});
}

bool buf_appendf(struct buf *buf, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    assert(len >= 0);
    char *room = buf_reserve(buf, (size_t)len);
    if (!room)
        return false;
    va_start(args, format);
    vsnprintf(room, (size_t)len + 1, format, args);
    va_end(args);
    buf->len += (size_t)len;
    return true;
}

void buf_consume(struct buf *buf, size_t len)
{
    assert(len <= buf->len);
    if (len == 0)
        return;
    memmove(buf->data, buf->data + len, buf->len - len);
    buf->len -= len;
    buf->data[buf->len] = '\0';
}

struct slice buf_slice(const struct buf *buf)
{
    return (struct slice){.data = buf->data, .len = buf->len};
}

const char *buf_text(const struct buf *buf)
{
    return buf->data ? buf->data : "";
}
