/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec: hex and base64 (RFC 4648), strict: exact lengths, canonical padding, no blanks, unused
 * bits zero.
 */
#ifndef WAKEGATE_CORE_CODEC_H
#define WAKEGATE_CORE_CODEC_H

#include "gateway/core/slice.h"

/* Both cases are read. The text must be exactly 2 * len digits. */
bool hex_decode(struct slice text, unsigned char *bytes, size_t len);
/* Lower case and a NUL: `text` has room for 2 * len + 1. */
void hex_encode(const unsigned char *bytes, size_t len, char *text);

/* false: not canonical base64, or more than `max` bytes. Padding is required. */
bool base64_decode(struct slice text, unsigned char *bytes, size_t max, size_t *len);
/* With padding and a NUL: `text` has room for BASE64_SIZE(len). */
#define BASE64_SIZE(len) (((len) + 2) / 3 * 4 + 1)
void base64_encode(const unsigned char *bytes, size_t len, char *text);

#endif
