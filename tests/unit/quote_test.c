/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

#include "gateway/core/quote.h"

static void expect(struct slice text, const char *quoted)
{
    struct buf out = BUF_INIT(4096);

    quote_append(&out, text);
    assert_string_equal(buf_text(&out), quoted);
    buf_release(&out);
}

static void test_plain(void **state)
{
    (void)state;
    expect(SLICE(""), "");
    expect(SLICE("a b/c'"), "a b/c'");
    expect(SLICE("Caf\xc3\xa9 \xf0\x9f\x90\xa6 \xc2\xa0"), "Caf\xc3\xa9 \xf0\x9f\x90\xa6 \xc2\xa0");
}

static void test_escapes(void **state)
{
    (void)state;
    expect(SLICE("a\"b\\c\n"), "a\\\"b\\\\c\\n");
    expect(SLICE("\t\x1b\x7f"), "\\u0009\\u001b\\u007f");
    expect((struct slice){.data = "a\0b", .len = 3}, "a\\u0000b");
    expect(SLICE("\xc2\x80\xc2\x9f"), "\\u0080\\u009f");
}

static void test_bytes_that_are_no_text(void **state)
{
    (void)state;
    expect(SLICE("a\xff"), "a\\ufffd");
    expect(SLICE("\xc2"), "\\ufffd");
    expect(SLICE("\xc0\x80x"), "\\ufffd\\ufffdx");
    expect(SLICE("\xed\xa0\x80"), "\\ufffd\\ufffd\\ufffd");
}

/* Whatever two bytes go in, what comes out is a string of JSON. */
static void test_is_always_a_string_of_json(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 0x10000; i++) {
        const char bytes[] = {(char)(i >> 8), (char)i};
        struct buf out = BUF_INIT(64);
        buf_append_char(&out, '"');
        quote_append(&out, (struct slice){.data = bytes, .len = sizeof(bytes)});
        buf_append_char(&out, '"');
        json_t *read = json_loadb(out.data, out.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        if (!json_is_string(read))
            fail_msg("%s", buf_text(&out));
        bool text = slice_is_utf8((struct slice){.data = bytes, .len = sizeof(bytes)});
        if (text)
            assert_memory_equal(json_string_value(read), bytes, sizeof(bytes));
        json_decref(read);
        buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_is_always_a_string_of_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
