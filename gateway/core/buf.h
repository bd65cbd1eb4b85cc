/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf: a growing byte buffer that cannot exist without a maximum.
 *
 * `max` is given at init. An append that would pass it appends nothing and sets `overflow`, which
 * stays set until buf_clear, so a builder may append freely and ask once at the end. The bytes are
 * always followed by a NUL that is not counted. Running out of memory ends the process.
 */
#ifndef WAKEGATE_CORE_BUF_H
#define WAKEGATE_CORE_BUF_H

#include "gateway/core/slice.h"

struct buf {
    char *data; /* owned; NULL while nothing was appended */
    size_t len;
    size_t size; /* allocated */
    size_t max;  /* never holds more than this */
    bool overflow;
};

#define BUF_INIT(limit)                                                                            \
    {                                                                                              \
        .max = (limit)                                                                             \
    }

void buf_release(struct buf *buf); /* frees the bytes; the buf may be used again */
void buf_clear(struct buf *buf);   /* empty, memory kept */

bool buf_append(struct buf *buf, struct slice bytes); /* false: would pass max */
bool buf_append_char(struct buf *buf, char c);
bool buf_append_number(struct buf *buf, uint64_t number, size_t least_digits); /* of at most 20 */
bool buf_appendf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Room for at least `len` more bytes at data + len, to be written there and then counted in len;
 * NULL when it would pass max. */
char *buf_reserve(struct buf *buf, size_t len);

/* Drops the first `len` bytes. */
void buf_consume(struct buf *buf, size_t len);

struct slice buf_slice(const struct buf *buf);
const char *buf_text(const struct buf *buf); /* NUL-terminated, "" when empty */

/* malloc, calloc and strdup that end the process instead of returning NULL. */
void *mem_new(size_t size);  /* zeroed */
void *mem_room(size_t size); /* not zeroed */
void *mem_grow(void *old, size_t size);
char *mem_text(struct slice text); /* NUL-terminated copy */

#endif
