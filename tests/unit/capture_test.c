/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/cli/capture.h"

#define LINE "POST /wake/relay HTTP/1.1\r\n"

static struct capture parse(const char *text)
{
    struct capture capture;
    struct err err = {.text = ""};

    if (!capture_parse(&capture, slice_from(text), &err))
        fail_msg("%s", err.text);
    return capture;
}

static void expect_body(const char *text, const char *body)
{
    struct capture capture = parse(text);

    assert_true(slice_eq(capture.request.body, slice_from(body)));
    capture_release(&capture);
}

static void expect_refused(struct slice bytes)
{
    struct capture capture;
    struct err err = {.text = ""};

    assert_false(capture_parse(&capture, bytes, &err));
    assert_true(err.text[0]);
}

static void test_head(void **state)
{
    struct slice value = {0};
    struct capture capture = parse(LINE "Host: a\r\nX-One:  two words \r\nEmpty:\r\n\r\nbody");

    (void)state;
    assert_int_equal(capture.request.header_count, 3);
    assert_int_equal(request_header(&capture.request, SLICE("x-one"), &value), HEADER_FOUND);
    assert_true(slice_eq(value, SLICE("two words")));
    assert_int_equal(request_header(&capture.request, SLICE("empty"), &value), HEADER_FOUND);
    assert_int_equal(value.len, 0);
    capture_release(&capture);
}

static void test_body(void **state)
{
    (void)state;
    expect_body(LINE "\r\n", "");
    expect_body(LINE "\r\na\r\nb\n", "a\r\nb\n");
    expect_body("POST / HTTP/2\nHost: a\n\n{\"a\":1}", "{\"a\":1}");
    expect_body(LINE "Content-Length: 3\r\n\r\nabc", "abc");
    expect_body(LINE "Content-Length: 3\r\n\r\nabc\n", "abc");
    expect_body(LINE "Content-Length: 4\r\n\r\nabc\n", "abc\n");
    expect_body(LINE "Content-Encoding: identity\r\n\r\nabc", "abc");
}

static void test_chunks(void **state)
{
    (void)state;
    expect_body(LINE
                "Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
                "abc0123456789");
    expect_body("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n1\na\n0\n", "a");
    expect_body(LINE "Transfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n", "");
}

static void test_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "\r\n",
        "hello",
        "POST /wake\r\n\r\n",
        "{\"type\":\"agentchat.wake\"}",
        "HTTP/1.1 200 OK\r\n\r\n",
        LINE,
        LINE "Host: a",
        LINE "Host: a\r\n",
        LINE "no colon\r\n\r\n",
        LINE ": x\r\n\r\n",
        LINE "A b: x\r\n\r\n",
        LINE "A: x\r\n folded\r\n\r\n",
        LINE "A: x\ry\r\n\r\n",
        LINE "Content-Length: 4\r\n\r\nabc",
        LINE "Content-Length: 2\r\n\r\nabc",
        LINE "Content-Length: x\r\n\r\nabc",
        LINE "Content-Length: 99999999999999999999\r\n\r\nabc",
        LINE "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
        LINE "Content-Encoding: gzip\r\n\r\nabc",
        LINE "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        LINE "Transfer-Encoding: chunked\r\n\r\n",
        LINE "Transfer-Encoding: chunked\r\n\r\n{\"a\":1}",
        LINE "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
        LINE "Transfer-Encoding: chunked\r\n\r\n3\r\nab",
        LINE "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        LINE "Transfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n",
        LINE "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc\r\n0\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        expect_refused(slice_from(bad[i]));
    expect_refused(SLICE(LINE "A: x\0y\r\n\r\n"));
}

static void test_many_headers(void **state)
{
    struct buf text = BUF_INIT(10000);

    (void)state;
    buf_append(&text, SLICE(LINE));
    for (int i = 0; i < LIMIT_HEADERS; i++)
        buf_append(&text, SLICE("A: b\r\n"));
    buf_append(&text, SLICE("\r\n"));
    struct capture capture = parse(buf_text(&text));
    assert_int_equal(capture.request.header_count, LIMIT_HEADERS);
    capture_release(&capture);
    text.len -= 2;
    buf_append(&text, SLICE("A: b\r\n\r\n"));
    expect_refused(buf_slice(&text));
    buf_release(&text);
}

/* Cut anywhere, in memory that ends there: no read past the end. */
static void test_cut(void **state)
{
    static const char text[] =
        LINE "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\n";

    (void)state;
    for (size_t len = 0; len < sizeof(text); len++) {
        char *memory = malloc(len > 0 ? len : 1);
        struct capture capture;

        assert_non_null(memory);
        memcpy(memory, text, len);
        if (capture_parse(&capture, (struct slice){memory, len}, NULL))
            capture_release(&capture);
        free(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head),   cmocka_unit_test(test_body),
        cmocka_unit_test(test_chunks), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cut),    cmocka_unit_test(test_many_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
