/* SPDX-License-Identifier: Apache-2.0 */
/* What the doctor judges without looking; what it looks at is in tests/e2e/doctor.test.mjs. */
#include "tests/check.h"

#include <string.h>

#include "gateway/doctor/checks.h"

#define SECOND INT64_C(1000)
#define DAY    (24 * 3600 * SECOND)

static void test_clock(void **state)
{
    (void)state;
    assert_int_equal(clock_level(0, 300 * SECOND), LEVEL_OK);
    assert_int_equal(clock_level(-10 * SECOND, 300 * SECOND), LEVEL_OK);
    assert_int_equal(clock_level(10 * SECOND + 1, 300 * SECOND), LEVEL_WARNING);
    assert_int_equal(clock_level(-299 * SECOND, 300 * SECOND), LEVEL_WARNING);
    assert_int_equal(clock_level(300 * SECOND, 300 * SECOND), LEVEL_PROBLEM);
    assert_int_equal(clock_level(-300 * SECOND, 300 * SECOND), LEVEL_PROBLEM);
    assert_int_equal(clock_level(2 * SECOND, SECOND), LEVEL_PROBLEM); /* a strict route */
}

static bool date_of(const char *answer, int64_t *ms)
{
    *ms = -1;
    return clock_date(slice_from(answer), ms);
}

static void test_date(void **state)
{
    int64_t ms;

    (void)state;
    assert_true(
        date_of("HTTP/1.1 200 OK\r\nX: y\r\nDate: Thu, 01 Jan 1970 00:00:07 GMT\r\n\r\n", &ms));
    assert_int_equal(ms, 7 * SECOND);
    assert_true(date_of("HTTP/1.1 200 OK\ndate:Thu, 01 Jan 1970 00:00:07 GMT\n\n", &ms));
    assert_false(date_of("HTTP/1.1 200 OK\r\nDate: yesterday\r\n\r\n", &ms));
    assert_false(date_of("HTTP/1.1 200 OK\r\n\r\nDate: Thu, 01 Jan 1970 00:00:07 GMT\r\n", &ms));
    assert_false(date_of("HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:07 GMT", &ms)); /* cut */
    assert_false(date_of("", &ms));
}

static void test_certificate(void **state)
{
    (void)state;
    assert_int_equal(certificate_level(100 * DAY, 50 * DAY), LEVEL_OK);
    assert_int_equal(certificate_level(100 * DAY, 86 * DAY), LEVEL_OK);
    assert_int_equal(certificate_level(100 * DAY, 86 * DAY + 1), LEVEL_WARNING);
    assert_int_equal(certificate_level(100 * DAY, 100 * DAY), LEVEL_PROBLEM);
}

static void test_room(void **state)
{
    (void)state;
    assert_int_equal(room_level(UINT64_MAX), LEVEL_OK);
    assert_int_equal(room_level(99 << 20), LEVEL_WARNING);
    assert_int_equal(room_level(4 << 20), LEVEL_PROBLEM);
    assert_int_equal(room_level(0), LEVEL_PROBLEM);
}

static void test_file(void **state)
{
    (void)state;
    assert_null(file_fault(S_IFREG | 0600, true));
    assert_null(file_fault(S_IFREG | 0440, true));
    assert_null(file_fault(S_IFREG | 0644, false));
    assert_non_null(strstr(file_fault(S_IFREG | 0644, true), "read by everybody"));
    assert_non_null(strstr(file_fault(S_IFREG | 0602, true), "written by everybody"));
    assert_non_null(strstr(file_fault(S_IFREG | 0646, false), "written by everybody"));
}

static void test_findings(void **state)
{
    static const char *const checks[] = {"b", "a", NULL};
    struct findings findings = {0};

    (void)state;
    findings_add(&findings, LEVEL_OK, "a", "", "all is well");
    findings_add(&findings, LEVEL_PROBLEM, "b", "x\ny", "%s is broken; mend it; or not", "z\x1b");
    findings_add(&findings, LEVEL_WARNING, "b", "", "\xff; y");
    assert_int_equal(findings.counts[LEVEL_PROBLEM], 1);
    json_t *json = findings_json(&findings, checks);
    json_t *expected = json_pack("{s:i, s:i, s:[{s:s, s:s, s:s, s:s, s:s}, {s:s, s:s, s:s},"
                                 " {s:s, s:s, s:s}]}",
                                 "problems", 1, "warnings", 1, "findings", "level", "problem",
                                 "check", "b", "about", "x?y", "text", "z? is broken", "advice",
                                 "mend it; or not", "level", "warning", "check", "b", "advice", "y",
                                 "level", "ok", "check", "a", "text", "all is well");
    assert_non_null(expected);
    assert_true(json_equal(json, expected));
    json_decref(json);
    json_decref(expected);
    findings_release(&findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock),       cmocka_unit_test(test_date),
        cmocka_unit_test(test_certificate), cmocka_unit_test(test_room),
        cmocka_unit_test(test_file),        cmocka_unit_test(test_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
