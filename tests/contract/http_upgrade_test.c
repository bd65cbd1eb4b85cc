/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that are taken over for another protocol, and what else only such users need. */
#include "tests/fakes/http_rig.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gateway/net/parameters.h"

#define HANDSHAKE "GET /upgrade HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"

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

static uint64_t connections(void)
{
    return *metrics_value(METRIC_CONNECTIONS, NULL, NULL, NULL);
}

static void assert_upgraded(struct client *client)
{
    struct reply reply;

    assert_true(hear(client, &reply));
    assert_int_equal(reply.status, 101);
    assert_non_null(strcasestr(reply.head, "\r\nConnection: Upgrade\r\n"));
    assert_non_null(strstr(reply.head, "\r\nUpgrade: echo\r\n"));
    RIG_WAIT(rig, rig->taken_count == 1);
}

/* Both ways, past HTTP. */
static void assert_talks(struct client *client, struct http_socket *socket)
{
    int fd = http_socket_fd(socket);
    char bytes[8];
    ssize_t len = -1;

    assert_int_equal(send(fd, "down", 4, MSG_NOSIGNAL), 4);
    RIG_WAIT(rig, (take_in(client), client->in.len == 4));
    assert_memory_equal(client->in.data, "down", 4);
    buf_clear(&client->in);
    assert_true(say(client, "up"));
    RIG_WAIT(rig, (len = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) >= 0);
    assert_int_equal(len, 2);
    assert_memory_equal(bytes, "up", 2);
}

static void test_taken_over(void **state)
{
    struct client client = dial(rig);
    int on = 0;
    socklen_t size = sizeof(on);

    (void)state;
    assert_true(say(&client, HANDSHAKE));
    assert_upgraded(&client);
    rig_turns(rig, 20);
    assert_int_equal(connections(), 1);
    assert_int_equal(rig->early.len, 0);
    assert_int_equal(rig->unsent_heads, 1);
    assert_talks(&client, rig->taken[0]);
    assert_int_equal(
        getsockopt(http_socket_fd(rig->taken[0]), IPPROTO_TCP, TCP_NODELAY, &on, &size), 0);
    assert_int_equal(on, 1);
    http_socket_close(rig->taken[0]);
    assert_int_equal(connections(), 0);
    assert_ends(&client);
    hang_up(&client);
}

static void test_early_bytes(void **state)
{
    struct client client = dial(rig);
    char bytes[16];
    ssize_t len = -1;

    (void)state;
    assert_true(say(&client, HANDSHAKE "early"));
    assert_upgraded(&client);
    assert_true(say(&client, "late"));
    assert_string_equal(buf_text(&rig->early), "early");
    assert_int_equal(rig->unsent_heads, 0);
    RIG_WAIT(rig, (len = recv(http_socket_fd(rig->taken[0]), bytes, 16, MSG_DONTWAIT)) >= 0);
    assert_int_equal(len, 4);
    assert_memory_equal(bytes, "late", 4);
    assert_talks(&client, rig->taken[0]);
    http_socket_close(rig->taken[0]);
    hang_up(&client);
}

static void test_on_a_kept_connection(void **state)
{
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_hears(&client, 200, "hello");
    assert_true(say(&client, "GET /get HTTP/1.1\r\nHost: x\r\n\r\n" HANDSHAKE));
    assert_hears(&client, 200, "hello");
    assert_upgraded(&client);
    assert_int_equal(rig->unsent_heads, 0);
    assert_talks(&client, rig->taken[0]);
    http_socket_close(rig->taken[0]);
    hang_up(&client);
}

static void test_after_being_parked(void **state)
{
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "GET /park HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                             "Upgrade: echo\r\n\r\n"));
    RIG_WAIT(rig, rig->parked_count == 1);
    rig_upgrade(rig, rig->parked[0]);
    assert_int_equal(rig->taken_count, 0); /* never from inside */
    assert_upgraded(&client);
    assert_talks(&client, rig->taken[0]);
    http_socket_close(rig->taken[0]);
    hang_up(&client);
}

static void test_client_left_before(void **state)
{
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"));
    RIG_WAIT(rig, rig->parked_count == 1);
    assert_false(exchange_is_deserted(rig->parked[0]));
    setsockopt(client.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    hang_up(&client);
    RIG_WAIT(rig, exchange_is_deserted(rig->parked[0]));
    rig_upgrade(rig, rig->parked[0]);
    RIG_WAIT(rig, rig->lost + rig->taken_count == 1);
    if (rig->taken_count == 1)
        http_socket_close(rig->taken[0]);
    RIG_WAIT(rig, connections() == 0);
}

static void test_server_ends_in_a_body(void **state)
{
    struct client client = dial(rig), parked = dial(rig);

    (void)state;
    assert_true(say(&parked, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"));
    RIG_WAIT(rig, rig->parked_count == 1);
    rig_upgrade(rig, rig->parked[0]);
    assert_true(say(&client, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf"));
    RIG_WAIT(rig, rig->taken_count == 1 && rig->heads == 2);
    http_socket_close(rig->taken[0]);
    rig_free(rig); /* with the half request */
    hang_up(&client);
    hang_up(&parked);
    set_up(state);
}

static void test_still_counts(void **state)
{
    struct front_settings settings = rig_settings();
    struct client first, second, third;

    (void)state;
    rig_free(rig);
    settings.connections_per_address = 2;
    settings.head_ms = settings.body_ms = settings.idle_ms = 300;
    rig = rig_new(&settings);
    first = dial(rig);
    assert_true(say(&first, HANDSHAKE));
    assert_upgraded(&first);
    uint64_t later = uv_hrtime() + 1500 * UINT64_C(1000000); /* than every deadline */
    while (uv_hrtime() < later)
        rig_turn(rig);
    assert_talks(&first, rig->taken[0]);
    assert_int_equal(connections(), 1);
    second = dial(rig);
    third = dial(rig);
    assert_ends(&third);
    assert_int_equal(*metrics_value(METRIC_CONNECTIONS_REFUSED, "per_address", NULL, NULL), 1);
    hang_up(&third);
    http_socket_close(rig->taken[0]);
    third = dial(rig);
    assert_true(say(&third, "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_hears(&third, 200, "hello");
    hang_up(&first);
    hang_up(&second);
    hang_up(&third);
}

static void test_many(void **state)
{
    enum { MANY = 500 };
    static struct client clients[MANY];
    struct client other = dial(rig);

    (void)state;
    for (int i = 0; i < MANY; i++) {
        clients[i] = dial(rig);
        assert_true(say(&clients[i], HANDSHAKE));
    }
    RIG_WAIT(rig, rig->taken_count == MANY);
    assert_int_equal(connections(), MANY + 1);
    assert_true(say(&other, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"));
    RIG_WAIT(rig, rig->parked_count == 1);
    rig_release(rig, 0);
    assert_hears(&other, 200, "late");
    for (unsigned i = 0; i < MANY; i++) {
        hang_up(&clients[i]);
        http_socket_close(rig->taken[i]);
    }
    assert_int_equal(connections(), 1);
    hang_up(&other);
}

static void test_body_never_ends(void **state)
{
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf"));
    RIG_WAIT(rig, rig->heads == 1);
    assert_int_equal(rig->gone, 0);
    hang_up(&client);
    RIG_WAIT(rig, rig->gone == 1);
    client = dial(rig);
    assert_true(say(&client, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nfull"));
    assert_hears(&client, 200, "full");
    hang_up(&client);
    RIG_WAIT(rig, connections() == 0);
    assert_int_equal(rig->gone, 1);
}

static void test_parameters(void **state)
{
    struct client client = dial(rig);
    struct slice value;

    (void)state;
    assert_true(say(&client, "GET /park?a=1&A=2&b=%31&twice=1&twice=1&none&=x HTTP/1.1\r\n"
                             "Host: x\r\n\r\n"));
    RIG_WAIT(rig, rig->parked_count == 1);
    const struct exchange *exchange = rig->parked[0];
    assert_int_equal(exchange_parameter(exchange, SLICE("a"), &value), HEADER_FOUND);
    assert_true(slice_eq(value, SLICE("1")));
    assert_int_equal(exchange_parameter(exchange, SLICE("A"), &value), HEADER_FOUND);
    assert_true(slice_eq(value, SLICE("2")));
    assert_int_equal(exchange_parameter(exchange, SLICE("b"), &value), HEADER_FOUND);
    assert_true(slice_eq(value, SLICE("%31")));
    assert_int_equal(exchange_parameter(exchange, SLICE("none"), &value), HEADER_FOUND);
    assert_int_equal(value.len, 0);
    assert_int_equal(exchange_parameter(exchange, SLICE("twice"), &value), HEADER_REPEATED);
    assert_int_equal(exchange_parameter(exchange, SLICE("c"), &value), HEADER_ABSENT);
    rig_release(rig, 0);
    assert_hears(&client, 200, "late");
    hang_up(&client);
}

static void test_further_fields(void **state)
{
    const struct http_field fields[] = {
        {.name = "Cache-Control", .value = SLICE("no-store")},
        {.name = "Vary", .value = {.data = "Originally", .len = 6}}};
    struct client client = dial(rig);
    struct reply reply;

    (void)state;
    assert_true(say(&client, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"));
    RIG_WAIT(rig, rig->parked_count == 1);
    exchange_answer(rig->parked[0],
                    &(struct http_answer){.status = 204, .fields = fields, .field_count = 2});
    assert_true(hear(&client, &reply));
    assert_int_equal(reply.status, 204);
    assert_non_null(strstr(reply.head, "\r\nCache-Control: no-store\r\n"));
    assert_non_null(strstr(reply.head, "\r\nVary: Origin\r\n"));
    hang_up(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_taken_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_early_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_on_a_kept_connection, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_after_being_parked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_client_left_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_server_ends_in_a_body, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_still_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_body_never_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parameters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_further_fields, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
