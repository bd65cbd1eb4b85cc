/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <jansson.h>
#include <string.h>

#include "gateway/core/quote.h"

static const char *quoted(struct slice text)
{
    static struct buf out = BUF_INIT(65536);

    buf_release(&out);
    quote_append(&out, text);
    return buf_text(&out);
}

static void plain_text_stays(void **state)
{
    (void)state;
    assert_string_equal(quoted(SLICE("")), "");
    assert_string_equal(quoted(SLICE("a /b~")), "a /b~");
    assert_string_equal(quoted(SLICE("\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80")),
                        "\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80");
    quoted(SLICE(""));
}

static void escapes(void **state)
{
    (void)state;
    assert_string_equal(quoted(SLICE("\"\\")), "\\\"\\\\");
    assert_string_equal(quoted(SLICE("a\nb\tc\x1f\x7f")), "a\\nb\\u0009c\\u001f\\u007f");
    assert_string_equal(quoted(SLICE("\xc2\x80\xc2\x9f\xc2\xa0")), "\\u0080\\u009f\xc2\xa0");
    assert_string_equal(quoted(SLICE("a\0b")), "a\\u0000b");
    quoted(SLICE(""));
}

static void no_utf8(void **state)
{
    (void)state;
    assert_string_equal(quoted(SLICE("\xff")), "\\ufffd");
    assert_string_equal(quoted(SLICE("a\xc3")), "a\\ufffd");
    assert_string_equal(quoted(SLICE("\xe2\x82z")), "\\ufffd\\ufffdz");
    assert_string_equal(quoted(SLICE("\xed\xa0\x80")), "\\ufffd\\ufffd\\ufffd");
    quoted(SLICE(""));
}

/* Every character below U+3000 comes back as it was. */
static void read_back(void **state)
{
    (void)state;
    for (unsigned code = 1; code < 0x3000; code++) {
        char text[8], whole[64];
        json_t *made = json_sprintf("\"\\u%04x\"", code);
        json_t *character = json_loads(json_string_value(made), JSON_DECODE_ANY, NULL);
        snprintf(text, sizeof(text), "%s", json_string_value(character));
        snprintf(whole, sizeof(whole), "\"%s\"", quoted(slice_from(text)));
        json_t *back = json_loads(whole, JSON_DECODE_ANY, NULL);
        assert_non_null(back);
        assert_string_equal(json_string_value(back), text);
        json_decref(back);
        json_decref(character);
        json_decref(made);
    }
    quoted(SLICE(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_stays),
        cmocka_unit_test(escapes),
        cmocka_unit_test(no_utf8),
        cmocka_unit_test(read_back),
    };

    return cmocka_run_group_tests_name("quote", tests, NULL, NULL);
}
