/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <string.h>

#include "gateway/core/limits.h"
#include "relay/http_head.h"

static bool take(struct http_head *head, const char *line)
{
    return http_head_take(head, slice_from(line));
}

static void test_whole(void **state)
{
    struct http_head head = {0};

    (void)state;
    assert_true(take(&head, "HTTP/1.1 100 Continue\r\n"));
    assert_false(head.whole);
    assert_true(take(&head, "\r\n"));
    assert_true(head.whole);
    assert_true(take(&head, "HTTP/1.1 200 OK\n"));
    assert_false(head.whole);
    assert_true(take(&head, "Transfer-Encoding: chunked\r\n"));
    assert_true(take(&head, "\n"));
    assert_true(head.whole);
    assert_false(head.coded);
}

static void test_codings(void **state)
{
    static const char *const coded[] = {
        "Transfer-Encoding: gzip\r\n",          "transfer-encoding:gzip, chunked\r\n",
        "Transfer-Encoding: chunked, gzip\r\n", "TRANSFER-ENCODING: \t deflate\n",
        "Transfer-Encoding : gzip\r\n",         "Transfer-Encoding: x-gzip\r\n",
    };
    static const char *const plain[] = {
        "Transfer-Encoding: chunked\r\n", "transfer-encoding:CHUNKED \n", "TE: gzip\r\n",
        "Content-Encoding: gzip\r\n",     "X-Transfer-Encoding: gzip\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(coded) / sizeof(coded[0]); i++) {
        struct http_head head = {0};
        assert_true(take(&head, "HTTP/1.1 200 OK\r\n"));
        assert_true(take(&head, coded[i]));
        assert_true(take(&head, "X-After: 1\r\n"));
        assert_false(take(&head, "\r\n"));
        assert_true(head.whole);
    }
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        struct http_head head = {0};
        assert_true(take(&head, plain[i]));
        assert_true(take(&head, "\r\n"));
    }
}

static void test_too_long(void **state)
{
    struct http_head head = {0};
    struct err err;
    size_t lines = 0;

    (void)state;
    while (take(&head, "HTTP/1.1 102 Processing\r\n") && take(&head, "\r\n"))
        lines++;
    assert_true(http_head_explain(&head, &err));
    assert_non_null(strstr(err.text, "headers"));
    assert_in_range(lines, 1000, LIMIT_ANSWER_HEADER_BYTES / 27);
}

static void test_wanted(void **state)
{
    static const char *const wanted[] = {"Sunset", "Link", NULL};
    struct buf kept = BUF_INIT(LIMIT_ANSWER_HEADER_BYTES);
    struct http_head head = {.wanted = wanted, .kept = &kept};
    static const char expected[] = "Sunset: tomorrow\0Link: <a>; rel=\"b\"\0Link: \0";

    (void)state;
    assert_true(take(&head, "HTTP/1.1 103 Early Hints\r\n"));
    assert_true(take(&head, "Link: </style>\r\n"));
    assert_true(take(&head, "\r\n"));
    assert_true(take(&head, "HTTP/1.1 200 OK\r\n"));
    assert_true(take(&head, "sunset:tomorrow \r\n"));
    assert_true(take(&head, "X-Sunset: no\r\n"));
    assert_true(take(&head, "LINK:\t<a>; rel=\"b\"\n"));
    assert_true(take(&head, "Link:\r\n"));
    assert_true(take(&head, "no header\r\n"));
    assert_true(take(&head, "\r\n"));
    assert_int_equal(kept.len, sizeof(expected) - 1);
    assert_memory_equal(kept.data, expected, kept.len);
    buf_release(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_codings),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
