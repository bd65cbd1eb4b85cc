/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include "gateway/core/limits.h"
#include "gateway/core/retry_after.h"

enum { MOST_MS = LIMIT_RETRY_AFTER_S * 1000 };

#define NOW INT64_C(784111777000) /* Sun, 06 Nov 1994 08:49:37 GMT */

static void test_parse(void **state)
{
    const struct {
        const char *value;
        int64_t ms;
    } cases[] = {
        {"0", 0},
        {"1", 1000},
        {"120", 120000},
        {" 120\t", 120000},
        {"007", 7000},
        {"3599", 3599000},
        {"3600", MOST_MS},
        {"3601", MOST_MS},
        {"86400", MOST_MS},
        {"18446744073709551615", MOST_MS},
        {"18446744073709551616", MOST_MS},
        {"99999999999999999999999999999999", MOST_MS},
        {"0.1", 1000},
        {"1.0", 1000},
        {"1.5", 2000},
        {"3599.00001", MOST_MS},
        {"99999999999999999999.5", MOST_MS},
        {"", 0},
        {"   ", 0},
        {"-1", 0},
        {"-99999999999999999999", 0},
        {"-0.5", 0},
        {"+5", 0},
        {".5", 0},
        {"5.", 0},
        {"1.5.2", 0},
        {"1,5", 0},
        {"1e3", 0},
        {"0x10", 0},
        {"NaN", 0},
        {"Infinity", 0},
        {"5 s", 0},
        {"120, 120", 0},
        {"soon", 0},
        {"Sun, 06 Nov 1994 08:49:37 GMT", 0},
        {"Sun, 06 Nov 1994 08:49:36 GMT", 0},
        {"Sun, 06 Nov 1994 08:50:07 GMT", 30000},
        {"Sunday, 06-Nov-94 08:50:07 GMT", 30000},
        {"Sun Nov  6 08:50:07 1994", 30000},
        {"Sun, 06 Nov 1994 09:49:37 GMT", MOST_MS},
        {"Mon, 07 Nov 1994 08:49:37 GMT", MOST_MS},
        {"Fri, 31 Dec 9999 23:59:59 GMT", MOST_MS},
        {"Sat, 01 Jan 0000 00:00:00 GMT", 0},
        {"Sun, 06 Nov 1994 08:50:07 PST", 0},
        {"1994-11-06T08:50:07Z", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ms = retry_after_parse(slice_from(cases[i].value), NOW);
        if (ms != cases[i].ms)
            fail_msg("\"%s\" gave %lld", cases[i].value, (long long)ms);
    }
}

static void test_odd_clocks(void **state)
{
    const struct slice date = SLICE("Sun, 06 Nov 1994 08:49:37 GMT");

    (void)state;
    assert_int_equal(retry_after_parse(date, NOW - 1), 1000); /* a fraction is rounded up */
    assert_int_equal(retry_after_parse(date, NOW - 1001), 2000);
    assert_int_equal(retry_after_parse(date, NOW - MOST_MS), MOST_MS);
    assert_int_equal(retry_after_parse(date, INT64_MIN), MOST_MS);
    assert_int_equal(retry_after_parse(date, INT64_MAX), 0);
    assert_int_equal(retry_after_parse((struct slice){"12\0", 3}, NOW), 0);
    assert_int_equal(retry_after_parse((struct slice){"12345", 2}, NOW), 12000);
}

static void test_seconds(void **state)
{
    (void)state;
    assert_int_equal(retry_after_seconds(INT64_MIN), 1);
    assert_int_equal(retry_after_seconds(0), 1);
    assert_int_equal(retry_after_seconds(1000), 1);
    assert_int_equal(retry_after_seconds(1001), 2);
    assert_int_equal(retry_after_seconds(240000), 240);
    assert_int_equal(retry_after_seconds(MOST_MS - 1), LIMIT_RETRY_AFTER_S);
    assert_int_equal(retry_after_seconds(INT64_MAX), LIMIT_RETRY_AFTER_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_odd_clocks),
        cmocka_unit_test(test_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
