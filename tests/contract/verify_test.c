/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wakegate verify` from its arguments to its exit status and its output, in this process, with
 * files in a directory of its own.
 */
#include "tests/spoken.h"

#include <fcntl.h>
#include <unistd.h>

#include "gateway/cli/cli.h"

#define NOW "1794474000"

static char directory[256];
static char secret_path[300], other_path[300], request_path[300], output_path[300];

static void write_file(const char *path, struct slice bytes)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.len, file), bytes.len);
    assert_int_equal(fclose(file), 0);
}

static int make_files(void **state)
{
    const char *temporary = getenv("TMPDIR");

    (void)state;
    snprintf(directory, sizeof(directory),
             "%s/verify_test."
             "XX"
             "XX"
             "XX",
             temporary ? temporary : "/tmp");
    if (!mkdtemp(directory))
        return 1;
    snprintf(secret_path, sizeof(secret_path), "%s/secret", directory);
    snprintf(other_path, sizeof(other_path), "%s/other", directory);
    snprintf(request_path, sizeof(request_path), "%s/request", directory);
    snprintf(output_path, sizeof(output_path), "%s/output", directory);
    write_file(secret_path, SLICE(SPOKEN_SECRET "\n"));
    write_file(other_path, SLICE("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"));
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    unlink(secret_path);
    unlink(other_path);
    unlink(request_path);
    unlink(output_path);
    return rmdir(directory);
}

/* Runs the subcommand with both outputs in one file; `output` gets what it wrote. */
static int run(const char *const *words, char *output, size_t size)
{
    char *argv[16] = {"verify"};
    int argc = 1;
    const int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    const int file = open(output_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(out >= 0 && err >= 0 && file >= 0);
    for (; *words; words++)
        argv[argc++] = (char *)(uintptr_t)*words;
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    int status = cli_verify(argc, argv);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    ssize_t len = pread(file, output, size - 1, 0);
    assert_true(len >= 0);
    output[len] = '\0';
    close(out);
    close(err);
    close(file);
    return status;
}

/* Writes a captured request of that dialect; the body's first byte is changed where `broken`. */
static void capture(const char *dialect, bool broken)
{
    const struct wake wake = {
        .version = 1,
        .reason = SLICE("messages"),
        .handle = SLICE("@a"),
        .summary = SLICE("One unread."),
        .delivery_id = SLICE("cycle-1"),
    };
    struct buf text = BUF_INIT(SPOKEN_BYTES);
    struct spoken spoken;

    spoken_init(&spoken, dialect_by_name(slice_from(dialect)));
    assert_true(spoken_say(&spoken, &wake, "cycle-1"));
    if (broken)
        spoken.out.body.data[0] = '[';
    buf_append(&text, SLICE("POST /wake/relay HTTP/1.1\r\n"));
    for (size_t i = 0; i < spoken.request.header_count; i++)
        buf_appendf(&text, "%.*s: %.*s\r\n", SLICE_ARG(spoken.request.headers[i].name),
                    SLICE_ARG(spoken.request.headers[i].value));
    buf_appendf(&text, "Content-Length: %zu\r\n\r\n", spoken.request.body.len);
    buf_append(&text, spoken.request.body);
    write_file(request_path, buf_slice(&text));
    buf_release(&text);
    spoken_release(&spoken);
}

static void expect_no_secret(const char *output)
{
    size_t digits = 0;

    assert_null(strstr(output, &SPOKEN_SECRET[strlen("whsec_")]));
    for (; *output; output++) {
        digits = strchr("0123456789abcdef", *output) ? digits + 1 : 0;
        assert_true(digits < 40);
    }
}

static json_t *report(const char *dialect, const char *secret, const char *now, int want)
{
    const char *const words[] = {"--dialect",     dialect,    "--secret-file", secret,
                                 "--secret-file", other_path, "--now",         now,
                                 request_path,    NULL};
    char output[4096];

    assert_int_equal(run(words, output, sizeof(output)), want);
    expect_no_secret(output);
    json_t *object = json_loads(output, 0, NULL);
    assert_non_null(object);
    return object;
}

static const char *at(json_t *object, const char *part, const char *name)
{
    return json_string_value(json_object_get(json_object_get(object, part), name));
}

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; dialects[i]; i++) {
        capture(dialects[i]->name, false);
        json_t *said = report(dialects[i]->name, secret_path, NOW, 0);
        assert_string_equal(at(said, "verify", "result"), "ok");
        assert_string_equal(at(said, "verify", "scheme"), dialects[i]->schemes[0]);
        assert_string_equal(at(said, "wake", "delivery_id"), "cycle-1");
        if (dialects[i]->carries_text)
            assert_non_null(at(said, "wake", "text"));
        else
            assert_string_equal(at(said, "wake", "handle"), "@a");
        json_decref(said);
    }
}

static void test_wrong_secret(void **state)
{
    (void)state;
    for (size_t i = 0; dialects[i]; i++) {
        capture(dialects[i]->name, false);
        json_t *said = report(dialects[i]->name, other_path, NOW, 1);
        assert_string_equal(at(said, "verify", "result"), "wrong");
        assert_non_null(at(said, "verify", "rule"));
        assert_null(json_object_get(said, "wake"));
        json_decref(said);
    }
}

static void test_stale(void **state)
{
    (void)state;
    capture("agentchat", false);
    json_t *said = report("agentchat", secret_path, "1794474301", 1);
    assert_string_equal(at(said, "verify", "result"), "stale");
    assert_string_equal(at(said, "verify", "rule"), "signed 301 s ago, more than 300 s");
    json_decref(said);
    said = report("agentchat", secret_path, "1794474300", 0);
    json_decref(said);
}

/* Genuine, since a token proves the caller alone, but no wake. */
static void test_no_wake(void **state)
{
    (void)state;
    capture("bearer-json", true);
    json_t *said = report("bearer-json", secret_path, NOW, 1);
    assert_string_equal(at(said, "verify", "result"), "ok");
    assert_non_null(json_object_get(said, "error"));
    assert_null(json_object_get(said, "wake"));
    json_decref(said);
}

static void test_usage(void **state)
{
    static const char *const bad[][8] = {
        {NULL},
        {"--dialect", "agentchat", NULL},
        {"--secret-file", secret_path, NULL},
        {"--dialect", "agentchit", "--secret-file", secret_path, NULL},
        {"--dialect", "agentchat", "--secret-file", secret_path, "--now", "soon", NULL},
        {"--dialect", "agentchat", "--secret-file", secret_path, "--tolerance", "-1", NULL},
        {"--dialect", "agentchat", "--secret-file", secret_path, "a", "b", NULL},
        {"--nonsense", NULL},
        {"--dialect", NULL},
    };
    char output[4096];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(run(bad[i], output, sizeof(output)), 2);
        assert_non_null(strstr(output, "wakegate verify: ")); /* and main prints the usage */
    }
}

static void test_files(void **state)
{
    const char *const missing[] = {"--dialect", "agentchat", "--secret-file", "/nowhere", NULL};
    const char *const unfit[] = {"--dialect", "standard-webhooks", "--secret-file", request_path,
                                 NULL};
    const char *const no_request[] = {"--dialect", "agentchat", "--secret-file",
                                      secret_path, "/nowhere",  NULL};
    const char *const no_http[] = {"--dialect", "agentchat", "--secret-file",
                                   secret_path, secret_path, NULL};
    char output[4096];

    (void)state;
    write_file(request_path, SLICE("plain words\n"));
    assert_int_equal(run(missing, output, sizeof(output)), 1);
    assert_int_equal(run(unfit, output, sizeof(output)), 1);
    assert_null(strstr(output, "plain words"));
    assert_int_equal(run(no_request, output, sizeof(output)), 1);
    assert_non_null(strstr(output, "/nowhere"));
    assert_int_equal(run(no_http, output, sizeof(output)), 1);
    expect_no_secret(output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),  cmocka_unit_test(test_wrong_secret),
        cmocka_unit_test(test_stale), cmocka_unit_test(test_no_wake),
        cmocka_unit_test(test_usage), cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
