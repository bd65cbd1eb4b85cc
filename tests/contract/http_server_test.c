/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and answers through a real front and server. */
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

static unsigned open_connections(void)
{
    return (unsigned)*metrics_value(METRIC_CONNECTIONS, NULL, NULL, NULL);
}

static void test_answer(void **state)
{
    struct client client = dial(rig);
    struct reply reply;

    (void)state;
    for (int i = 0; i < 3; i++) { /* the connection is kept */
        assert_true(say(&client, "GET /a%2Fb?c=%31 HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert_true(hear(&client, &reply));
        assert_int_equal(reply.status, 200);
        assert_string_equal(reply.body, "hello");
        assert_non_null(strstr(reply.head, "Content-Type: text/plain\r\n"));
        assert_null(strcasestr(reply.head, "Connection: close"));
        assert_string_equal(rig->last_path, "/a%2Fb"); /* raw, without the query */
        assert_string_equal(rig->last_peer, "127.0.0.1");
    }
    assert_int_equal(open_connections(), 1);
    hang_up(&client);
    RIG_WAIT(rig, open_connections() == 0);
}

static void test_head_method(void **state)
{
    struct client client = dial(rig);
    struct reply reply;

    (void)state;
    assert_true(say(&client, "HEAD /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_true(hear(&client, &reply));
    assert_int_equal(reply.status, 200);
    assert_non_null(strstr(reply.head, "Content-Length: 5\r\n"));
    assert_true(say(&client, "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_hears(&client, 200, "hello");
    hang_up(&client);
}

static void test_headers_of_an_answer(void **state)
{
    struct client client = dial(rig);
    struct reply reply;
    const struct http_answer answer = {.status = 503,
                                       .content_type = "application/json",
                                       .allow = "POST",
                                       .retry_after_s = 17,
                                       .close = true,
                                       .body = SLICE("{}")};

    (void)state;
    assert_true(say(&client, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"));
    RIG_WAIT(rig, rig->parked_count == 1);
    exchange_answer(rig->parked[0], &answer);
    assert_true(hear(&client, &reply));
    assert_int_equal(reply.status, 503);
    assert_non_null(strstr(reply.head, "\r\nAllow: POST\r\n"));
    assert_non_null(strstr(reply.head, "\r\nRetry-After: 17\r\n"));
    assert_non_null(strcasestr(reply.head, "\r\nConnection: close\r\n"));
    assert_ends(&client);
    hang_up(&client);
}

static void test_pipelined(void **state)
{
    struct client client = dial(rig);
    struct buf all = BUF_INIT(65536);
    char body[16];

    (void)state;
    for (int i = 0; i < 50; i++)
        buf_appendf(&all, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n%04d", i);
    assert_true(say_bytes(&client, buf_slice(&all)));
    for (int i = 0; i < 50; i++) {
        snprintf(body, sizeof(body), "%04d", i);
        assert_hears(&client, 200, body);
    }
    hang_up(&client);
    buf_release(&all);
}

static void test_pipelined_behind_a_parked_one(void **state)
{
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"
                             "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"
                             "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    RIG_WAIT(rig, rig->parked_count == 1);
    rig_turns(rig, 20);
    assert_int_equal(rig->requests, 1); /* the others wait */
    rig_release(rig, 0);
    assert_hears(&client, 200, "late");
    RIG_WAIT(rig, rig->parked_count == 2);
    rig_release(rig, 1);
    assert_hears(&client, 200, "late");
    assert_hears(&client, 200, "hello");
    hang_up(&client);
}

static void test_many_parked(void **state)
{
    enum { MANY = 300 };
    struct client clients[MANY];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        clients[i] = dial(rig);
        assert_true(
            say(&clients[i], "POST /park HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"));
    }
    RIG_WAIT(rig, rig->parked_count == MANY);
    for (size_t i = MANY; i > 0; i--)
        rig_release(rig, i - 1); /* all in one turn */
    for (int i = 0; i < MANY; i++) {
        assert_hears(&clients[i], 200, "late");
        assert_true(say(&clients[i], "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    }
    for (int i = 0; i < MANY; i++) {
        assert_hears(&clients[i], 200, "hello");
        hang_up(&clients[i]);
    }
}

static void test_client_gone_while_parked(void **state)
{
    struct client quiet = dial(rig), rude = dial(rig);
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};

    (void)state;
    assert_true(say(&quiet, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_true(say(&rude, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"));
    RIG_WAIT(rig, rig->parked_count == 2);
    setsockopt(rude.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    hang_up(&quiet);
    hang_up(&rude);
    rig_turns(rig, 20);
    assert_int_equal(open_connections(), 2); /* not seen while parked */
    rig_release(rig, 0);
    rig_release(rig, 1);
    RIG_WAIT(rig, open_connections() == 0);
}

static void test_half_closed_client_gets_its_answer(void **state)
{
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"));
    RIG_WAIT(rig, rig->parked_count == 1);
    say_end(&client);
    rig_turns(rig, 5);
    rig_release(rig, 0);
    assert_hears(&client, 200, "late");
    assert_ends(&client);
    hang_up(&client);
}

static void test_binary_body(void **state)
{
    struct client client = dial(rig);
    struct reply reply;
    char body[256];

    (void)state;
    for (size_t i = 0; i < sizeof(body); i++)
        body[i] = (char)i;
    assert_true(say(&client, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 256\r\n\r\n"));
    for (size_t i = 0; i < sizeof(body); i++) {
        assert_true(say_bytes(&client, (struct slice){.data = body + i, .len = 1}));
        rig_turn(rig);
    }
    assert_true(hear(&client, &reply));
    assert_int_equal(reply.body_len, sizeof(body));
    assert_memory_equal(reply.body, body, sizeof(body));
    hang_up(&client);
}

static void test_drain(void **state)
{
    struct client kept = dial(rig), parked = dial(rig);
    union address address = rig_address(rig, 0);
    struct reply reply;

    (void)state;
    assert_true(say(&kept, "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_hears(&kept, 200, "hello");
    assert_true(say(&parked, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"));
    RIG_WAIT(rig, rig->parked_count == 1);
    front_drain(rig->front);
    int late = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(late, &address.any, address_len(&address)), -1);
    assert_int_equal(errno, ECONNREFUSED);
    close(late);
    rig_release(rig, 0);
    assert_true(hear(&parked, &reply));
    assert_int_equal(reply.status, 200);
    assert_non_null(strcasestr(reply.head, "\r\nConnection: close\r\n"));
    assert_ends(&parked);
    assert_true(say(&kept, "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_true(hear(&kept, &reply));
    assert_non_null(strcasestr(reply.head, "\r\nConnection: close\r\n"));
    assert_ends(&kept);
    hang_up(&kept);
    hang_up(&parked);
}

static void test_answer_in_the_last_turn(void **state)
{
    struct client client = dial(rig), other = dial(rig);

    (void)state;
    assert_true(say(&client, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"));
    RIG_WAIT(rig, rig->parked_count == 1);
    assert_true(say(&other, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"));
    rig_release(rig, 0);
    rig_free(rig); /* `other` must not be parked by it */
    while (!client.over)
        take_in(&client);
    assert_non_null(memmem(client.in.data, client.in.len, "late", 4));
    hang_up(&client);
    hang_up(&other);
    set_up(state);
}

static void test_http_1_0(void **state)
{
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "GET /get HTTP/1.0\r\n\r\n"));
    assert_hears(&client, 200, "hello");
    assert_ends(&client);
    hang_up(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_head_method, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_headers_of_an_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pipelined, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pipelined_behind_a_parked_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_parked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_client_gone_while_parked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_half_closed_client_gets_its_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_binary_body, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_drain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_answer_in_the_last_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_http_1_0, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
