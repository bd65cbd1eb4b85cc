/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice: a borrowed run of bytes, and the cursor functions that parse one.
 *
 * A slice owns nothing and need not end in NUL. Every parser of bytes from outside walks a slice,
 * so no function here reads past `len`, and none copies.
 */
#ifndef WAKEGATE_CORE_SLICE_H
#define WAKEGATE_CORE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slice {
    const char *data; /* may be NULL when len is 0 */
    size_t len;
};

#define SLICE(literal) ((struct slice){.data = "" literal, .len = sizeof(literal) - 1})

/* For printf's "%.*s": two arguments. */
#define SLICE_ARG(s) (int)(s).len, (s).data

struct slice slice_from(const char *text); /* NULL gives an empty slice */

bool slice_eq(struct slice a, struct slice b);
bool slice_eq_nocase(struct slice a, struct slice b); /* ASCII letters only */
bool slice_starts(struct slice s, struct slice prefix);
bool slice_starts_nocase(struct slice s, struct slice prefix);
bool slice_ends(struct slice s, struct slice suffix);

struct slice slice_from_at(struct slice s, size_t at); /* what stands from `at` on */
struct slice slice_first(struct slice s, size_t len);  /* at most `len` bytes */
struct slice slice_trim(struct slice s);               /* without spaces and tabs at both ends */

/* Cuts `s` at the first `separator`: the part before goes to `*head`, `*rest` gets the part after.
 * false when there is none: then `*head` is all of `s` and `*rest` is empty. */
bool slice_cut(struct slice s, char separator, struct slice *head, struct slice *rest);

/* The whole of `s` as a decimal number: digits only, no sign, no blanks, no overflow. */
bool slice_number(struct slice s, uint64_t *number);

/* True when every byte is printable ASCII other than space (0x21 to 0x7e). Empty is false. */
bool slice_is_visible(struct slice s);

/* True when the bytes are well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool slice_is_utf8(struct slice s);
/* The length of the one well-formed character that `s` starts with; 0: it starts with none. */
size_t slice_utf8_sequence(struct slice s);

#endif
