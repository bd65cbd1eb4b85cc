/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

#include "gateway/core/metrics.h"

enum { PAGE_BYTES = 64 * 1024 * 1024 };

static int forget(void **state)
{
    (void)state;
    metrics_free();
    return 0;
}

static struct buf write_page(void)
{
    struct buf page = BUF_INIT(PAGE_BYTES);

    metrics_write(&page);
    assert_false(page.overflow);
    return page;
}

static size_t count_of(const struct buf *page, const char *text)
{
    size_t count = 0;

    for (const char *at = strstr(buf_text(page), text); at; at = strstr(at + 1, text))
        count++;
    return count;
}

static void assert_line(const struct buf *page, const char *line)
{
    char whole[512];

    snprintf(whole, sizeof(whole), "\n%s\n", line);
    if (count_of(page, whole) != 1)
        fail_msg("%zu times: %s", count_of(page, whole), line);
}

static void test_counter(void **state)
{
    uint64_t *first = metrics_value(METRIC_WAKES, "relay", "relayed", NULL);

    (void)state;
    *first += 3;
    *metrics_value(METRIC_WAKES, "relay", "duplicate", NULL) += 1;
    *metrics_value(METRIC_RELAYS, "relay", "t", "accepted") = UINT64_MAX;
    *metrics_value(METRIC_STORE_UP, NULL, NULL, NULL) = 1;
    assert_ptr_equal(metrics_value(METRIC_WAKES, "relay", "relayed", NULL), first);
    assert_ptr_not_equal(metrics_value(METRIC_PROOFS, "relay", "relayed", NULL), first);

    struct buf page = write_page();
    assert_line(&page, "# TYPE wakegate_wakes_total counter");
    assert_line(&page, "wakegate_wakes_total{route=\"relay\",code=\"relayed\"} 3");
    assert_line(&page, "wakegate_wakes_total{route=\"relay\",code=\"duplicate\"} 1");
    assert_line(&page, "wakegate_deliveries_total{route=\"relay\",target=\"t\",outcome="
                       "\"accepted\"} 18446744073709551615");
    assert_line(&page, "# TYPE wakegate_store_up gauge");
    assert_line(&page, "wakegate_store_up 1");
    assert_line(&page, "wakegate_settle_retries_total 0"); /* there before the first event */
    buf_release(&page);
}

static void test_escapes(void **state)
{
    (void)state;
    *metrics_value(METRIC_WAKES, "a\"b\\c\nd", "", NULL) += 1;
    struct buf page = write_page();
    assert_line(&page, "wakegate_wakes_total{route=\"a\\\"b\\\\c\\nd\",code=\"\"} 1");
    buf_release(&page);
}

static void test_histogram(void **state)
{
    struct histogram *target = metrics_histogram(METRIC_TARGET_SECONDS, "relay", "t");

    (void)state;
    assert_ptr_equal(metrics_histogram(METRIC_TARGET_SECONDS, "relay", "t"), target);
    histogram_observe(target, 0);
    histogram_observe(target, 100); /* the bound belongs to its bucket */
    histogram_observe(target, 101);
    histogram_observe(target, 30000000);
    histogram_observe(target, 30000001);

    struct buf page = write_page();
#define NAME "wakegate_delivery_duration_seconds"
    assert_line(&page, "# TYPE " NAME " histogram");
    assert_line(&page, NAME "_bucket{route=\"relay\",target=\"t\",le=\"0.0001\"} 2");
    assert_line(&page, NAME "_bucket{route=\"relay\",target=\"t\",le=\"0.00025\"} 3");
    assert_line(&page, NAME "_bucket{route=\"relay\",target=\"t\",le=\"10\"} 3");
    assert_line(&page, NAME "_bucket{route=\"relay\",target=\"t\",le=\"30\"} 4");
    assert_line(&page, NAME "_bucket{route=\"relay\",target=\"t\",le=\"+Inf\"} 5");
    assert_line(&page, NAME "_sum{route=\"relay\",target=\"t\"} 60.000202");
    assert_line(&page, NAME "_count{route=\"relay\",target=\"t\"} 5");
    assert_line(&page, "wakegate_wake_duration_seconds_bucket{le=\"+Inf\"} 0");
    assert_line(&page, "wakegate_wake_duration_seconds_sum 0.000000");
    buf_release(&page);
}

/* Every line is a comment about a family that was not named before, or a sample of the family named
 * last: that is what the text format asks for. */
static void test_format(void **state)
{
    struct slice rest, line, family = {0};
    size_t families = 0;

    (void)state;
    for (int i = METRIC_WAKES; i <= METRIC_PROOFS; i++)
        *metrics_value((enum metric)i, "r", "x", NULL) += 1;
    struct buf page = write_page();
    rest = buf_slice(&page);
    while (slice_cut(rest, '\n', &line, &rest)) {
        if (slice_starts(line, SLICE("# HELP "))) {
            struct slice help;
            assert_true(slice_cut(slice_from_at(line, 7), ' ', &family, &help));
            assert_true(help.len > 0);
            char twice[128];
            snprintf(twice, sizeof(twice), "# HELP %.*s ", SLICE_ARG(family));
            assert_int_equal(count_of(&page, twice), 1);
            families++;
            continue;
        }
        if (slice_starts(line, SLICE("# TYPE ")))
            line = slice_from_at(line, 7);
        assert_true(slice_starts(line, family));
    }
    assert_int_equal(rest.len, 0); /* the last line ends too */
    assert_int_equal(families, METRIC_COUNT);
    buf_release(&page);
}

static void test_many_series(void **state)
{
    enum { SERIES = 20000 };
    const struct slice start = SLICE("wakegate_deliveries_total{route=\"r");
    const struct slice end = SLICE(",target=\"t\",outcome=\"accepted\"} 2");
    struct slice line, rest;
    uint64_t next = 0;
    char name[16];

    (void)state;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < SERIES; i++) {
            snprintf(name, sizeof(name), "r%05d", i * 7919 % SERIES);
            *metrics_value(METRIC_RELAYS, name, "t", "accepted") += 1;
        }
    struct buf page = write_page();
    rest = buf_slice(&page);
    while (slice_cut(rest, '\n', &line, &rest)) {
        uint64_t number = 0;
        if (!slice_starts(line, start))
            continue;
        assert_true(slice_ends(line, end));
        assert_true(slice_number(slice_first(slice_from_at(line, start.len), 5), &number));
        assert_true(number == next++); /* sorted */
    }
    assert_int_equal(next, SERIES);
    buf_release(&page);
}

static void test_page_too_small(void **state)
{
    struct buf page = BUF_INIT(100);

    (void)state;
    metrics_write(&page);
    assert_true(page.overflow);
    buf_release(&page);
}

#define METRICS_TEST(name) cmocka_unit_test_teardown(name, forget)

int main(void)
{
    const struct CMUnitTest tests[] = {
        METRICS_TEST(test_counter),     METRICS_TEST(test_escapes),
        METRICS_TEST(test_histogram),   METRICS_TEST(test_format),
        METRICS_TEST(test_many_series), METRICS_TEST(test_page_too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
