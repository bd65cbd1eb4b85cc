/* SPDX-License-Identifier: Apache-2.0 */
/* settings: secrets and addresses from variables, files and literals, and what is said of those
 * that cannot be used. No message may show one: the word "canary" stands for that. */
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/core/limits.h"
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

/* One secret read as {"env": "SETTINGS_TEST"} with that value, or unset. */
static bool read_variable(struct bench *bench, const char *value, struct secret *secret)
{
    if (value)
        setenv("SETTINGS_TEST", value, 1);
    else
        unsetenv("SETTINGS_TEST");
    bench_open(bench, "{\"secret\": {\"env\": \"SETTINGS_TEST\"}}");
    return settings_secret(&bench->settings, "secret", true, secret);
}

static void reads_secrets_from_variables(void **state)
{
    static const char *const same[] = {"s3cret", "s3cret\n", "s3cret\r\n"};
    struct secret secret;
    struct bench bench;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_true(read_variable(&bench, same[i], &secret));
        expect_slice(secret.text, "s3cret");
        expect_none(&bench);
        assert_int_equal(bench.report.warning_count, 0);
        secret_release(&secret);
        bench_close(&bench);
    }
}

static void says_why_a_secret_cannot_be_used(void **state)
{
    static char over_long[LIMIT_SECRET_BYTES + 2];
    static const struct {
        const char *value, *reason;
    } cases[] = {{NULL, "the variable SETTINGS_TEST is not set"},
                 {"", "the variable SETTINGS_TEST is empty"},
                 {"\n", "the variable SETTINGS_TEST is empty"},
                 {"  \t", "the variable SETTINGS_TEST "},
                 {"   ", "the variable SETTINGS_TEST is blank"},
                 {"canary\n\n", "the variable SETTINGS_TEST has a control character"},
                 {"can\nary", "the variable SETTINGS_TEST has a control character"},
                 {"whsec_canary", "the variable SETTINGS_TEST has no strict base64"},
                 {over_long, "the variable SETTINGS_TEST is longer than 1024 bytes"}};
    struct secret secret;
    struct bench bench;

    (void)state;
    memset(over_long, 'x', sizeof(over_long) - 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_false(read_variable(&bench, cases[i].value, &secret));
        assert_int_equal(bench.report.mistake_count, 1);
        const char *text = buf_text(&bench.report.mistakes);
        assert_ptr_equal(strstr(text, "test.json: here.secret: "), text);
        assert_non_null(strstr(text, cases[i].reason));
        assert_null(strstr(text, "canary"));
        bench_close(&bench);
    }
}

/* The secret itself may stand where its place belongs. */
static void repeats_no_secret_that_stands_in_its_place(void **state)
{
    static const struct {
        const char *json, *reason;
    } cases[] = {
        {"{\"secret\": {\"env\": \"canary-0123456789\"}}", "the variable is not set"},
        {"{\"secret\": {\"env\": \"canary\"}}", "the variable is not set"},
        {"{\"secret\": {\"env\": \"CANARY0123456789\"}}", "the variable is not set"},
        {"{\"secret\": {\"env\": \"\"}}", "the variable is not set"},
        {"{\"secret\": {\"env\": \"WAKE_CAN_2\"}}", "the variable WAKE_CAN_2 is not set"},
        {"{\"secret\": {\"file\": \"canary-0123456789\"}}", "the file cannot be read"},
        {"{\"secret\": {\"file\": \"whsec_canary/\"}}", "the file cannot be read"},
        {"{\"secret\": {\"file\": \"./absent\"}}", "the file ./absent cannot be read"},
    };
    struct secret secret;
    struct bench bench;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bench_open(&bench, cases[i].json);
        assert_false(settings_secret(&bench.settings, "secret", true, &secret));
        const char *text = buf_text(&bench.report.mistakes);
        if (!strstr(text, cases[i].reason) || strcasestr(text, "canary"))
            fail_msg("%s: %s", cases[i].json, text);
        bench_close(&bench);
    }
}

static void reads_secrets_from_files(void **state)
{
    char path[64], json[128];
    struct secret secret;
    struct bench bench;

    (void)state;
    snprintf(path, sizeof(path), "/tmp/settings_secret_test.%d", getpid());
    FILE *stream = fopen(path, "wxe");
    assert_non_null(stream);
    assert_true(fputs("from file\r\n", stream) >= 0);
    fclose(stream);
    snprintf(json, sizeof(json), "{\"secret\": {\"file\": \"%s\"}}", path);
    bench_open(&bench, json);
    assert_true(settings_secret(&bench.settings, "secret", true, &secret));
    expect_slice(secret.text, "from file");
    secret_release(&secret);
    unlink(path);
    assert_false(settings_secret(&bench.settings, "secret", true, &secret));
    assert_non_null(strstr(buf_text(&bench.report.mistakes), path));
    assert_non_null(strstr(buf_text(&bench.report.mistakes), "No such file"));
    bench_close(&bench);
    bench_open(&bench, "{\"secret\": {\"file\": \"/\"}}");
    assert_false(settings_secret(&bench.settings, "secret", true, &secret));
    expect_mistake(&bench, "test.json: here.secret: the file / cannot be read (Is a directory); "
                           "check its path and permissions\n");
    bench_close(&bench);
}

static void does_not_wait_for_a_pipe(void **state)
{
    char path[64], json[128];
    struct secret secret;
    struct bench bench;

    (void)state;
    snprintf(path, sizeof(path), "/tmp/settings_secret_test.%d", getpid());
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(json, sizeof(json), "{\"secret\": {\"file\": \"%s\"}}", path);
    bench_open(&bench, json);
    assert_false(settings_secret(&bench.settings, "secret", true, &secret));
    assert_non_null(strstr(buf_text(&bench.report.mistakes), "it is no regular file"));
    bench_close(&bench);
    unlink(path);
}

static void warns_about_literals_and_refuses_bare_strings(void **state)
{
    static const char *const wrong[] = {
        "\"canary\"",      "{}", "{\"env\": 1}", "[]", "null", "{\"env\": \"A\", \"file\": \"/b\"}",
        "{\"evn\": \"A\"}"};
    struct secret secret;
    struct bench bench;

    (void)state;
    bench_open(&bench, "{\"secret\": {\"literal\": \"canary\"}}");
    assert_true(settings_secret(&bench.settings, "secret", true, &secret));
    secret_release(&secret);
    expect_none(&bench);
    assert_int_equal(bench.report.warning_count, 1);
    assert_null(strstr(buf_text(&bench.report.warnings), "canary"));
    bench_close(&bench);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char json[80];
        snprintf(json, sizeof(json), "{\"secret\": %s}", wrong[i]);
        bench_open(&bench, json);
        assert_false(settings_secret(&bench.settings, "secret", true, &secret));
        const char *text = buf_text(&bench.report.mistakes);
        assert_non_null(strstr(text, "{\"env\": \"NAME\"}, {\"file\": \"/path\"} or "
                                     "{\"literal\": \"...\"}"));
        assert_null(strstr(text, "canary"));
        bench_close(&bench);
    }
}

static void an_absent_secret_is_a_mistake_only_when_required(void **state)
{
    struct secret secret;
    struct bench bench;

    (void)state;
    bench_open(&bench, "{}");
    assert_false(settings_secret(&bench.settings, "secret", false, &secret));
    expect_none(&bench);
    assert_false(settings_secret(&bench.settings, "secret", true, &secret));
    assert_int_equal(bench.report.mistake_count, 1);
    bench_close(&bench);
}

static void expect_address(const char *json, const char *address, const char *reason)
{
    struct bench bench;

    bench_open(&bench, json);
    char *text = settings_address(&bench.settings, "url", "default:");
    if (address)
        assert_string_equal(text, address);
    else
        assert_null(text);
    assert_int_equal(bench.report.mistake_count, reason ? 1 : 0);
    assert_non_null(strstr(buf_text(&bench.report.mistakes), reason ? reason : ""));
    assert_null(strstr(buf_text(&bench.report.mistakes), "canary"));
    free(text);
    bench_close(&bench);
}

static void an_address_is_a_string_or_a_secret(void **state)
{
    (void)state;
    setenv("SETTINGS_TEST", "redis://:canary@host\n", 1);
    expect_address("{}", "default:", NULL);
    expect_address("{\"url\": \"redis://host\"}", "redis://host", NULL);
    expect_address("{\"url\": {\"env\": \"SETTINGS_TEST\"}}", "redis://:canary@host", NULL);
    expect_address("{\"url\": \"\"}", NULL, "here.url: the address is empty");
    expect_address("{\"url\": \"canary and blanks\"}", NULL, "has blanks");
    expect_address("{\"url\": 5}", NULL, "here.url: is a number, must be an address; write");
    expect_address("{\"url\": {\"path\": \"/x\"}}", NULL, "names no place; write exactly one of");
    setenv("SETTINGS_TEST", "canary\nmore", 1);
    expect_address("{\"url\": {\"env\": \"SETTINGS_TEST\"}}", NULL,
                   "the variable SETTINGS_TEST has blanks, control characters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_secrets_from_variables),
        cmocka_unit_test(says_why_a_secret_cannot_be_used),
        cmocka_unit_test(repeats_no_secret_that_stands_in_its_place),
        cmocka_unit_test(reads_secrets_from_files),
        cmocka_unit_test(does_not_wait_for_a_pipe),
        cmocka_unit_test(warns_about_literals_and_refuses_bare_strings),
        cmocka_unit_test(an_absent_secret_is_a_mistake_only_when_required),
        cmocka_unit_test(an_address_is_a_string_or_a_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
