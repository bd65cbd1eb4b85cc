/* SPDX-License-Identifier: Apache-2.0 */
/* settings: what a cursor reads, and what it says of what it cannot read. */
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/core/limits.h"
#include "gateway/core/nearest.h"
#include "gateway/core/settings.h"

struct bench {
    struct settings_report report;
    struct settings settings;
    json_t *root;
};

static void bench_open(struct bench *bench, const char *json)
{
    settings_report_init(&bench->report, "test.json");
    bench->root = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(bench->root);
    settings_begin(&bench->settings, &bench->report, "here", bench->root);
}

static void bench_close(struct bench *bench)
{
    json_decref(bench->root);
    settings_report_release(&bench->report);
}

static void expect_mistake(struct bench *bench, const char *line)
{
    assert_string_equal(buf_text(&bench->report.mistakes), line);
    buf_clear(&bench->report.mistakes);
}

static void expect_none(struct bench *bench)
{
    expect_mistake(bench, "");
    assert_int_equal(bench->report.mistake_count, 0);
}

static void expect_slice(struct slice slice, const char *text)
{
    assert_true(slice_eq(slice, slice_from(text)));
}

static void reads_what_stands_there(void **state)
{
    static const char *const names[] = {"red", "green", NULL};
    struct bench bench;

    (void)state;
    bench_open(&bench, "{\"s\": \"text\", \"n\": 7, \"b\": true, \"d\": \"4m\", \"c\": \"green\","
                       " \"name\": \"a-b_C9\", \"o\": {}, \"a\": []}");
    expect_slice(settings_string(&bench.settings, "s", "other"), "text");
    expect_slice(settings_required_string(&bench.settings, "s"), "text");
    assert_int_equal(settings_number(&bench.settings, "n", 1, 0, 9), 7);
    assert_true(settings_bool(&bench.settings, "b", false));
    assert_int_equal(settings_duration(&bench.settings, "d", 1, 0, 1000000), 240000);
    assert_int_equal(settings_choice(&bench.settings, "c", names, 0), 1);
    expect_slice(settings_name(&bench.settings, "name"), "a-b_C9");
    assert_non_null(settings_object(&bench.settings, "o"));
    assert_non_null(settings_array(&bench.settings, "a"));
    settings_end(&bench.settings);
    expect_none(&bench);
    bench_close(&bench);
}

static void gives_the_fallback_for_what_is_absent(void **state)
{
    static const char *const names[] = {"red", "green", NULL};
    struct bench bench;

    (void)state;
    bench_open(&bench, "{}");
    expect_slice(settings_string(&bench.settings, "s", "other"), "other");
    assert_int_equal(settings_number(&bench.settings, "n", 1, 0, 9), 1);
    assert_true(settings_bool(&bench.settings, "b", true));
    assert_int_equal(settings_duration(&bench.settings, "d", 5, 0, 10), 5);
    assert_int_equal(settings_choice(&bench.settings, "c", names, 1), 1);
    assert_int_equal(settings_name(&bench.settings, "name").len, 0);
    assert_null(settings_object(&bench.settings, "o"));
    assert_null(settings_array(&bench.settings, "a"));
    assert_false(settings_has(&bench.settings, "s"));
    settings_end(&bench.settings);
    expect_none(&bench);
    bench_close(&bench);
}

static void an_empty_cursor_reads_like_an_empty_object(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, "{\"inner\": []}");
    settings_begin(&bench.settings, &bench.report, "here.inner", NULL);
    assert_int_equal(settings_number(&bench.settings, "n", 3, 0, 9), 3);
    settings_end(&bench.settings);
    expect_none(&bench);
    settings_begin(&bench.settings, &bench.report, "here.inner",
                   json_object_get(bench.root, "inner"));
    expect_mistake(&bench, "test.json: here.inner: is not an object; write it in { }\n");
    assert_int_equal(settings_number(&bench.settings, "n", 3, 0, 9), 3);
    bench_close(&bench);
}

static void says_what_is_wrong_with_a_value(void **state)
{
    static const char *const names[] = {"debug", "info", "warn", NULL};
    struct bench bench;

    (void)state;
    bench_open(&bench, "{\"s\": 1, \"n\": \"7\", \"m\": 70, \"f\": 1.5, \"b\": \"yes\", \"o\": [],"
                       " \"a\": {}, \"c\": \"warm\", \"x\": \"purple\", \"name\": \"a b\","
                       " \"empty\": \"\", \"null\": null}");
    settings_string(&bench.settings, "s", "");
    expect_mistake(&bench,
                   "test.json: here.s: is a number, must be a string; write it in double quotes\n");
    assert_int_equal(settings_number(&bench.settings, "n", 5, 1, 100), 5);
    expect_mistake(&bench, "test.json: here.n: is a string, must be a whole number from 1 to 100; "
                           "write for example 5\n");
    assert_int_equal(settings_number(&bench.settings, "m", 5, 1, 10), 5);
    expect_mistake(&bench, "test.json: here.m: is 70, must be from 1 to 10; write for example 5\n");
    settings_number(&bench.settings, "f", 0, 1, 10);
    expect_mistake(&bench, "test.json: here.f: is a fraction, must be a whole number from 1 to 10; "
                           "write for example 1\n");
    assert_true(settings_bool(&bench.settings, "b", true));
    expect_mistake(
        &bench, "test.json: here.b: is a string, must be true or false; write it without quotes\n");
    settings_object(&bench.settings, "o");
    expect_mistake(&bench, "test.json: here.o: is an array, must be an object; write it in { }\n");
    settings_array(&bench.settings, "a");
    expect_mistake(&bench, "test.json: here.a: is an object, must be an array; write it in [ ]\n");
    assert_int_equal(settings_choice(&bench.settings, "c", names, 1), 1);
    expect_mistake(&bench, "test.json: here.c: is \"warm\"; did you mean \"warn\"?\n");
    settings_choice(&bench.settings, "x", names, 1);
    expect_mistake(
        &bench, "test.json: here.x: is \"purple\"; write one of \"debug\", \"info\", \"warn\"\n");
    assert_int_equal(settings_required_choice(&bench.settings, "x", names), 3);
    buf_clear(&bench.report.mistakes);
    assert_int_equal(settings_required_choice(&bench.settings, "y", names), 3);
    expect_mistake(&bench,
                   "test.json: here.y: is missing; write one of \"debug\", \"info\", \"warn\"\n");
    settings_name(&bench.settings, "name");
    expect_mistake(&bench, "test.json: here.name: is not a name; write 1 to 64 letters, digits, "
                           "\"-\" and \"_\"\n");
    settings_required_string(&bench.settings, "empty");
    expect_mistake(&bench, "test.json: here.empty: is empty; write something there\n");
    settings_required_string(&bench.settings, "absent");
    expect_mistake(&bench, "test.json: here.absent: is missing; add it\n");
    settings_string(&bench.settings, "null", "");
    expect_mistake(&bench,
                   "test.json: here.null: is null, must be a string; write it in double quotes\n");
    assert_int_equal(bench.report.mistake_count, 15);
    bench_close(&bench);
}

static void reads_durations(void **state)
{
    static const struct {
        const char *json;
        int64_t ms; /* -1: no duration */
    } cases[] = {{"0", 0},
                 {"\"0\"", 0},
                 {"\"0s\"", 0},
                 {"\"250ms\"", 250},
                 {"\"8s\"", 8000},
                 {"\"1h\"", 3600000},
                 {"\"2d\"", 172800000},
                 {"8", -1},
                 {"\"8\"", -1},
                 {"\"\"", -1},
                 {"\"s\"", -1},
                 {"\"-1s\"", -1},
                 {"\"1.5s\"", -1},
                 {"\"8 s\"", -1},
                 {"\"8S\"", -1},
                 {"\"8sec\"", -1},
                 {"true", -1},
                 {"\"99999999999999999999s\"", -1},
                 {"\"9223372036854775807d\"", -1}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char json[80];
        struct bench bench;
        snprintf(json, sizeof(json), "{\"d\": %s}", cases[i].json);
        bench_open(&bench, json);
        int64_t ms = settings_duration(&bench.settings, "d", -5, 0, INT64_MAX);
        assert_int_equal(ms, cases[i].ms == -1 ? -5 : cases[i].ms);
        assert_int_equal(bench.report.mistake_count, cases[i].ms == -1 ? 1 : 0);
        bench_close(&bench);
    }
}

static void says_the_range_of_a_duration(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, "{\"a\": \"61s\", \"b\": 5}");
    assert_int_equal(settings_duration(&bench.settings, "a", 8000, 1000, 60000), 8000);
    expect_mistake(&bench, "test.json: here.a: must be from 1s to 1m; write for example \"8s\"\n");
    settings_duration(&bench.settings, "b", 1500, 0, 172800000);
    expect_mistake(&bench, "test.json: here.b: is not a duration from 0s to 2d; write for example "
                           "\"1500ms\" (units: ms, s, m, h, d)\n");
    bench_close(&bench);
}

static void finds_unknown_keys(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, "{\"listn\": 1, \"colour\": 1, \"a\\nb\": 1}");
    settings_has(&bench.settings, "listen");
    settings_has(&bench.settings, "store");
    settings_end(&bench.settings);
    expect_mistake(&bench, "test.json: here.listn: is not a known key; did you mean \"listen\"?\n"
                           "test.json: here.colour: is not a known key; known here: listen, store\n"
                           "test.json: here.a?b: is not a known key; known here: listen, store\n");
    bench_close(&bench);
}

static void names_the_variable_that_set_a_value(void **state)
{
    struct bench bench;
    json_t *variables = json_pack("{s:s}", "n", "WAKEGATE_N");

    (void)state;
    bench_open(&bench, "{\"n\": 11}");
    bench.settings.variables = variables;
    settings_number(&bench.settings, "n", 5, 1, 10);
    expect_mistake(&bench,
                   "environment: WAKEGATE_N: is 11, must be from 1 to 10; write for example 5\n");
    json_decref(variables);
    bench_close(&bench);
}

static void nearest_allows_two_edits(void **state)
{
    static const char *const names[] = {"listen", "budget", "url", "on_test"};

    (void)state;
    assert_string_equal(nearest(SLICE("lisen"), names, 4), "listen");
    assert_string_equal(nearest(SLICE("BUDGET"), names, 4), "budget");
    assert_string_equal(nearest(SLICE("bugdet"), names, 4), "budget");
    assert_string_equal(nearest(SLICE("uri"), names, 4), "url");
    assert_string_equal(nearest(SLICE("onTest"), names, 4), "on_test");
    assert_null(nearest(SLICE("arc"), names, 4));
    assert_null(nearest(SLICE("budgets_of"), names, 4));
    assert_null(nearest(SLICE(""), names, 4));
}

static void expect_load(const char *text, size_t len, const char *mistake)
{
    char path[64];
    struct settings_report report;

    snprintf(path, sizeof(path), "/tmp/settings_test.%d", getpid());
    FILE *stream = fopen(path, "wxe");
    assert_non_null(stream);
    assert_int_equal(fwrite(text, 1, len, stream), len);
    fclose(stream);
    settings_report_init(&report, path);
    json_t *root = settings_load(&report);
    assert_int_equal(root == NULL, mistake != NULL);
    if (mistake) {
        const char *line = buf_text(&report.mistakes);
        assert_int_equal(report.mistake_count, 1);
        assert_ptr_equal(strstr(line, path), line);
        assert_non_null(strstr(line, mistake));
        assert_null(strstr(line, "canary"));
    }
    json_decref(root);
    settings_report_release(&report);
    unlink(path);
}

static void loads_a_file_or_says_where_it_is_wrong(void **state)
{
    static const struct {
        const char *text, *mistake;
    } cases[] = {{"{}", NULL},
                 {"\xef\xbb\xbf{\"a\": 1}", NULL},
                 {"", ": line 1, column 0: is not valid JSON ("},
                 {"{\n  \"a\": canary\n}", ": line 2, column "},
                 {"{\"a\": 1,\n \"a\": 2}", "duplicate object key near '\"a\"'"},
                 {"{} x", ": line 1, column 4: is not valid JSON (end of file expected)"},
                 {"{\"a\": \"\\u0000\"}", "is not valid JSON"},
                 {"{\"a\": \"canary", "is not valid JSON"}};
    char *large = malloc(LIMIT_CONFIG_BYTES + 1);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_load(cases[i].text, strlen(cases[i].text), cases[i].mistake);
    memset(large, ' ', LIMIT_CONFIG_BYTES + 1);
    expect_load(large, LIMIT_CONFIG_BYTES + 1, "is larger than 16 MiB");
    free(large);
}

static void says_that_a_file_is_missing(void **state)
{
    struct settings_report report;

    (void)state;
    settings_report_init(&report, "/nowhere/at/all.json");
    assert_null(settings_load(&report));
    assert_string_equal(buf_text(&report.mistakes),
                        "/nowhere/at/all.json: there is no such file; write it, or name another "
                        "with --config or WAKEGATE_CONFIG\n");
    settings_report_release(&report);
    settings_report_init(&report, "/");
    assert_null(settings_load(&report));
    assert_non_null(strstr(buf_text(&report.mistakes), "Is a directory"));
    settings_report_release(&report);
}

static void a_flood_of_mistakes_is_counted_and_bounded(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, "{}");
    for (int i = 0; i < 100000; i++)
        settings_mistake(&bench.settings, "key", "is wrong in a way that fills the report");
    assert_int_equal(bench.report.mistake_count, 100000);
    assert_true(bench.report.mistakes.len <= 1024 * 1024);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_stands_there),
        cmocka_unit_test(gives_the_fallback_for_what_is_absent),
        cmocka_unit_test(an_empty_cursor_reads_like_an_empty_object),
        cmocka_unit_test(says_what_is_wrong_with_a_value),
        cmocka_unit_test(reads_durations),
        cmocka_unit_test(says_the_range_of_a_duration),
        cmocka_unit_test(finds_unknown_keys),
        cmocka_unit_test(names_the_variable_that_set_a_value),
        cmocka_unit_test(nearest_allows_two_edits),
        cmocka_unit_test(loads_a_file_or_says_where_it_is_wrong),
        cmocka_unit_test(says_that_a_file_is_missing),
        cmocka_unit_test(a_flood_of_mistakes_is_counted_and_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
