/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies: limits, chunked coding, expectations, and uploads that never end. */
#include "tests/fakes/http_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void say_post(struct client *client, const char *path, size_t len)
{
    char head[160];

    snprintf(head, sizeof(head), "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", path,
             len);
    assert_true(say(client, head));
}

/* false: the connection was gone before all of it was taken. */
static bool say_times(struct client *client, char c, size_t count)
{
    char bytes[4096];

    memset(bytes, c, sizeof(bytes));
    for (; count > 0;) {
        size_t len = count < sizeof(bytes) ? count : sizeof(bytes);
        if (!say_bytes(client, (struct slice){.data = bytes, .len = len}))
            return false;
        count -= len;
    }
    return true;
}

static const char chunked[] =
    "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";

static void test_limit_by_length(void **state)
{
    struct client client = dial(rig);
    struct reply reply;

    (void)state;
    say_post(&client, "/echo", ECHO_MOST);
    assert_true(say_times(&client, 'a', ECHO_MOST));
    assert_true(hear(&client, &reply));
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.body_len, ECHO_MOST);
    say_post(&client, "/echo", ECHO_MOST + 1); /* refused before a byte of it comes */
    assert_hears(&client, 413, "fault");
    assert_ends(&client);
    assert_int_equal(rig->last_fault, FAULT_TOO_LARGE);
    assert_int_equal(rig->requests, 1);
    hang_up(&client);
}

static void test_large_body_in_full_flow(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        struct client client = dial(rig);
        say_post(&client, "/echo", 1000000);
        assert_true(say_times(&client, 'a', 1000000)); /* no reset before the answer is read */
        assert_hears(&client, 413, "fault");
        assert_ends(&client);
        hang_up(&client);
    }
    assert_int_equal(rig->requests, 0);
}

static void test_no_body_wanted(void **state)
{
    struct client client = dial(rig);

    (void)state;
    say_post(&client, "/get", 0);
    assert_hears(&client, 200, "hello");
    say_post(&client, "/get", 1);
    assert_hears(&client, 413, "fault");
    assert_ends(&client);
    hang_up(&client);
}

static void test_refused_by_head(void **state)
{
    struct client client = dial(rig);

    (void)state;
    say_post(&client, "/refused", 3);
    assert_true(say(&client, "abc")); /* short: read and dropped, the connection is kept */
    assert_hears(&client, 404, "refused");
    assert_true(say(&client, "GET /refused HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_hears(&client, 404, "refused");
    say_post(&client, "/refused", 1000000); /* long: not waited for */
    assert_hears(&client, 404, "refused");
    assert_ends(&client);
    assert_int_equal(rig->requests, 0);
    hang_up(&client);
}

static void test_chunked(void **state)
{
    struct client client = dial(rig);
    const char *rest = "1\r\na\r\n1\r\nb\r\n01\r\nc\r\nA\r\n0123456789\r\n0\r\nTrailer: z\r\n\r\n";

    (void)state;
    assert_true(say(&client, chunked));
    for (; *rest; rest++) { /* byte by byte */
        assert_true(say_bytes(&client, (struct slice){.data = rest, .len = 1}));
        rig_turn(rig);
    }
    assert_hears(&client, 200, "abc0123456789");
    assert_true(say(&client, chunked));
    assert_true(say(&client, "0\r\n\r\n"));
    assert_hears(&client, 200, "");
    hang_up(&client);
}

static void test_chunked_to_the_limit(void **state)
{
    struct client client = dial(rig);
    struct reply reply;

    (void)state;
    assert_true(say(&client, chunked));
    for (int i = 0; i < ECHO_MOST; i++)
        assert_true(say(&client, "1\r\na\r\n"));
    assert_true(say(&client, "0\r\n\r\n"));
    assert_true(hear(&client, &reply));
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.body_len, ECHO_MOST);
    hang_up(&client);
}

static void test_chunked_over_the_limit(void **state)
{
    struct client client = dial(rig);
    struct reply reply;

    (void)state;
    assert_true(say(&client, chunked));
    for (int i = 0; i < 2000; i++) /* 200,000 bytes, and no end of it */
        assert_true(say(&client, "64\r\n0123456789012345678901234567890123456789012345678901234567"
                                 "890123456789012345678901234567890123456789\r\n"));
    assert_true(hear(&client, &reply));
    assert_int_equal(reply.status, 413);
    assert_string_equal(reply.body, "fault");
    assert_non_null(strstr(reply.head, "HTTP/1.1 413 "));
    assert_non_null(strstr(reply.head, "\r\nConnection: close\r\n"));
    assert_ends(&client);
    assert_int_equal(rig->requests, 0);
    assert_int_equal(rig->faults, 1);
    hang_up(&client);
}

static void test_chunked_where_no_body_is_wanted(void **state)
{
    struct client client = dial(rig);

    (void)state;
    assert_true(
        say(&client, "POST /get HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"));
    assert_hears(&client, 413, "fault");
    assert_ends(&client);
    hang_up(&client);
}

static void test_broken_chunks(void **state)
{
    static const char *const rests[] = {
        "x\r\n",       "-1\r\na\r\n", "0x1\r\na\r\n", "1\r\nab\r\n", "ffffffffffffffffff\r\n",
        " 1\r\na\r\n", "\r\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(rests) / sizeof(*rests); i++) {
        struct client client = dial(rig);
        struct reply reply;
        assert_true(say(&client, chunked));
        say(&client, rests[i]);
        while (hear(&client, &reply)) /* the library's own refusal, and an end */
            assert_true(reply.status >= 400);
        hang_up(&client);
    }
    assert_int_equal(rig->requests, 0);
}

static void test_expectations(void **state)
{
    struct client client = dial(rig), refused = dial(rig), unknown = dial(rig);

    (void)state;
    assert_true(say(&client, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                             "Expect: 100-continue\r\n\r\n"));
    assert_hears(&client, 100, "");
    assert_true(say(&client, "hi"));
    assert_hears(&client, 200, "hi");
    assert_true(say(&refused, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n"
                              "Expect: 100-continue\r\n\r\n"));
    assert_hears(&refused, 413, "fault");
    assert_ends(&refused);
    assert_true(say(&unknown, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                              "Expect: the-unexpected\r\n\r\nhi"));
    assert_hears(&unknown, 417, "fault");
    assert_ends(&unknown);
    assert_int_equal(rig->last_fault, FAULT_EXPECTATION);
    assert_int_equal(rig->requests, 1);
    hang_up(&client);
    hang_up(&refused);
    hang_up(&unknown);
}

static void test_refused_by_head_with_an_expectation(void **state)
{
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                             "Expect: 100-continue\r\n\r\n"));
    assert_hears(&client, 404, "refused"); /* and no 100 */
    assert_ends(&client);
    hang_up(&client);
}

static void test_no_length(void **state)
{
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "POST /echo HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_hears(&client, 411, "fault");
    assert_ends(&client);
    assert_int_equal(rig->last_fault, FAULT_NO_LENGTH);
    hang_up(&client);
}

static void test_aborted_uploads(void **state)
{
    static const char whole[] = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n"
                                "0123456789012345678901234567890123456789";
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};

    (void)state;
    for (size_t len = 0; len < sizeof(whole) - 1; len++) {
        struct client client = dial(rig);
        assert_true(say_bytes(&client, (struct slice){.data = whole, .len = len}));
        rig_turns(rig, 3);
        if (len % 2)
            setsockopt(client.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        hang_up(&client);
        rig_turns(rig, 3);
    }
    RIG_WAIT(rig, *metrics_value(METRIC_CONNECTIONS, NULL, NULL, NULL) == 0);
    assert_true(rig->heads > 0);
    assert_int_equal(rig->requests, 0);
}

static void test_aborted_chunks(void **state)
{
    (void)state;
    for (size_t len = 0; len < sizeof(chunked) + 20; len += 3) {
        struct client client = dial(rig);
        assert_true(say_bytes(&client, slice_first(slice_from(chunked), len)));
        if (len > sizeof(chunked) - 1)
            assert_true(say_bytes(&client, slice_first(SLICE("14\r\n01234567890123456789\r\n"),
                                                       len - sizeof(chunked) + 1)));
        rig_turns(rig, 3);
        hang_up(&client);
    }
    RIG_WAIT(rig, *metrics_value(METRIC_CONNECTIONS, NULL, NULL, NULL) == 0);
    assert_int_equal(rig->requests, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_limit_by_length, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_large_body_in_full_flow, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_body_wanted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused_by_head, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chunked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chunked_to_the_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chunked_over_the_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chunked_where_no_body_is_wanted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_broken_chunks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_expectations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused_by_head_with_an_expectation, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_no_length, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_aborted_uploads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_aborted_chunks, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
