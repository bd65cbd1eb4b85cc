/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include "gateway/core/slice.h"

static void test_number(void **state)
{
    uint64_t n = 7;

    (void)state;
    assert_true(slice_number(SLICE("18446744073709551615"), &n));
    assert_true(n == UINT64_MAX);
    assert_false(slice_number(SLICE("18446744073709551616"), &n));
    assert_false(slice_number(SLICE(""), &n));
    assert_false(slice_number(SLICE("+1"), &n));
    assert_false(slice_number(SLICE(" 1"), &n));
    assert_false(slice_number(SLICE("1a"), &n));
    assert_true(n == UINT64_MAX); /* untouched by failures */
}

static void test_cut(void **state)
{
    struct slice head, rest;

    (void)state;
    assert_true(slice_cut(SLICE("a=b=c"), '=', &head, &rest));
    assert_true(slice_eq(head, SLICE("a")));
    assert_true(slice_eq(rest, SLICE("b=c")));
    assert_false(slice_cut(SLICE("abc"), '=', &head, &rest));
    assert_true(slice_eq(head, SLICE("abc")));
    assert_int_equal(rest.len, 0);
    assert_false(slice_cut((struct slice){0}, '=', &head, &rest));
}

static void test_case(void **state)
{
    (void)state;
    assert_true(slice_eq_nocase(SLICE("X-Hub"), SLICE("x-hUB")));
    assert_false(slice_eq_nocase(SLICE("a"), SLICE("ab")));
    assert_false(slice_eq_nocase(SLICE("["), SLICE("{"))); /* only letters fold */
    assert_true(slice_starts_nocase(SLICE("BEARER x"), SLICE("bearer ")));
    assert_true(slice_ends(SLICE("hooks/wake"), SLICE("/wake")));
    assert_false(slice_ends(SLICE("ake"), SLICE("/wake")));
}

static void test_utf8(void **state)
{
    (void)state;
    assert_true(slice_is_utf8(SLICE("")));
    assert_true(slice_is_utf8(SLICE("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80")));
    assert_false(slice_is_utf8(SLICE("\xc0\xaf")));         /* overlong */
    assert_false(slice_is_utf8(SLICE("\xe0\x9f\xbf")));     /* overlong */
    assert_false(slice_is_utf8(SLICE("\xed\xa0\x80")));     /* a surrogate */
    assert_false(slice_is_utf8(SLICE("\xf4\x90\x80\x80"))); /* over U+10FFFF */
    assert_false(slice_is_utf8(SLICE("\xe2\x82")));         /* cut */
    assert_false(slice_is_utf8(SLICE("\x80")));
    assert_int_equal(slice_utf8_sequence(SLICE("\xe2\x82\xac\xff")), 3);
    assert_int_equal(slice_utf8_sequence(SLICE("\0")), 1);
    assert_int_equal(slice_utf8_sequence(SLICE("\xff\xe2")), 0);
    assert_int_equal(slice_utf8_sequence(slice_first(SLICE("\xc3\xa9"), 1)), 0);
    assert_int_equal(slice_utf8_sequence((struct slice){0}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_case),
        cmocka_unit_test(test_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
