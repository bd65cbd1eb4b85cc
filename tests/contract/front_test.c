/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines, limits on connections, and the kinds of listeners. */
#include "tests/fakes/http_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t metric(enum metric family, const char *label)
{
    return *metrics_value(family, label, NULL, NULL);
}

static struct rig *rig_with_deadlines(void)
{
    struct front_settings settings = rig_settings();

    settings.head_ms = settings.body_ms = 300;
    settings.idle_ms = 1000;
    return rig_new(&settings);
}

static void assert_timed_out(struct client *client)
{
    struct reply reply;

    assert_true(hear(client, &reply));
    assert_int_equal(reply.status, 408);
    assert_non_null(strstr(reply.head, "\r\nConnection: close\r\n"));
    assert_non_null(strstr(reply.head, "\r\nDate: "));
    assert_string_equal(reply.body, "{\"code\":\"request_timeout\","
                                    "\"message\":\"The request did not arrive in time.\"}");
    assert_ends(client);
}

static void test_slow_head(void **state)
{
    struct rig *rig = rig_with_deadlines();
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "GET /get HTTP/1.1\r\nHost: x\r\n"));
    while (say(&client, "a: b\r\n") && !client.over) { /* it drips, so it is never idle */
        for (int i = 0; i < 20; i++)
            rig_turn(rig);
        take_in(&client);
    }
    assert_timed_out(&client);
    assert_int_equal(rig->heads, 0);
    assert_int_equal(metric(METRIC_DEADLINES, "head"), 1);
    hang_up(&client);
    rig_free(rig);
}

static void test_slow_body(void **state)
{
    struct rig *rig = rig_with_deadlines();
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4000\r\n\r\n"));
    while (say(&client, "a") && !client.over) {
        for (int i = 0; i < 20; i++)
            rig_turn(rig);
        take_in(&client);
    }
    assert_timed_out(&client);
    assert_int_equal(rig->heads, 1);
    assert_int_equal(rig->requests, 0);
    assert_int_equal(metric(METRIC_DEADLINES, "body"), 1);
    hang_up(&client);
    rig_free(rig);
}

static void test_silent_connection(void **state)
{
    struct rig *rig = rig_with_deadlines();
    struct client client = dial(rig);

    (void)state;
    assert_ends(&client); /* it asked nothing, so nothing is answered */
    hang_up(&client);
    rig_free(rig);
}

static void test_idle_after_a_request(void **state)
{
    struct rig *rig = rig_with_deadlines();
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_hears(&client, 200, "hello");
    assert_ends(&client); /* no 408: nothing was begun */
    hang_up(&client);
    rig_free(rig);
}

static void test_slow_second_head(void **state)
{
    struct rig *rig = rig_with_deadlines();
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_hears(&client, 200, "hello");
    assert_true(say(&client, "GET /get HTTP/1.1\r\nHost: x\r\n"));
    while (say(&client, "a: b\r\n") && !client.over) {
        for (int i = 0; i < 20; i++)
            rig_turn(rig);
        take_in(&client);
    }
    assert_timed_out(&client);
    hang_up(&client);
    rig_free(rig);
}

static void test_parked_has_no_deadline(void **state)
{
    struct rig *rig = rig_with_deadlines();
    struct client client = dial(rig);
    uint64_t later = uv_hrtime() + 2000 * UINT64_C(1000000); /* longer than all of them */

    (void)state;
    assert_true(say(&client, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"));
    RIG_WAIT(rig, rig->parked_count == 1);
    while (uv_hrtime() < later)
        rig_turn(rig);
    rig_release(rig, 0);
    assert_hears(&client, 200, "late");
    assert_true(say(&client, "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_hears(&client, 200, "hello");
    hang_up(&client);
    rig_free(rig);
}

static void test_half_closed_after_a_request(void **state)
{
    const struct front_settings settings = rig_settings();
    struct rig *rig = rig_new(&settings);
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    say_end(&client);
    assert_hears(&client, 200, "hello");
    assert_ends(&client); /* long before it counts as idle */
    hang_up(&client);
    rig_free(rig);
}

static void test_per_address(void **state)
{
    struct front_settings settings = rig_settings();
    struct client clients[4];

    (void)state;
    settings.connections_per_address = 3;
    struct rig *rig = rig_new(&settings);
    for (int i = 0; i < 4; i++)
        clients[i] = dial(rig);
    assert_ends(&clients[3]);
    assert_int_equal(metric(METRIC_CONNECTIONS_REFUSED, "per_address"), 1);
    for (int i = 0; i < 3; i++) {
        assert_true(say(&clients[i], "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert_hears(&clients[i], 200, "hello");
    }
    hang_up(&clients[0]);
    RIG_WAIT(rig, metric(METRIC_CONNECTIONS, NULL) == 2);
    hang_up(&clients[3]);
    clients[3] = dial(rig);
    assert_true(say(&clients[3], "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_hears(&clients[3], 200, "hello");
    for (int i = 1; i < 4; i++)
        hang_up(&clients[i]);
    rig_free(rig);
}

static void test_proxies_are_not_counted(void **state)
{
    struct front_settings settings = rig_settings();
    struct client clients[4];

    (void)state;
    settings.connections_per_address = 1;
    settings.proxies[0] = SLICE("127.0.0.0/8");
    settings.proxy_count = 1;
    struct rig *rig = rig_new(&settings);
    for (int i = 0; i < 4; i++) {
        clients[i] = dial(rig);
        assert_true(say(&clients[i], "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert_hears(&clients[i], 200, "hello");
    }
    for (int i = 0; i < 4; i++)
        hang_up(&clients[i]);
    rig_free(rig);
}

static void test_in_all(void **state)
{
    struct front_settings settings = rig_settings();
    struct client clients[3];

    (void)state;
    settings.connections = 2;
    struct rig *rig = rig_new(&settings);
    for (int i = 0; i < 3; i++)
        clients[i] = dial(rig);
    assert_ends(&clients[2]);
    assert_int_equal(metric(METRIC_CONNECTIONS_REFUSED, "total"), 1);
    for (int i = 0; i < 3; i++)
        hang_up(&clients[i]);
    rig_free(rig);
}

static void test_many_idle(void **state)
{
    enum { MANY = 2000 };
    const struct front_settings settings = rig_settings();
    struct rig *rig = rig_new(&settings); /* raises the limit on descriptors */
    struct client *clients = mem_new(MANY * sizeof(*clients));

    (void)state;
    for (int i = 0; i < MANY; i++) {
        clients[i] = dial(rig);
        if (i % 100 == 0)
            rig_turns(rig, 2);
    }
    RIG_WAIT(rig, metric(METRIC_CONNECTIONS, NULL) == MANY);
    for (int i = 0; i < MANY; i += 97) {
        assert_true(say(&clients[i], "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert_hears(&clients[i], 200, "hello");
    }
    for (int i = 0; i < MANY; i++)
        hang_up(&clients[i]);
    RIG_WAIT(rig, metric(METRIC_CONNECTIONS, NULL) == 0);
    free(clients);
    rig_free(rig);
}

static void test_out_of_descriptors(void **state)
{
    const struct front_settings settings = rig_settings();
    struct rig *rig = rig_new(&settings);
    const union address address = rig_address(rig, 0);
    struct rlimit limit, low;
    struct client clients[8];

    (void)state;
    for (int i = 0; i < 8; i++)
        clients[i] = knock(rig, &address); /* in the backlog */
    int next = dup(clients[0].fd);
    close(next);
    getrlimit(RLIMIT_NOFILE, &limit);
    low = (struct rlimit){.rlim_cur = (rlim_t)next + 2, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0); /* room for two of them */
    RIG_WAIT(rig, metric(METRIC_ACCEPT_PAUSES, NULL) >= 1);
    assert_int_equal(metric(METRIC_CONNECTIONS, NULL), 2);
    assert_true(metric(METRIC_CONNECTIONS_REFUSED, "descriptors") >= 1);
    setrlimit(RLIMIT_NOFILE, &limit);
    uint64_t refused = metric(METRIC_CONNECTIONS_REFUSED, "descriptors");
    RIG_WAIT(rig, metric(METRIC_CONNECTIONS, NULL) == 8 - refused);
    greet(&clients[7]);
    assert_true(say(&clients[7], "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_hears(&clients[7], 200, "hello");
    for (int i = 0; i < 8; i++)
        hang_up(&clients[i]);
    rig_free(rig);
}

static void test_unix_socket(void **state)
{
    char directory[] = "/tmp/front_test."
                       "XX"
                       "XX"
                       "XX",
         listen[64];
    struct front_settings settings = rig_settings();
    struct stat file;
    struct front *none;
    struct err err;

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(listen, sizeof(listen), "unix:%s/socket", directory);
    const char *path = listen + 5;
    settings.listen[0] = slice_from(listen);
    settings.connections_per_address = 1; /* does not count here */

    int plain = open(path, O_CREAT | O_WRONLY, 0600);
    close(plain);
    struct rig *rig = mem_new(sizeof(*rig));
    uv_loop_init(&rig->loop);
    turn_open(&rig->turn, &rig->loop);
    const struct http_handlers handlers = {.context = rig};
    assert_false(front_open(&settings, &rig->turn, &handlers, &none, &err)); /* not a socket */
    assert_non_null(strstr(err.text, "no socket"));
    unlink(path);
    turn_close(&rig->turn);
    uv_run(&rig->loop, UV_RUN_DEFAULT);
    uv_loop_close(&rig->loop);
    free(rig);

    union address address;
    assert_true(address_parse(settings.listen[0], &address, &err));
    int stale = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(stale, &address.any, address_len(&address)), 0);
    close(stale);

    rig = rig_new(&settings); /* replaced */
    assert_string_equal(front_address(rig->front, 0), listen);
    assert_false(front_open(&settings, &rig->turn, &handlers, &none, &err)); /* in use */
    assert_non_null(strstr(err.text, "already"));
    struct client first = dial(rig), second = dial(rig);
    assert_true(say(&first, "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_true(say(&second, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"));
    assert_hears(&first, 200, "hello");
    assert_hears(&second, 200, "hi");
    assert_string_equal(rig->last_peer, "unix");
    hang_up(&first);
    hang_up(&second);
    rig_free(rig);
    assert_int_equal(lstat(path, &file), -1); /* removed */
    assert_int_equal(rmdir(directory), 0);
}

static void test_several_listeners(void **state)
{
    struct front_settings settings = rig_settings();

    (void)state;
    settings.listen[0] = SLICE("[::]:0"); /* both families, or IPv4 alone */
    settings.listen[1] = SLICE("0.0.0.0:0");
    settings.listen_count = 2;
    struct rig *rig = rig_new(&settings);
    assert_int_equal(front_listener_count(rig->front), 2);
    assert_null(front_address(rig->front, 2));
    for (size_t i = 0; i < 2; i++) {
        assert_non_null(strstr(front_address(rig->front, i),
                               rig->certificate ? "https://127.0.0.1:" : "http://127.0.0.1:"));
        union address address = rig_address(rig, i);
        struct client client = dial_address(rig, &address);
        assert_true(say(&client, "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert_hears(&client, 200, "hello");
        assert_string_equal(rig->last_peer, "127.0.0.1");
        hang_up(&client);
    }
    rig_free(rig);
}

static void test_one_listener_fails(void **state)
{
    const struct front_settings settings = rig_settings();
    struct rig *rig = rig_new(&settings);
    struct front_settings second = rig_settings();
    struct front *none;
    struct err err;
    const struct http_handlers handlers = {.context = rig};

    (void)state;
    struct slice taken = slice_from(front_address(rig->front, 0));
    second.listen[1] = slice_from_at(taken, rig->certificate ? 8 : 7); /* beyond the scheme */
    second.listen_count = 2;
    assert_false(front_open(&second, &rig->turn, &handlers, &none, &err));
    assert_non_null(strstr(err.text, "cannot listen"));
    second.listen_count = 1;
    second.proxies[0] = SLICE("proxy.example");
    second.proxy_count = 1;
    assert_false(front_open(&second, &rig->turn, &handlers, &none, &err));
    assert_non_null(strstr(err.text, "proxy.example"));
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_head),
        cmocka_unit_test(test_slow_body),
        cmocka_unit_test(test_silent_connection),
        cmocka_unit_test(test_idle_after_a_request),
        cmocka_unit_test(test_slow_second_head),
        cmocka_unit_test(test_parked_has_no_deadline),
        cmocka_unit_test(test_half_closed_after_a_request),
        cmocka_unit_test(test_per_address),
        cmocka_unit_test(test_proxies_are_not_counted),
        cmocka_unit_test(test_in_all),
        cmocka_unit_test(test_many_idle),
        cmocka_unit_test(test_out_of_descriptors),
        cmocka_unit_test(test_unix_socket),
        cmocka_unit_test(test_several_listeners),
        cmocka_unit_test(test_one_listener_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
