/* SPDX-License-Identifier: Apache-2.0 */
/* What TLS adds to the front: handshakes that fail, ends of streams, and whoever does not read. */
#include "tests/fakes/http_rig.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fakes/pem.h"

#define PARK "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"

static struct rig *rig;

static struct front_settings settings_of_test(void)
{
    struct front_settings settings = rig_settings();

    settings.head_ms = settings.body_ms = 300;
    settings.idle_ms = 2000;
    return settings;
}

static int set_up(void **state)
{
    const struct front_settings settings = settings_of_test();

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

static uint64_t shaken(const char *result)
{
    return *metrics_value(METRIC_TLS_HANDSHAKES, result, NULL, NULL);
}

static unsigned descriptors(void)
{
    DIR *all = opendir("/proc/self/fd");
    unsigned count = 0;

    while (readdir(all))
        count++;
    closedir(all);
    return count;
}

static struct client visitor(void)
{
    const union address address = rig_address(rig, 0);

    return knock(rig, &address);
}

/* Sends it in the clear. */
static void throw(struct client * client, struct slice bytes)
{
    assert_int_equal(send(client->fd, bytes.data, bytes.len, MSG_NOSIGNAL), bytes.len);
}

static void assert_shut_out(struct client *client)
{
    RIG_WAIT(rig, (take_in(client), client->over));
    hang_up(client);
    RIG_WAIT(rig, connections() == 0);
}

static void test_plain_http(void **state)
{
    struct client client = visitor();

    (void)state;
    throw(&client, SLICE("GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_shut_out(&client);
    assert_int_equal(shaken("plain_http"), 1);
    assert_int_equal(rig->heads, 0);
}

static void test_garbage(void **state)
{
    struct client client = visitor();

    (void)state;
    throw(&client, SLICE("\x01\x02\x03"));
    assert_shut_out(&client);
    assert_int_equal(shaken("not_tls"), 1);
}

static void test_silent(void **state)
{
    struct client client = visitor();

    (void)state;
    assert_shut_out(&client);
    assert_int_equal(shaken("timeout"), 1);
}

/* The client's first flight. */
static struct buf hello(void)
{
    struct tls *client = tls_probe_new();
    struct buf bytes = BUF_INIT(16 * 1024);
    struct err err;

    tls_shake(client, &err);
    buf_append(&bytes, tls_output(client));
    tls_free(client);
    return bytes;
}

static void test_never_finished(void **state)
{
    struct client client = visitor();
    struct buf bytes = hello();

    (void)state;
    throw(&client, buf_slice(&bytes));
    assert_shut_out(&client);
    assert_int_equal(shaken("timeout"), 1);
    buf_release(&bytes);
}

static void test_given_up_anywhere(void **state)
{
    struct buf bytes = hello();
    unsigned before = descriptors();

    (void)state;
    for (size_t at = 0; at < bytes.len; at++) {
        struct client client = visitor();
        if (at > 0)
            throw(&client, slice_first(buf_slice(&bytes), at));
        hang_up(&client);
    }
    RIG_WAIT(rig, shaken("closed") == bytes.len);
    RIG_WAIT(rig, connections() == 0);
    assert_int_equal(descriptors(), before);
    buf_release(&bytes);
}

static void test_handshakes_count_as_connections(void **state)
{
    struct front_settings settings = settings_of_test();
    struct client first, second, third;

    (void)state;
    rig_free(rig);
    settings.connections_per_address = 2;
    settings.head_ms = 60000;
    rig = rig_new(&settings);
    first = visitor();
    second = visitor();
    third = visitor();
    RIG_WAIT(rig, (take_in(&third), third.over));
    assert_int_equal(*metrics_value(METRIC_CONNECTIONS_REFUSED, "per_address", NULL, NULL), 1);
    hang_up(&first);
    hang_up(&second);
    hang_up(&third);
    RIG_WAIT(rig, connections() == 0);
}

static void test_three_descriptors(void **state)
{
    unsigned before = descriptors();
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, PARK));
    RIG_WAIT(rig, rig->parked_count == 1);
    assert_int_equal(descriptors(), before + 3 + 1); /* the client's own */
    rig_release(rig, 0);
    assert_hears(&client, 200, "late");
    hang_up(&client);
    RIG_WAIT(rig, connections() == 0);
    assert_int_equal(descriptors(), before);
}

static void test_asks_and_says_that_it_was_all(void **state)
{
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, PARK));
    say_end(&client);
    RIG_WAIT(rig, rig->parked_count == 1);
    rig_release(rig, 0);
    assert_hears(&client, 200, "late");
    assert_ends(&client);
    assert_true(client.told);
    hang_up(&client);
}

static void test_asks_and_is_cut_off(void **state)
{
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, PARK));
    RIG_WAIT(rig, rig->parked_count == 1);
    shutdown(client.fd, SHUT_WR); /* without a close_notify */
    RIG_WAIT(rig, exchange_is_deserted(rig->parked[0]));
    assert_int_equal(connections(), 1);
    rig_release(rig, 0);
    RIG_WAIT(rig, connections() == 0);
    RIG_WAIT(rig, (take_in(&client), client.over));
    assert_false(client.told);
    assert_int_equal(client.in.len, 0);
    hang_up(&client);
}

static void test_upload_cut_off(void **state)
{
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf"));
    RIG_WAIT(rig, rig->heads == 1);
    shutdown(client.fd, SHUT_WR);
    RIG_WAIT(rig, rig->gone == 1);
    assert_int_equal(rig->requests, 0);
    hang_up(&client);
}

static void test_last_answer(void **state)
{
    struct client client = dial(rig);

    (void)state;
    assert_true(say(&client, "GET /get HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    assert_hears(&client, 200, "hello");
    assert_ends(&client);
    assert_true(client.told);
    hang_up(&client);
}

static void test_answers_while_all_ends(void **state)
{
    const struct front_settings settings = settings_of_test();
    struct client client = dial(rig), unfinished = visitor();

    (void)state;
    assert_true(say(&client, PARK));
    RIG_WAIT(rig, rig->parked_count == 1);
    rig_release(rig, 0);
    rig_free(rig);
    take_in(&client);
    assert_non_null(memmem(client.in.data, client.in.len, "late", 4));
    assert_true(client.told);
    hang_up(&client);
    hang_up(&unfinished);
    rig = rig_new(&settings);
}

/* --- whoever does not read --- */

#define UPGRADE "GET /upgrade HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"

static struct client taken_over(void)
{
    struct client client = dial(rig);
    struct reply reply;

    assert_true(say(&client, UPGRADE));
    assert_true(hear(&client, &reply));
    assert_int_equal(reply.status, 101);
    RIG_WAIT(rig, rig->taken_count == 1);
    return client;
}

static char pattern(size_t at)
{
    return (char)(at * 31 + at / 4096);
}

static void test_client_does_not_read(void **state)
{
    struct client client = taken_over();
    int fd = http_socket_fd(rig->taken[0]);
    size_t said = 0, heard = 0;
    char bytes[4096];

    (void)state;
    for (unsigned quiet = 0; quiet < 50; quiet++) { /* turns in which nothing was taken */
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = pattern(said + i);
        ssize_t sent = send(fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL);
        said += sent > 0 ? (size_t)sent : 0;
        quiet = sent > 0 ? 0 : quiet;
        rig_turn(rig);
        assert_true(said < 64 * 1024 * 1024);
    }
    http_socket_close(rig->taken[0]); /* what was taken still arrives */
    while (heard < said) {
        rig_turn(rig);
        take_in(&client);
        for (size_t i = 0; i < client.in.len; i++)
            assert_int_equal(client.in.data[i], pattern(heard + i));
        heard += client.in.len;
        buf_clear(&client.in);
        assert_true(heard == said || !client.over);
    }
    assert_ends(&client);
    assert_true(client.told);
    hang_up(&client);
}

static void test_server_does_not_read(void **state)
{
    struct client client = taken_over();
    int fd = http_socket_fd(rig->taken[0]);
    size_t said = 0, heard = 0;
    char bytes[4096];
    struct err err;

    (void)state;
    for (unsigned quiet = 0; quiet < 50; quiet++) {
        struct slice left = tls_output(client.tls);
        ssize_t sent = send(client.fd, left.data, left.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        tls_taken(client.tls, sent > 0 ? (size_t)sent : 0);
        for (size_t i = 0; i < sizeof(bytes) && tls_output(client.tls).len == 0; i++)
            bytes[i] = pattern(said + i);
        if (tls_output(client.tls).len == 0) {
            tls_write(client.tls, (struct slice){bytes, sizeof(bytes)}, &err);
            said += sizeof(bytes);
        }
        quiet = sent > 0 ? 0 : quiet;
        rig_turn(rig);
        assert_true(said < 64 * 1024 * 1024);
    }
    while (heard < said) {
        struct slice left = tls_output(client.tls);
        ssize_t sent = send(client.fd, left.data, left.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        tls_taken(client.tls, sent > 0 ? (size_t)sent : 0);
        rig_turn(rig);
        ssize_t len = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        assert_int_not_equal(len, 0);
        for (ssize_t i = 0; i < len; i++)
            assert_int_equal(bytes[i], pattern(heard + (size_t)i));
        heard += len > 0 ? (size_t)len : 0;
    }
    http_socket_close(rig->taken[0]);
    hang_up(&client);
}

static void test_renewed(void **state)
{
    struct certificate *fresh = pem_certificate("rsa:2048");
    struct client before = dial(rig);

    (void)state;
    front_renew(rig->front, NULL);
    front_renew(rig->front, fresh);
    assert_int_equal(*metrics_value(METRIC_CERTIFICATE_EXPIRY, "listen", NULL, NULL),
                     certificate_until_s(fresh));
    certificate_drop(fresh);
    struct client after = dial(rig);
    assert_true(say(&before, "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_hears(&before, 200, "hello");
    assert_true(say(&after, "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_hears(&after, 200, "hello");
    hang_up(&before);
    hang_up(&after);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_plain_http),
        TEST(test_garbage),
        TEST(test_silent),
        TEST(test_never_finished),
        TEST(test_given_up_anywhere),
        TEST(test_handshakes_count_as_connections),
        TEST(test_three_descriptors),
        TEST(test_asks_and_says_that_it_was_all),
        TEST(test_asks_and_is_cut_off),
        TEST(test_upload_cut_off),
        TEST(test_last_answer),
        TEST(test_answers_while_all_ends),
        TEST(test_client_does_not_read),
        TEST(test_server_does_not_read),
        TEST(test_renewed),
    };

    setenv("RIG_TLS", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
