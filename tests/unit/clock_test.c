/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <time.h>

#include "gateway/core/clock.h"

struct reading {
    const char *text;
    int64_t ms;
};

static void check_readings(const struct reading *readings, size_t count,
                           bool (*parse)(struct slice text, int64_t *wall_ms))
{
    for (size_t i = 0; i < count; i++) {
        int64_t ms = -1;
        if (!parse(slice_from(readings[i].text), &ms) || ms != readings[i].ms)
            fail_msg("\"%s\" gave %lld", readings[i].text, (long long)ms);
    }
}

static void check_refusals(const char *const *texts, size_t count,
                           bool (*parse)(struct slice text, int64_t *wall_ms))
{
    for (size_t i = 0; i < count; i++) {
        int64_t ms = -1;
        if (parse(slice_from(texts[i]), &ms) || ms != -1)
            fail_msg("took \"%s\"", texts[i]);
    }
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_iso(void **state)
{
    const struct reading readings[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-11-12T09:00:00.000Z", INT64_C(1794474000000)},
        {"2026-11-12t09:00:00z", INT64_C(1794474000000)},
        {"2026-11-12T10:30:00.5+01:30", INT64_C(1794474000500)},
        {"2026-11-11T21:00:00.123456789-12:00", INT64_C(1794474000123)},
        {"2026-11-12T09:00:00-00:00", INT64_C(1794474000000)},
        {"1996-12-19T16:39:57-08:00", INT64_C(851042397000)},
        {"2024-02-29T23:59:59.999Z", INT64_C(1709251199999)},
        {"2000-02-29T00:00:00Z", INT64_C(951782400000)},
        {"1969-12-31T23:59:59.999Z", -1},
        {"0000-01-01T00:00:00Z", INT64_C(-62167219200000)},
        {"9999-12-31T23:59:59Z", INT64_C(253402300799000)},
        {"1990-12-31T23:59:60Z", INT64_C(662688000000)},
        {"1990-12-31T15:59:60-08:00", INT64_C(662688000000)},
    };

    (void)state;
    check_readings(readings, COUNT(readings), clock_parse_iso);
}

static void test_iso_refusals(void **state)
{
    const char *const texts[] = {
        "",
        "2026-11-12",
        "2026-11-12T09:00:00",
        "2026-11-12 09:00:00Z",
        "2026-11-12T09:00Z",
        "2026-11-12T09:00:00.Z",
        "2026-11-12T09:00:00,5Z",
        "2026-11-12T09:00:00Z ",
        " 2026-11-12T09:00:00Z",
        "2026-11-12T09:00:00ZZ",
        "2026-11-12T09:00:00+1:00",
        "2026-11-12T09:00:00+0100",
        "2026-11-12T09:00:00+24:00",
        "2026-11-12T09:00:00+01:60",
        "2026-11-12T09:00:00+",
        "2026-13-12T09:00:00Z",
        "2026-00-12T09:00:00Z",
        "2026-11-31T09:00:00Z",
        "2026-11-00T09:00:00Z",
        "2025-02-29T09:00:00Z",
        "1900-02-29T09:00:00Z",
        "2026-11-12T24:00:00Z",
        "2026-11-12T09:60:00Z",
        "2026-11-12T09:00:61Z",
        "2026-11-12T09:00:60Z",
        "2026-11-12T23:59:60+01:00",
        "26-11-12T09:00:00Z",
        "+2026-11-12T09:00:00Z",
        "-026-11-12T09:00:00Z",
        "2026-1-12T09:00:00Z",
        "2026-11-12T9:00:00Z",
        "1794474000",
    };

    (void)state;
    check_refusals(texts, COUNT(texts), clock_parse_iso);
}

static void test_http_date(void **state)
{
    const struct reading readings[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", INT64_C(784111777000)},
        {"Sunday, 06-Nov-94 08:49:37 GMT", INT64_C(784111777000)},
        {"Sun Nov  6 08:49:37 1994", INT64_C(784111777000)},
        {"Thu Nov 12 09:00:00 2026", INT64_C(1794474000000)},
        {"Thursday, 12-Nov-26 09:00:00 GMT", INT64_C(1794474000000)},
        {"Sun, 01 Jan 2012 00:00:00 GMT", INT64_C(1325376000000)},
        {"Thu, 29 Feb 2024 00:00:00 GMT", INT64_C(1709164800000)},
        {"Sat, 31 Dec 2016 23:59:60 GMT", INT64_C(1483228800000)},
    };

    (void)state;
    check_readings(readings, COUNT(readings), clock_parse_http_date);
}

static void test_http_date_refusals(void **state)
{
    const char *const texts[] = {
        "",
        "Sun",
        "Sun, ",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT",
        "sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:60 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994",
        "Sun Nov  6 08:49:37 1994 GMT",
        "Foo, 06 Nov 1994 08:49:37 GMT",
        "1994-11-06T08:49:37Z",
    };

    (void)state;
    check_refusals(texts, COUNT(texts), clock_parse_http_date);
}

static void check_format(int64_t ms, const char *expected)
{
    char text[CLOCK_ISO_SIZE];

    clock_format_iso(ms, text);
    assert_string_equal(text, expected);
}

static void test_format(void **state)
{
    (void)state;
    check_format(0, "1970-01-01T00:00:00.000Z");
    check_format(-1, "1969-12-31T23:59:59.999Z");
    check_format(INT64_C(1794474000007), "2026-11-12T09:00:00.007Z");
    check_format(INT64_C(1709164800000), "2024-02-29T00:00:00.000Z");
    check_format(INT64_MAX, "9999-12-31T23:59:59.999Z");
    check_format(INT64_MIN, "0000-01-01T00:00:00.000Z");
}

/* Every day of 400 years and a bit, against the C library. */
static void test_every_day(void **state)
{
    (void)state;
    for (int64_t day = -100000; day < 100000; day++) {
        const time_t seconds = (time_t)(day * 86400 + 43210);
        char text[CLOCK_ISO_SIZE], expected[32], http[40];
        int64_t ms = -1, http_ms = -1;
        struct tm tm;

        gmtime_r(&seconds, &tm);
        strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S.000Z", &tm);
        strftime(http, sizeof(http), "%a, %d %b %Y %H:%M:%S GMT", &tm);
        clock_format_iso(seconds * INT64_C(1000), text);
        assert_string_equal(text, expected);
        assert_true(clock_parse_iso(slice_from(text), &ms));
        assert_true(ms == seconds * INT64_C(1000));
        assert_true(clock_parse_http_date(slice_from(http), &http_ms));
        assert_true(http_ms == ms);
    }
}

static void test_clocks(void **state)
{
    uint64_t before = clock_steady_us();

    (void)state;
    assert_true(clock_steady_us() >= before);
    assert_true(clock_wall_ms() > INT64_C(1700000000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_iso),       cmocka_unit_test(test_iso_refusals),
        cmocka_unit_test(test_http_date), cmocka_unit_test(test_http_date_refusals),
        cmocka_unit_test(test_format),    cmocka_unit_test(test_every_day),
        cmocka_unit_test(test_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
