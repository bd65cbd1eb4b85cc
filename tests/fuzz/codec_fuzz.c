/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hex, base64, UTF-8, times and secrets. What is encoded decodes to the same bytes, what is decoded
 * encodes to the same text, UTF-8 is what jansson takes it for, and a time that was read is written
 * as itself.
 */
#include "tests/fuzz/fuzz.h"

#include <jansson.h>

#include "gateway/core/clock.h"
#include "gateway/core/codec.h"
#include "gateway/core/limits.h"
#include "gateway/core/secret.h"

static void check_bytes(struct slice bytes)
{
    const unsigned char *data = (const unsigned char *)bytes.data;
    char *text = mem_new(BASE64_SIZE(bytes.len) + 2 * bytes.len);
    unsigned char *back = mem_new(bytes.len + 1);
    size_t len = bytes.len + 1;

    base64_encode(data, bytes.len, text);
    assert(base64_decode(slice_from(text), back, bytes.len, &len) && len == bytes.len);
    assert(len == 0 || memcmp(back, data, len) == 0);
    assert(len == 0 || !base64_decode(slice_from(text), back, len - 1, &len));
    hex_encode(data, bytes.len, text);
    assert(hex_decode(slice_from(text), back, bytes.len));
    assert(bytes.len == 0 || memcmp(back, data, bytes.len) == 0);
    free(text);
    free(back);
}

static void check_text(struct slice text)
{
    unsigned char *bytes = mem_new(text.len + 1);
    char *again = mem_new(text.len + 8);
    size_t len = 0;

    if (base64_decode(text, bytes, text.len, &len)) {
        base64_encode(bytes, len, again);
        assert(slice_eq(slice_from(again), text));
    }
    if (hex_decode(text, bytes, text.len / 2)) {
        hex_encode(bytes, text.len / 2, again);
        assert(slice_eq_nocase(slice_from(again), text));
    }
    free(bytes);
    free(again);
}

static void check_utf8(struct slice text)
{
    json_t *string = json_stringn(text.data ? text.data : "", text.len);

    assert((string != NULL) == slice_is_utf8(text));
    json_decref(string);
}

static void check_times(struct slice text)
{
    char again[CLOCK_ISO_SIZE];
    int64_t ms, same = 0;

    if (clock_parse_iso(text, &ms)) {
        clock_format_iso(ms, again);
        assert(clock_parse_iso(slice_from(again), &same) && same == ms);
    }
    if (clock_parse_http_date(text, &ms)) {
        assert(ms % 1000 == 0);
        clock_format_iso(ms, again);
        assert(clock_parse_iso(slice_from(again), &same) && same == ms);
    }
}

static void check_secret(struct slice text)
{
    struct err err = {.text = ""};
    struct secret secret;

    if (!secret_init(&secret, text, &err)) {
        assert(err.text[0]);
        return;
    }
    assert(slice_eq(secret.text, text) && text.len <= LIMIT_SECRET_BYTES);
    assert(secret.raw && !memchr(text.data, '\n', text.len) && !memchr(text.data, '\0', text.len));
    assert(!secret.prefixed || secret.decoded);
    assert(!secret.ed25519_private || secret.ed25519);
    secret_release(&secret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = fuzz_copy(fuzz_slice(data, size));
    const struct slice input = {.data = copy, .len = size};

    check_bytes(input);
    check_text(input);
    check_utf8(input);
    check_times(input);
    check_secret(input);
    free(copy);
    return 0;
}
