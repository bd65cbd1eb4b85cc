/* SPDX-License-Identifier: Apache-2.0 */
/* The journal on a desk that keeps threads in memory and answers as the test says. */
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/metrics.h"
#include "gateway/store/journal.h"
#include "tests/fakes/thread_desk.h"

struct bench {
    uv_loop_t loop;
    struct turn turn;
    struct thread_desk desk;
    struct journal *journal;
    bool closed;
};

static int set_up(void **state)
{
    static struct bench bench;
    const struct journal_settings settings = {.on = true, .kept = 100, .kept_ms = 60000};

    bench = (struct bench){.closed = false};
    uv_loop_init(&bench.loop);
    turn_open(&bench.turn, &bench.loop);
    desk_open(&bench.desk, &bench.turn);
    bench.journal = journal_open(&bench.desk.store, &settings, &bench.turn);
    assert_non_null(bench.journal);
    *state = &bench;
    return 0;
}

static void on_closed(void *context)
{
    ((struct bench *)context)->closed = true;
}

static void shut(struct bench *bench)
{
    journal_close(bench->journal, on_closed, bench);
    while (!bench->closed)
        uv_run(&bench->loop, UV_RUN_ONCE);
}

static int tear_down(void **state)
{
    struct bench *bench = *state;

    if (!bench->closed)
        shut(bench);
    turn_close(&bench->turn);
    uv_run(&bench->loop, UV_RUN_DEFAULT);
    desk_release(&bench->desk);
    metrics_free();
    return uv_loop_close(&bench->loop);
}

static void add(struct bench *bench, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        struct buf line = BUF_INIT(64);
        buf_appendf(&line, "%d", i);
        journal_add(bench->journal, &line);
        assert_null(line.data);
    }
}

static void until_asked(struct bench *bench, unsigned appends)
{
    while (bench->desk.asked[THREADS_APPEND] < appends)
        uv_run(&bench->loop, UV_RUN_ONCE);
}

static void turn_a_few_times(struct bench *bench)
{
    for (int i = 0; i < 5; i++)
        uv_run(&bench->loop, UV_RUN_NOWAIT);
}

/* What the desk has is 0, 1, 2 ... */
static void expect_lines(const struct bench *bench, size_t count)
{
    char expected[16];

    assert_int_equal(bench->desk.entry_count, count);
    for (size_t i = 0; i < count; i++) {
        snprintf(expected, sizeof(expected), "%zu", i);
        assert_string_equal(bench->desk.entries[i], expected);
    }
}

static uint64_t dropped(void)
{
    return *metrics_value(METRIC_JOURNAL_DROPPED, NULL, NULL, NULL);
}

static void lines_go_together(void **state)
{
    struct bench *bench = *state;

    add(bench, 0, 5);
    turn_a_few_times(bench);
    assert_int_equal(bench->desk.asked[THREADS_APPEND], 0); /* more may come */
    add(bench, 5, 5);
    until_asked(bench, 1);
    turn_a_few_times(bench);
    expect_lines(bench, 10);
    assert_int_equal(bench->desk.asked[THREADS_APPEND], 1);
}

static void many_do_not_wait(void **state)
{
    struct bench *bench = *state;

    add(bench, 0, 2 * THREADS_ENTRIES);
    turn_a_few_times(bench);
    expect_lines(bench, 2 * THREADS_ENTRIES);
    assert_int_equal(bench->desk.asked[THREADS_APPEND], 2);
}

static void one_operation_at_a_time(void **state)
{
    struct bench *bench = *state;

    bench->desk.keep_back[THREADS_APPEND] = true;
    add(bench, 0, 3 * THREADS_ENTRIES);
    turn_a_few_times(bench);
    assert_int_equal(bench->desk.asked[THREADS_APPEND], 1);
    desk_answer(&bench->desk, THREADS_APPEND);
    turn_a_few_times(bench);
    expect_lines(bench, 3 * THREADS_ENTRIES);
}

static void refused_lines_are_written_later(void **state)
{
    struct bench *bench = *state;

    bench->desk.how[THREADS_APPEND] = INSTEAD;
    bench->desk.answer[THREADS_APPEND] = THREADS_DOWN;
    add(bench, 0, 3);
    until_asked(bench, 1);
    turn_a_few_times(bench);
    add(bench, 3, 1);
    until_asked(bench, 2);
    turn_a_few_times(bench);
    expect_lines(bench, 4);
    assert_int_equal(dropped(), 0);
}

static void unclear_lines_are_not_written_twice(void **state)
{
    struct bench *bench = *state;

    bench->desk.how[THREADS_APPEND] = AFTER_DOING;
    bench->desk.answer[THREADS_APPEND] = THREADS_UNSURE;
    add(bench, 0, 3);
    until_asked(bench, 1);
    turn_a_few_times(bench);
    add(bench, 3, 1);
    until_asked(bench, 2);
    turn_a_few_times(bench);
    expect_lines(bench, 4);
    assert_int_equal(dropped(), 3);
}

/* And a store that says no is not waited for at the end. */
static void what_does_not_fit_is_dropped(void **state)
{
    enum { QUEUE = 8192, MORE = 10 };
    struct bench *bench = *state;

    bench->desk.keep_back[THREADS_APPEND] = true;
    add(bench, 0, QUEUE + MORE);
    assert_int_equal(dropped(), MORE);
    turn_a_few_times(bench);
    bench->desk.how[THREADS_APPEND] = INSTEAD;
    bench->desk.answer[THREADS_APPEND] = THREADS_DOWN;
    journal_close(bench->journal, on_closed, bench);
    desk_answer(&bench->desk, THREADS_APPEND);
    while (!bench->closed)
        uv_run(&bench->loop, UV_RUN_ONCE);
    assert_int_equal(dropped(), QUEUE + MORE);
    expect_lines(bench, 0);
}

static void closing_writes_what_is_left(void **state)
{
    struct bench *bench = *state;

    bench->desk.keep_back[THREADS_APPEND] = true;
    add(bench, 0, THREADS_ENTRIES + 7);
    journal_close(bench->journal, on_closed, bench);
    turn_a_few_times(bench);
    assert_false(bench->closed);
    desk_answer(&bench->desk, THREADS_APPEND);
    while (!bench->closed)
        uv_run(&bench->loop, UV_RUN_ONCE);
    expect_lines(bench, THREADS_ENTRIES + 7);
    assert_int_equal(dropped(), 0);
}

static void off(void **state)
{
    struct bench *bench = *state;
    const struct journal_settings settings = {.on = false};
    struct bench other = {.closed = false};

    assert_null(journal_open(&bench->desk.store, &settings, &bench->turn));
    journal_close(NULL, on_closed, &other);
    assert_true(other.closed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_go_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_do_not_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_operation_at_a_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refused_lines_are_written_later, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unclear_lines_are_not_written_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(closing_writes_what_is_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(off, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
