/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heads that two parsers could read differently: none reaches a handler. Those that pass
 * libmicrohttpd get our 400; what it refuses itself has its own answer or none, so of those only
 * "no 2xx, no effect, connection closed" is asked.
 */
#include "tests/fakes/http_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POST "POST /echo HTTP/1.1\r\nHost: x\r\n"

static struct rig *rig;

static int set_up(void **state)
{
    const struct front_settings settings = rig_settings();

    (void)state;
    rig = rig_new(&settings);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_free(rig);
    return 0;
}

/* What the library makes of a NUL, a folded line or a line without a name must not stand either. */
static void test_hidden_bytes(void **state)
{
    static const struct slice heads[] = {
        SLICE(POST "Content-Length: 2\0 9\r\n\r\nhi"),
        SLICE(POST "X: a\0b\r\nContent-Length: 2\r\n\r\nhi"),
        SLICE(POST "Content-Length: 2\r\nX: a\0b\r\n\r\nhi"),
        SLICE(POST "Content-Length: 2\r\nX: a\0\r\n\r\nhi"),
        SLICE(POST "Content-Length: 2\r\nX: a\0\t\nY: b\r\n\r\nhi"),
        SLICE(POST "Content-Length: 2\r\nX: a\0 \n\r\nhi"),
        SLICE(POST "Content-Length: 2\r\nX\0Y: a\r\n\r\nhi"),
        SLICE(POST "Content-Length: 2\r\nX: a\r\n b\r\n\r\nhi"),
        SLICE(POST "Content-Len: 2\r\n gth\r\n\r\nhi"),
        SLICE(POST "X: a\r\n\tb\r\nContent-Length: 2\r\n\r\nhi"),
        SLICE(POST "Content-Length: 2\r\n: x\r\n\r\nhi"),
        SLICE(POST "Content-Length: 2\r\n:\r\n\r\nhi"),
        SLICE(POST "Content-Length: 2\r\n: \r\n\r\nhi"),
        SLICE("GET /get HTTP/1.1\r\nHost: x\r\n: x\r\nY: z\r\n\r\n"),
        SLICE("GET /get HTTP/1.1\0junk\r\nHost: x\r\n\r\n"),
        SLICE("GET /get HTTP/1.1\r\n: x\r\nHost: x\r\n\r\n"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
        struct client client = dial(rig);
        struct reply reply;
        unsigned heads_before = rig->heads;
        say_bytes(&client, heads[i]);
        while (hear(&client, &reply))
            assert_true(reply.status >= 400);
        if (rig->heads != heads_before)
            fail_msg("had an effect: number %zu", i);
        hang_up(&client);
    }
}

static void assert_all_refused(const char *const *heads, size_t count, bool by_us)
{
    for (size_t i = 0; i < count; i++) {
        struct client client = dial(rig);
        struct reply reply;
        unsigned heads_before = rig->heads, requests_before = rig->requests;
        bool any = false;
        say(&client, heads[i]);
        while (hear(&client, &reply)) {
            any = true;
            if (reply.status < 400 || (by_us && strcmp(reply.body, "fault") != 0))
                fail_msg("answered %u: %s", reply.status, heads[i]);
        }
        if (by_us && (!any || rig->last_fault != FAULT_BAD_REQUEST))
            fail_msg("not refused: %s", heads[i]);
        if (rig->heads != heads_before || rig->requests != requests_before)
            fail_msg("had an effect: %s", heads[i]);
        hang_up(&client);
    }
}

static void test_refused_by_us(void **state)
{
    bool lenient = strncmp(http_server_library(), "0.9.", 4) == 0; /* later ones refuse some */
    static const char *const heads[] = {
        POST "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
        POST "Content-Length: 2\r\ncontent-length: 3\r\n\r\nhi!",
        POST "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        POST "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        POST "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        POST "Transfer-Encoding: identity\r\n\r\n",
        POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        POST "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
        POST "Transfer-Encoding:\r\n\r\n",
        POST "Host: y\r\nContent-Length: 2\r\n\r\nhi",
        POST "Content-Length: 2\r\nX Y: 1\r\n\r\nhi",
        POST "Content-Length: 2\r\nX\x01: 1\r\n\r\nhi",
        POST "Content-Length: 2\r\nX\x80: 1\r\n\r\nhi",
        POST "Content-Length: 2\r\nX(: 1\r\n\r\nhi",
        POST "Content-Length : 2\r\n\r\nhi",
        POST "Content-Length: 2\r\nTransfer-Encoding : chunked\r\n\r\nhi",
        POST "Content-Length: 2\r\nX: a\x01z\r\n\r\nhi",
        POST "Content-Length: 2\r\nX: a\x7fz\r\n\r\nhi",
        POST "Content-Length: 2\r\nX: a\rz\r\n\r\nhi",
        "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /get HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
    };

    (void)state;
    assert_all_refused(heads, sizeof(heads) / sizeof(*heads), lenient);
}

static void test_refused_by_either(void **state)
{
    static const char *const heads[] = {
        "GET /get HTTP/1.1\r\n\r\n",
        "GET /get HTTP/2.0\r\nHost: x\r\n\r\n",
        "GET /get HTTP/1.2\r\nHost: x\r\n\r\n",
        "GET /get HTTP/0.9\r\n\r\n",
        "GET /get\r\n\r\n",
        "GET /get FTP/1.1\r\nHost: x\r\n\r\n",
        "GET  /get HTTP/1.1 x\r\nHost: x\r\n\r\n",
        POST "Content-Length: -1\r\n\r\n",
        POST "Content-Length: +2\r\n\r\nhi",
        POST "Content-Length: 0x2\r\n\r\nhi",
        POST "Content-Length: 2, 2\r\n\r\nhi",
        POST "Content-Length: 2 2\r\n\r\nhi",
        POST "Content-Length: 99999999999999999999\r\n\r\nhi",
        POST "Content-Length:\r\n\r\n",
        POST "no colon\r\nContent-Length: 2\r\n\r\nhi",
        POST ": no name\r\nContent-Length: 2\r\n\r\nhi",
    };

    (void)state;
    assert_all_refused(heads, sizeof(heads) / sizeof(*heads), false);
}

static void test_accepted(void **state)
{
    static const char *const heads[] = {
        POST "Content-Length: 2\r\n\r\nhi",
        POST "content-length:2\r\n\r\nhi",
        POST "Content-Length: 0002\r\n\r\nhi",
        POST "Content-Length:  2\r\nX: a \t\r\n\r\nhi",
        POST "Transfer-Encoding: Chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        POST "Content-Length: 2\r\nX-Empty:\r\n\r\nhi",
        POST "Content-Length: 2\r\nX: \xc3\xa9\r\n\r\nhi",
        POST "Content-Length: 2\r\nX: 1\r\nX: 2\r\n\r\nhi",
        "\r\n" POST "Content-Length: 2\r\n\r\nhi",
        "POST /echo?a=b%00c&d HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
        struct client client = dial(rig);
        assert_true(say(&client, heads[i]));
        assert_hears(&client, 200, "hi");
        hang_up(&client);
    }
}

static void test_many_headers(void **state)
{
    struct client client = dial(rig), over = dial(rig);

    (void)state;
    assert_true(say(&client, "GET /get HTTP/1.1\r\nHost: x\r\n"));
    assert_true(say(&over, "GET /get HTTP/1.1\r\nHost: x\r\n"));
    for (int i = 1; i < LIMIT_HEADERS; i++) {
        assert_true(say(&client, "A: b\r\n"));
        assert_true(say(&over, "A: b\r\n"));
    }
    assert_true(say(&client, "\r\n"));
    assert_hears(&client, 200, "hello");
    assert_true(say(&over, "A: b\r\n\r\n"));
    assert_hears(&over, 431, "fault");
    assert_ends(&over);
    assert_int_equal(rig->last_fault, FAULT_TOO_MANY_HEADERS);
    hang_up(&client);
    hang_up(&over);
}

static void test_long_lines(void **state)
{
    (void)state;
    for (size_t len = 1000; len < 40000; len += 500) {
        for (int in_path = 0; in_path < 2; in_path++) {
            struct client client = dial(rig);
            struct reply reply;
            unsigned status = 0;
            char *text = mem_new(len + 1);
            memset(text, 'a', len);
            say(&client, "GET /");
            say(&client, in_path ? text : "get");
            say(&client, " HTTP/1.1\r\nHost: x\r\nX: ");
            say(&client, in_path ? "" : text);
            say(&client, "\r\nConnection: close\r\n\r\n");
            while (hear(&client, &reply))
                status = reply.status;
            if (len <= 7000)
                assert_int_equal(status, 200);
            if (len >= 8192)
                assert_true(status == 0 || status == 414 || status == 431);
            hang_up(&client);
            free(text);
        }
    }
}

/* Nothing that a client sends may end the process, and nothing half-read may reach a handler. */
static void test_noise(void **state)
{
    unsigned seed = 12345;

    (void)state;
    for (int i = 0; i < 120; i++) {
        struct client client = dial(rig);
        struct reply reply;
        char noise[200] = POST "Content-Length: 2\r\nConnection: close\r\n\r\nhi";
        size_t len = strlen(noise);
        for (int flips = 0; flips < 3; flips++) {
            seed = seed * 1103515245 + 12345;
            noise[(seed >> 8) % len] = (char)(seed >> 20);
        }
        say_bytes(&client, (struct slice){.data = noise, .len = len});
        say_end(&client);
        while (hear(&client, &reply))
            assert_true(reply.status >= 100);
        hang_up(&client);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_refused_by_us, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused_by_either, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hidden_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_accepted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_headers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_noise, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
