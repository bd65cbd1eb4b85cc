/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <string.h>

#include "gateway/core/codec.h"

static void test_hex(void **state)
{
    unsigned char bytes[3] = {9, 9, 9};
    char text[7];

    (void)state;
    assert_true(hex_decode(SLICE("00fFa1"), bytes, 3));
    assert_memory_equal(bytes, "\x00\xff\xa1", 3);
    hex_encode(bytes, 3, text);
    assert_string_equal(text, "00ffa1");
    hex_encode(bytes, 0, text);
    assert_string_equal(text, "");
}

static void test_hex_refusals(void **state)
{
    const char *const wrong[] = {"", "00fFa", "00fFa1b2", "00fFag", "0x00ff", "00 fa1", "-00fa1"};
    unsigned char bytes[3] = {9, 9, 9};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(hex_decode(slice_from(wrong[i]), bytes, 3));
    assert_false(hex_decode((struct slice){"00\0fa1", 6}, bytes, 3));
    assert_memory_equal(bytes, "\x09\x09\x09", 3);
    assert_true(hex_decode(SLICE(""), bytes, 0));
}

/* RFC 4648, section 10. */
static void test_base64(void **state)
{
    const char *const pairs[][2] = {{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foob", "Zm9vYg=="},
                                    {"fooba", "Zm9vYmE="},
                                    {"\xfb\xff", "+/8="},
                                    {"foobar", "Zm9vYmFy"}};

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        unsigned char bytes[6];
        char text[BASE64_SIZE(6)];
        size_t len = 99, plain = strlen(pairs[i][0]);

        base64_encode((const unsigned char *)pairs[i][0], plain, text);
        assert_string_equal(text, pairs[i][1]);
        assert_int_equal(strlen(text) + 1, BASE64_SIZE(plain));
        assert_true(base64_decode(slice_from(text), bytes, plain, &len)); /* just fits */
        assert_int_equal(len, plain);
        assert_memory_equal(bytes, pairs[i][0], plain);
        if (plain > 0)
            assert_false(base64_decode(slice_from(text), bytes, plain - 1, &len));
    }
}

static void test_base64_every_byte(void **state)
{
    unsigned char bytes[256], back[256];
    char text[BASE64_SIZE(256)];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)i;
    for (size_t len = 0; len <= sizeof(bytes); len++) {
        size_t found = 0;
        base64_encode(bytes + sizeof(bytes) - len, len, text);
        assert_true(base64_decode(slice_from(text), back, sizeof(back), &found));
        assert_int_equal(found, len);
        assert_memory_equal(back, bytes + sizeof(bytes) - len, len);
    }
}

static void test_base64_refusals(void **state)
{
    const char *const wrong[] = {
        "Zg",       "Zg=",      "Zm9",    "Zm9vY", "=",        "==",         "====",     "Z===",
        "Zg==Zg==", "Zm=v",     "Zm9v\n", " Zm9v", "Zm9v    ", "Zm9-",       "Zm9_",     "Zh==",
        "Zm9=",     "Zm9vY===", "A=A=",   "=AAA",  "AAAA====", "\xc3\xa9==", "Zm9v====",
    };
    unsigned char bytes[64];
    size_t len = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (base64_decode(slice_from(wrong[i]), bytes, sizeof(bytes), &len))
            fail_msg("took \"%s\"", wrong[i]);
    assert_false(base64_decode((struct slice){"Zm\0v", 4}, bytes, sizeof(bytes), &len));
    assert_int_equal(len, 7); /* untouched by failures */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hex),
        cmocka_unit_test(test_hex_refusals),
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_base64_every_byte),
        cmocka_unit_test(test_base64_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
