/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `send`, and its wakes as a scripted server in a thread of its own sees them.
 */
#include "tests/check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/cli/cli.h"
#include "gateway/core/settings.h"
#include "gateway/core/wake.h"
#include "tests/fakes/http_stub.h"

enum { MOST_WORDS = 32, OUTPUT_BYTES = 65536 };

static char secret_file[] = "/tmp/wakegate-send-"
                            "XX"
                            "XX"
                            "XX";

/* The server. */

struct server {
    uv_loop_t loop;
    uv_async_t stop;
    pthread_t thread;
    struct stub stub;
};

static void on_stop(uv_async_t *async)
{
    struct server *server = async->data;

    stub_close(&server->stub);
    uv_close((uv_handle_t *)async, NULL);
}

static void *serve(void *context)
{
    struct server *server = context;

    uv_run(&server->loop, UV_RUN_DEFAULT);
    return NULL;
}

static void start_server(struct server *server, struct slice answer)
{
    uv_loop_init(&server->loop);
    uv_async_init(&server->loop, &server->stop, on_stop);
    server->stop.data = server;
    stub_open(&server->stub, &server->loop);
    stub_script(&server->stub, STUB_KEEP, answer);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void stop_server(struct server *server)
{
    uv_async_send(&server->stop);
    pthread_join(server->thread, NULL);
    uv_loop_close(&server->loop);
}

/* The command. */

struct ran {
    int status;
    struct buf output; /* standard output */
};

static void run(struct ran *ran, const char *url, const char *words)
{
    char line[1024], *argv[MOST_WORDS] = {"send"};
    int argc = 1;
    struct slice rest, word;
    FILE *output = tmpfile();

    snprintf(line, sizeof(line), "--secret-file %s --url %s %s", secret_file, url, words);
    for (rest = slice_from(line); rest.len > 0 && argc < MOST_WORDS; argc++) {
        slice_cut(rest, ' ', &word, &rest);
        line[word.data - line + (ptrdiff_t)word.len] = '\0';
        argv[argc] = line + (word.data - line);
    }
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    dup2(fileno(output), STDOUT_FILENO);
    ran->status = cli_send(argc, argv);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    rewind(output);
    ran->output = (struct buf)BUF_INIT(OUTPUT_BYTES);
    ran->output.len =
        fread(buf_reserve(&ran->output, OUTPUT_BYTES - 1), 1, OUTPUT_BYTES - 1, output);
    fclose(output);
}

static json_t *next_line(struct slice *rest)
{
    struct slice line;

    slice_cut(*rest, '\n', &line, rest);
    json_t *object = json_loadb(line.data, line.len, 0, NULL);
    assert_non_null(object);
    return object;
}

static void expect_word(json_t *line, const char *name, const char *word)
{
    assert_string_equal(json_string_value(json_object_get(line, name)), word);
}

static void expect_number(json_t *line, const char *name, int number)
{
    assert_int_equal(json_integer_value(json_object_get(line, name)), number);
}

static void test_one(void **state)
{
    struct server server;
    struct ran ran;

    (void)state;
    start_server(&server, stub_answer(200, "", "{\"status\":\"relayed\"}"));
    run(&ran, server.stub.url,
        "--dialect agentchat --handle @me --delivery-id my-id --reason test");
    stop_server(&server);
    assert_int_equal(ran.status, 0);
    struct slice rest = buf_slice(&ran.output);
    json_t *line = next_line(&rest);
    assert_int_equal(rest.len, 0);
    expect_number(line, "status", 200);
    expect_word(line, "code", "relayed");
    expect_word(line, "delivery_id", "my-id");
    json_decref(line);
    buf_release(&ran.output);
}

static void test_many(void **state)
{
    struct server server;
    struct ran ran;

    (void)state;
    start_server(&server, stub_answer(503, "Retry-After: 2\r\n", "{\"code\":\"overloaded\"}"));
    run(&ran, server.stub.url, "--dialect=hermes --count=7 --concurrency 3");
    stop_server(&server);
    assert_int_equal(ran.status, 1);
    assert_int_equal(server.stub.requests, 7);
    struct slice rest = buf_slice(&ran.output);
    json_t *ids = json_object();
    for (int i = 0; i < 7; i++) {
        json_t *line = next_line(&rest);
        expect_word(line, "code", "overloaded");
        expect_number(line, "retry_after_ms", 2000);
        const char *id = json_string_value(json_object_get(line, "delivery_id"));
        assert_true(wake_is_delivery_id(slice_from(id)));
        json_object_set_new(ids, id, json_true());
        json_decref(line);
    }
    assert_int_equal(json_object_size(ids), 7); /* each its own */
    json_decref(ids);
    json_t *summary = next_line(&rest);
    expect_number(summary, "count", 7);
    expect_number(summary, "ok", 0);
    expect_number(json_object_get(summary, "answers"), "503", 7);
    json_decref(summary);
    buf_release(&ran.output);
}

static void test_repeat(void **state)
{
    struct server server;
    struct ran ran;

    (void)state;
    start_server(&server, stub_answer(200, "", ""));
    run(&ran, server.stub.url, "--dialect poke --count 2 --repeat");
    stop_server(&server);
    assert_int_equal(ran.status, 0);
    struct slice rest = buf_slice(&ran.output);
    json_t *first = next_line(&rest), *second = next_line(&rest);
    expect_word(second, "delivery_id", json_string_value(json_object_get(first, "delivery_id")));
    json_decref(first);
    json_decref(second);
    buf_release(&ran.output);
}

static void test_nobody_there(void **state)
{
    struct ran ran;
    uv_loop_t loop;
    char url[64];

    (void)state;
    uv_loop_init(&loop);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", stub_free_port(&loop));
    uv_loop_close(&loop);
    run(&ran, url, "--dialect agentchat");
    assert_int_equal(ran.status, 1);
    struct slice rest = buf_slice(&ran.output);
    json_t *line = next_line(&rest);
    expect_word(line, "result", "not_sent");
    json_decref(line);
    buf_release(&ran.output);
}

static void test_wrong_command_lines(void **state)
{
    static const char *const wrong[] = {
        "",
        "--dialect",
        "--dialect nobody",
        "--dialect poke --nonsense",
        "--dialect poke --count 0",
        "--dialect poke --count many",
        "--dialect poke --concurrency 1001",
        "--dialect poke --variant none",
        "--dialect poke --scheme none",
        "--dialect poke --delivery-id a/b",
        "--dialect poke --payload /nowhere/wake.json",
        "--dialect poke --payload /dev/null",
        "--dialect poke --payload x --repeat",
        "--dialect poke --secret-file /nowhere/secret",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct ran ran;
        run(&ran, "http://127.0.0.1:9/", wrong[i]);
        if (ran.status != 2)
            fail_msg("%s: %d", wrong[i], ran.status);
        assert_int_equal(ran.output.len, 0);
        buf_release(&ran.output);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_repeat),
        cmocka_unit_test(test_nobody_there),
        cmocka_unit_test(test_wrong_command_lines),
    };
    int file = mkstemp(secret_file);

    if (file < 0 || write(file, "a-secret-for-tests-0123456789\n", 30) != 30)
        return 1;
    close(file);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(secret_file);
    return failed;
}
