/* SPDX-License-Identifier: Apache-2.0 */
/* Answers, and what is none, from scripted servers on loopback. */
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/limits.h"
#include "tests/fakes/client_room.h"

static void test_answered(void **state)
{
    struct client_room *room = *state;
    struct exchange exchange = {0};

    stub_script(&room->stub, STUB_CLOSE, stub_answer(202, "Retry-After: 7\r\n", "{\"ok\":true}"));
    assert_int_equal(exchange_run(room, &exchange), HTTP_ANSWERED);
    assert_int_equal(exchange.call.status, 202);
    assert_string_equal(buf_text(&exchange.call.answer), "{\"ok\":true}");
    assert_true(exchange.call.has_retry_after);
    assert_int_equal(exchange.call.retry_after_ms, 7000);
    assert_true(stub_saw_line(&room->stub, "POST /hook HTTP/1.1"));
    assert_true(stub_saw_line(&room->stub, "Content-Type: application/json"));
    assert_true(stub_saw_line(&room->stub, "X-One: 1"));
    assert_true(stub_saw_line(&room->stub, "Content-Length: 7"));
    assert_true(slice_eq(stub_body(&room->stub), SLICE("{\"a\":1}")));
    exchange_release(&exchange);
}

static void test_get(void **state)
{
    struct client_room *room = *state;
    struct exchange exchange = {.call = {.url = room->stub.url, .timeout_ms = PATIENCE_MS}};

    stub_script(&room->stub, STUB_KEEP, stub_answer(200, "", "hello"));
    assert_int_equal(room_post(room, room->stub.url), HTTP_ANSWERED);
    exchange_get(room, &exchange); /* on the handle that has just posted */
    assert_int_equal(exchange.call.result, HTTP_ANSWERED);
    assert_string_equal(buf_text(&exchange.call.answer), "hello");
    assert_true(stub_saw_line(&room->stub, "GET /hook HTTP/1.1"));
    assert_int_equal(stub_body(&room->stub).len, 0);
    assert_int_equal(room_post(room, room->stub.url), HTTP_ANSWERED);
    assert_true(stub_saw_line(&room->stub, "POST /hook HTTP/1.1"));
    exchange_release(&exchange);
}

static void test_other_methods(void **state)
{
    struct client_room *room = *state;
    static const char *const wanted[] = {"Sunset", NULL};
    struct exchange exchange = {
        .call = {.url = room->stub.url, .method = "PUT", .body = SLICE("{}"), .wanted = wanted}};

    stub_script(&room->stub, STUB_KEEP, stub_answer(200, "sunset: soon\r\nLink: x\r\n", ""));
    assert_int_equal(exchange_run(room, &exchange), HTTP_ANSWERED);
    assert_true(stub_saw_line(&room->stub, "PUT /hook HTTP/1.1"));
    assert_int_equal(stub_body(&room->stub).len, 2);
    assert_string_equal(buf_text(&exchange.call.kept), "Sunset: soon");
    exchange_release(&exchange);
    exchange = (struct exchange){.call = {.method = "DELETE", .body = SLICE("")}};
    assert_int_equal(exchange_run(room, &exchange), HTTP_ANSWERED);
    assert_true(stub_saw_line(&room->stub, "DELETE /hook HTTP/1.1"));
    assert_int_equal(stub_body(&room->stub).len, 0);
    exchange_release(&exchange);
    assert_int_equal(room_post(room, room->stub.url), HTTP_ANSWERED); /* on the same handle */
    assert_true(stub_saw_line(&room->stub, "POST /hook HTTP/1.1"));
    assert_int_equal(room_post(room, room->stub.url), HTTP_ANSWERED);
}

static void test_large_request(void **state)
{
    struct client_room *room = *state;
    size_t len = 2 * 1024 * 1024; /* past it libcurl would ask before it sends */
    char *body = mem_new(len);
    struct exchange exchange = {
        .call = {.url = room->stub.url, .body = {body, len}, .timeout_ms = PATIENCE_MS}};

    memset(body, 'x', len);
    stub_script(&room->stub, STUB_CLOSE, stub_answer(200, "", ""));
    assert_int_equal(exchange_run(room, &exchange), HTTP_ANSWERED);
    assert_int_equal(stub_body(&room->stub).len, len);
    assert_null(strstr(buf_text(&room->stub.request), "Expect:"));
    free(body);
}

static void test_dribbled_answer(void **state)
{
    struct client_room *room = *state;
    struct exchange exchange = {0};

    stub_script(&room->stub, STUB_DRIBBLE, stub_answer(200, "Retry-After: 1\r\n", "{\"ok\":1}"));
    assert_int_equal(exchange_run(room, &exchange), HTTP_ANSWERED);
    assert_string_equal(buf_text(&exchange.call.answer), "{\"ok\":1}");
    exchange_release(&exchange);
}

static void test_interim_answer(void **state)
{
    struct client_room *room = *state;
    struct exchange exchange = {0};

    stub_script(&room->stub, STUB_CLOSE,
                SLICE("HTTP/1.1 103 Early Hints\r\nRetry-After: 9\r\n\r\n"
                      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
    assert_int_equal(exchange_run(room, &exchange), HTTP_ANSWERED);
    assert_int_equal(exchange.call.status, 200);
    assert_false(exchange.call.has_retry_after);
    exchange_release(&exchange);
}

/* The status is known and so is enough of the body: that is an answer. */
static void test_huge_body(void **state)
{
    struct client_room *room = *state;
    struct exchange exchange = {0};
    struct buf answer = BUF_INIT(1024 * 1024);

    buf_append(&answer, SLICE("HTTP/1.1 200 OK\r\n\r\n"));
    for (int i = 0; i < 10000; i++)
        buf_append(&answer, SLICE("0123456789abcdef"));
    stub_script(&room->stub, STUB_HANG, buf_slice(&answer));
    assert_int_equal(exchange_run(room, &exchange), HTTP_ANSWERED);
    assert_int_equal(exchange.call.status, 200);
    assert_int_equal(exchange.call.answer.len, LIMIT_ANSWER_BYTES);
    exchange_release(&exchange);
    buf_release(&answer);
}

static void test_huge_head(void **state)
{
    struct client_room *room = *state;
    struct exchange exchange = {0};
    struct buf answer = BUF_INIT(1024 * 1024);

    buf_append(&answer, SLICE("HTTP/1.1 200 OK\r\n"));
    for (int i = 0; i < 4000; i++)
        buf_append(&answer, SLICE("X-Filler: 0123456789abcdef\r\n"));
    stub_script(&room->stub, STUB_HANG, buf_slice(&answer));
    assert_int_equal(exchange_run(room, &exchange), HTTP_NO_ANSWER);
    assert_non_null(strstr(exchange.call.err.text, "headers"));
    exchange_release(&exchange);
    buf_release(&answer);
}

static void test_redirect_is_an_answer(void **state)
{
    struct client_room *room = *state;
    struct exchange exchange = {0};
    char headers[128];

    snprintf(headers, sizeof(headers), "Location: %s\r\n", room->stub.url);
    stub_script(&room->stub, STUB_CLOSE, stub_answer(307, headers, ""));
    assert_int_equal(exchange_run(room, &exchange), HTTP_ANSWERED);
    assert_int_equal(exchange.call.status, 307);
    assert_int_equal(room->stub.requests, 1);
    exchange_release(&exchange);
}

static void test_no_whole_answer(void **state)
{
    struct client_room *room = *state;
    static const char *const answers[] = {
        "",
        "garbage\r\n\r\n",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half\":",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    };

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct exchange exchange = {0};
        stub_script(&room->stub, STUB_CLOSE, slice_from(answers[i]));
        if (exchange_run(room, &exchange) != HTTP_NO_ANSWER)
            fail_msg("taken for an answer: %s", answers[i]);
        assert_true(strlen(exchange.call.err.text) > 0);
        assert_null(strstr(exchange.call.err.text, "/hook"));
        exchange_release(&exchange);
    }
}

static void test_dropped(void **state)
{
    struct client_room *room = *state;

    stub_script(&room->stub, STUB_DROP, SLICE(""));
    assert_int_not_equal(room_post(room, room->stub.url), HTTP_ANSWERED);
    assert_int_equal(room->stub.requests, 0);
}

static void test_time_out(void **state)
{
    struct client_room *room = *state;
    struct exchange exchange = {.call = {.url = room->stub.url, .timeout_ms = 50}};

    stub_script(&room->stub, STUB_HANG, SLICE(""));
    assert_int_equal(exchange_run(room, &exchange), HTTP_NO_ANSWER);
    exchange_release(&exchange);
}

static void test_cancel(void **state)
{
    struct client_room *room = *state;
    struct exchange sent = {0}, unsent = {0};

    stub_script(&room->stub, STUB_HANG, SLICE("HTTP/1.1 200 OK\r\n"));
    exchange_begin(room, &sent);
    while (room->stub.requests == 0)
        uv_run(&room->loop, UV_RUN_ONCE);
    exchange_begin(room, &unsent);
    http_client_cancel(room->client, &sent.call);
    http_client_cancel(room->client, &unsent.call);
    assert_false(sent.over || unsent.over);
    http_client_cancel(room->client, &sent.call); /* once more changes nothing */
    exchange_finish(&sent);
    exchange_finish(&unsent);
    assert_int_equal(sent.call.result, HTTP_NO_ANSWER);
    assert_int_equal(unsent.call.result, HTTP_NOT_SENT);
    assert_int_equal(room->stub.requests, 1);
}

static void test_connect_refused(void **state)
{
    struct client_room *room = *state;
    char url[64];
    struct exchange exchange = {.call = {.url = url}};

    snprintf(url, sizeof(url), "http://127.0.0.1:%d/hook", stub_free_port(&room->loop));
    stub_script(&room->stub, STUB_KEEP, stub_answer(200, "", ""));
    assert_int_equal(room_post(room, room->stub.url), HTTP_ANSWERED);
    assert_int_equal(exchange_run(room, &exchange),
                     HTTP_NOT_SENT); /* a used handle starts from 0 */
    assert_null(strstr(exchange.call.err.text, "/hook"));
    exchange_release(&exchange);
}

static void test_bad_urls(void **state)
{
    struct client_room *room = *state;
    static const char *const urls[] = {"ftp://127.0.0.1/", "file:///etc/passwd", "http://",
                                       "http://127.0.0.1:99999/", "gopher://127.0.0.1/"};

    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
        assert_int_equal(room_post(room, urls[i]), HTTP_NOT_SENT);
}

static void test_proxy_variables_are_ignored(void **state)
{
    struct client_room *room = *state;

    setenv("http_proxy", "http://127.0.0.1:1/", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1/", 1);
    stub_script(&room->stub, STUB_CLOSE, stub_answer(200, "", ""));
    assert_int_equal(room_post(room, room->stub.url), HTTP_ANSWERED);
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, room_set_up, room_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_answered),
        TEST(test_get),
        TEST(test_other_methods),
        TEST(test_large_request),
        TEST(test_dribbled_answer),
        TEST(test_interim_answer),
        TEST(test_huge_body),
        TEST(test_huge_head),
        TEST(test_redirect_is_an_answer),
        TEST(test_no_whole_answer),
        TEST(test_dropped),
        TEST(test_time_out),
        TEST(test_cancel),
        TEST(test_connect_refused),
        TEST(test_bad_urls),
        TEST(test_proxy_variables_are_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
