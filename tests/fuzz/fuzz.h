/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz: what every target begins with. A target takes any bytes and asserts what must hold of them
 * whatever they are; libFuzzer looks for bytes for which it does not, or for which a sanitizer
 * objects.
 *
 * Some targets want more than one input: fuzz_byte and fuzz_part take them off the front.
 */
#ifndef WAKEGATE_TESTS_FUZZ_H
#define WAKEGATE_TESTS_FUZZ_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline struct slice fuzz_slice(const uint8_t *data, size_t size)
{
    return (struct slice){.data = (const char *)data, .len = size};
}

/* 0 when nothing is left. */
static inline unsigned fuzz_byte(struct slice *input)
{
    unsigned byte = input->len > 0 ? (unsigned char)input->data[0] : 0;

    *input = slice_from_at(*input, 1);
    return byte;
}

/* What stands before the next line feed, or all of it: so that a corpus can be read and written by
 * people. */
static inline struct slice fuzz_line(struct slice *input)
{
    struct slice line;

    slice_cut(*input, '\n', &line, input);
    return line;
}

/* A copy of exactly its size, so that the address sanitizer sees a read past its end. */
static inline char *fuzz_copy(struct slice bytes)
{
    char *copy = malloc(bytes.len > 0 ? bytes.len : 1);

    assert(copy);
    if (bytes.len > 0)
        memcpy(copy, bytes.data, bytes.len);
    return copy;
}

#endif
