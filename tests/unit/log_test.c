/* SPDX-License-Identifier: Apache-2.0 */
/* Standard error is a pipe here, so the tests see what a reader of the log sees. */
#include "tests/check.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/core/buf.h"
#include "gateway/core/clock.h"
#include "gateway/core/log.h"
#include "gateway/core/metrics.h"

enum { MOST_READ = 8 * 1024 * 1024 };

struct capture {
    int real, reader;
    struct buf text;
    uv_loop_t loop;
    uv_timer_t alive; /* a loop without a handle would not turn */
    struct turn turn;
};

static void on_alive(uv_timer_t *timer)
{
    (void)timer;
}

static void open_pipe(struct capture *c)
{
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, PIPE_BUF) >= PIPE_BUF);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    c->reader = ends[0];
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    close(ends[1]);
}

static int begin_capture(void **state)
{
    struct capture *c = mem_new(sizeof(*c));

    c->text = (struct buf)BUF_INIT(MOST_READ);
    c->real = dup(STDERR_FILENO);
    open_pipe(c);
    uv_loop_init(&c->loop);
    uv_timer_init(&c->loop, &c->alive);
    uv_timer_start(&c->alive, on_alive, 3600 * 1000, 0);
    turn_open(&c->turn, &c->loop);
    *state = c;
    return 0;
}

static int end_capture(void **state)
{
    struct capture *c = *state;

    log_close();
    log_set_level(LOG_INFO);
    dup2(c->real, STDERR_FILENO);
    close(c->real);
    close(c->reader);
    turn_close(&c->turn);
    uv_close((uv_handle_t *)&c->alive, NULL);
    uv_run(&c->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&c->loop), 0);
    buf_release(&c->text);
    free(c);
    metrics_free();
    return 0;
}

/* Adds what is in the pipe to c->text. */
static size_t read_pipe(struct capture *c)
{
    char *room = buf_reserve(&c->text, 65536);

    assert_non_null(room);
    ssize_t len = read(c->reader, room, 65536);
    if (len <= 0)
        return 0;
    c->text.len += (size_t)len;
    return (size_t)len;
}

/* The first line that was read and not looked at, as JSON; NULL: there is none. */
static json_t *next_line(struct capture *c)
{
    struct slice line, rest;

    read_pipe(c);
    if (!slice_cut(buf_slice(&c->text), '\n', &line, &rest))
        return NULL;
    json_t *object = json_loadb(line.data, line.len, JSON_REJECT_DUPLICATES, NULL);
    if (!object)
        fail_msg("no JSON: %.*s", SLICE_ARG(line));
    assert_true(line.len < PIPE_BUF);
    buf_consume(&c->text, line.len + 1);
    return object;
}

static void assert_field(json_t *line, const char *key, const char *expected)
{
    const char *value = json_string_value(json_object_get(line, key));

    assert_non_null(value);
    assert_string_equal(value, expected);
}

static uint64_t dropped(void)
{
    return *metrics_value(METRIC_LOG_DROPPED, NULL, NULL, NULL);
}

static void test_line(void **state)
{
    int64_t before = clock_wall_ms(), ts = 0;

    log_begin(LOG_WARN, "wake");
    log_str("route", SLICE("relay"));
    log_str("empty", SLICE(""));
    log_text("none", NULL);
    log_num("status", 200);
    log_num("least", INT64_MIN);
    log_end();
    json_t *line = next_line(*state);
    assert_non_null(line);
    assert_field(line, "level", "warn");
    assert_field(line, "event", "wake");
    assert_field(line, "route", "relay");
    assert_null(json_object_get(line, "empty"));
    assert_null(json_object_get(line, "none"));
    assert_true(json_integer_value(json_object_get(line, "status")) == 200);
    assert_true(json_integer_value(json_object_get(line, "least")) == INT64_MIN);
    assert_true(clock_parse_iso(slice_from(json_string_value(json_object_get(line, "ts"))), &ts));
    assert_true(ts >= before && ts <= clock_wall_ms());
    json_decref(line);
    assert_null(next_line(*state));
}

static void test_escapes(void **state)
{
    struct capture *c = *state;

    log_begin(LOG_INFO, "e");
    log_str("quotes", SLICE("a\"b\\c"));
    log_str("controls", SLICE("\n\r\t\0\x1b[31m\x7f\xc2\x9b"));
    log_str("utf8", SLICE("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
    log_str("broken", SLICE("a\xff\xc3(\xe2\x82\xed\xa0\x80"));
    log_end();
    read_pipe(c);
    for (size_t i = 0; i + 1 < c->text.len; i++)
        assert_true((unsigned char)c->text.data[i] >= 0x20 && c->text.data[i] != 0x7f);
    assert_null(memmem(c->text.data, c->text.len, "\xc2\x9b", 2));
    json_t *line = json_loadb(c->text.data, c->text.len, JSON_ALLOW_NUL, NULL);
    assert_non_null(line);
    assert_field(line, "quotes", "a\"b\\c");
    assert_field(line, "utf8", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    json_t *controls = json_object_get(line, "controls");
    assert_int_equal(json_string_length(controls), 12);
    assert_memory_equal(json_string_value(controls), "\n\r\t\0\x1b[31m\x7f\xc2\x9b", 12);
#define BAD "\xef\xbf\xbd"
    assert_field(line, "broken", "a" BAD BAD "(" BAD BAD BAD BAD BAD);
    json_decref(line);
}

static void test_level(void **state)
{
    log_note(LOG_DEBUG, "quiet", "%d", 1);
    assert_null(next_line(*state));
    log_set_level(LOG_ERROR);
    log_note(LOG_WARN, "quiet", "%d", 1);
    log_begin(LOG_INFO, "quiet");
    log_num("n", 1);
    log_end();
    assert_null(next_line(*state));
    log_note(LOG_ERROR, "loud", "%d of %s", 1, "them");
    json_t *line = next_line(*state);
    assert_field(line, "event", "loud");
    assert_field(line, "text", "1 of them");
    json_decref(line);
    for (int i = LOG_DEBUG; i <= LOG_ERROR; i++)
        assert_non_null(log_levels[i]);
    assert_null(log_levels[LOG_ERROR + 1]);
}

static void test_long_values(void **state)
{
    char many[2000];

    memset(many, '\x01', sizeof(many)); /* six bytes each, escaped */
    log_begin(LOG_INFO, "long");
    log_str("first", (struct slice){many, sizeof(many)});
    log_str("second", (struct slice){many, sizeof(many)}); /* would pass the line's limit */
    log_str("third", SLICE("short"));
    log_num("fourth", 4);
    log_end();
    json_t *line = next_line(*state);
    const char *first = json_string_value(json_object_get(line, "first"));
    assert_int_equal(strlen(first), 512 + 3);
    assert_string_equal(first + 512, "...");
    assert_null(json_object_get(line, "second"));
    assert_field(line, "third", "short");
    assert_non_null(json_object_get(line, "fourth"));
    json_decref(line);
}

static void test_turn(void **state)
{
    struct capture *c = *state;

    log_open(LOG_INFO, &c->turn);
    log_note(LOG_INFO, "first", "x");
    log_note(LOG_INFO, "second", "x");
    assert_null(next_line(c)); /* not before the turn's end */
    uv_run(&c->loop, UV_RUN_NOWAIT);
    json_t *first = next_line(c), *second = next_line(c);
    assert_field(first, "event", "first");
    assert_field(second, "event", "second");
    json_decref(first);
    json_decref(second);
    assert_null(next_line(c));

    log_note(LOG_INFO, "left", "x");
    log_close();
    json_t *left = next_line(c);
    assert_field(left, "event", "left");
    json_decref(left);
    log_note(LOG_INFO, "late", "x"); /* at once again */
    json_t *late = next_line(c);
    assert_field(late, "event", "late");
    json_decref(late);
}

/* Nothing is lost without being counted, and nobody waits. */
static void test_blocked_reader(void **state)
{
    enum { LINES = 10000 };
    struct capture *c = *state;
    uint64_t seen = 0, reported = 0;
    int64_t last = -1;

    log_open(LOG_INFO, &c->turn);
    for (int i = 0; i < LINES; i++) {
        log_begin(LOG_INFO, "n");
        log_num("i", i);
        log_end();
        if (i % 100 == 0)
            uv_run(&c->loop, UV_RUN_NOWAIT); /* would hang here if a write blocked */
    }
    assert_true(dropped() > 0);
    for (int quiet = 0; quiet < 3; quiet++) { /* a reader that woke up */
        uv_run(&c->loop, UV_RUN_NOWAIT);
        for (json_t *line = next_line(c); line; line = next_line(c)) {
            json_t *i = json_object_get(line, "i");
            if (i) {
                assert_true(json_integer_value(i) > last); /* in order */
                last = json_integer_value(i);
                seen++;
            } else {
                assert_field(line, "event", "log_dropped");
                reported += (uint64_t)json_integer_value(json_object_get(line, "lines"));
            }
            json_decref(line);
            quiet = 0;
            uv_run(&c->loop, UV_RUN_NOWAIT);
        }
    }
    assert_int_equal(seen + reported, LINES);
    assert_int_equal(reported, dropped());
}

/* A process that ends waits a moment for the reader, not for ever. */
static void test_close_gives_up(void **state)
{
    struct capture *c = *state;

    log_open(LOG_INFO, &c->turn);
    for (int i = 0; i < 1000; i++)
        log_note(LOG_INFO, "n", "%d", i);
    log_close();
    uint64_t lost = dropped();
    assert_true(lost > 0 && lost < 1000);
    while (read_pipe(c) > 0)
        continue;
    buf_clear(&c->text);
    log_note(LOG_INFO, "after", "x");
    json_t *report = next_line(c), *after = next_line(c);
    assert_field(report, "event", "log_dropped");
    assert_int_equal(json_integer_value(json_object_get(report, "lines")), lost);
    assert_field(after, "event", "after");
    json_decref(report);
    json_decref(after);
}

static void test_no_reader(void **state)
{
    struct capture *c = *state;

    close(c->reader);
    log_note(LOG_INFO, "n", "x"); /* SIGPIPE would end the test here */
    assert_int_equal(dropped(), 1);
    log_open(LOG_INFO, &c->turn);
    log_note(LOG_INFO, "n", "x");
    uv_run(&c->loop, UV_RUN_NOWAIT);
    assert_int_equal(dropped(), 2);
    log_close();
    open_pipe(c);
    log_note(LOG_INFO, "again", "x");
    json_t *line = next_line(c);
    assert_field(line, "event", "again");
    json_decref(line);
}

#define LOG_TEST(name) cmocka_unit_test_setup_teardown(name, begin_capture, end_capture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(test_line),           LOG_TEST(test_escapes),   LOG_TEST(test_level),
        LOG_TEST(test_long_values),    LOG_TEST(test_turn),      LOG_TEST(test_blocked_reader),
        LOG_TEST(test_close_gives_up), LOG_TEST(test_no_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
