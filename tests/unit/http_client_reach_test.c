/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which addresses the client connects to, and how often. Names come from a name server of this
 * file's own: getaddrinfo is defined here, and libcurl's look-ups end up in it.
 */
#include "tests/check.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/fakes/client_room.h"

/* The name server. */

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t names_changed = PTHREAD_COND_INITIALIZER;
static bool released, gave_up;
static unsigned hanging;

static void hang(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    pthread_mutex_lock(&names_lock);
    hanging++;
    while (!released && !gave_up)
        gave_up = pthread_cond_timedwait(&names_changed, &names_lock, &until) != 0;
    hanging--;
    pthread_cond_broadcast(&names_changed);
    pthread_mutex_unlock(&names_lock);
}

static const char *const names[][3] = {
    {"metadata.test", "169.254.169.254", NULL},
    {"mapped.test", "::ffff:169.254.169.254", NULL},
    {"private.test", "127.0.0.1", NULL},
    {"both.test", "169.254.169.254", "127.0.0.1"},
};

int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict found)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    struct addrinfo numeric = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};

    (void)hints;
    memcpy(&real, &symbol, sizeof(real));
    if (strcmp(node, "hang.test") == 0)
        hang();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(node, names[i][0]) != 0)
            continue;
        int result = real(names[i][1], service, &numeric, found);
        if (result == 0 && names[i][2])
            result = real(names[i][2], service, &numeric, &(*found)->ai_next);
        return result;
    }
    return EAI_NONAME;
}

/* Addresses. */

static void test_private_needs_the_flag(void **state)
{
    struct client_room *room = *state;
    char url[64];
    const char *urls[] = {room->stub.url, url};

    room_close_client(room);
    room_open_client(room, false, NULL);
    snprintf(url, sizeof(url), "http://private.test:%d/hook", room->stub.port);
    for (size_t i = 0; i < 2; i++) {
        struct exchange exchange = {.call = {.url = urls[i]}};
        assert_int_equal(exchange_run(room, &exchange), HTTP_NOT_SENT);
        assert_non_null(strstr(exchange.call.err.text, "\"private\": true"));
        assert_non_null(strstr(exchange.call.err.text, "127.0.0.1"));
    }
    assert_int_equal(room->stub.connections, 0);
}

static void test_metadata_is_never_reached(void **state)
{
    struct client_room *room = *state;
    static const char *const urls[] = {
        "http://169.254.169.254/",
        "http://2852039166/",
        "http://metadata.test/",
        "http://mapped.test/",
        "http://[fe80::1]/",
        "http://[fd00:ec2::254]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://0.0.0.0/",
    };

    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        struct exchange exchange = {.call = {.url = urls[i]}};
        assert_int_equal(exchange_run(room, &exchange), HTTP_NOT_SENT);
        if (!strstr(exchange.call.err.text, "link-local"))
            fail_msg("%s: %s", urls[i], exchange.call.err.text);
    }
}

static void test_unknown_name(void **state)
{
    struct client_room *room = *state;
    struct exchange exchange = {.call = {.url = "http://nowhere.test/secret-path"}};

    assert_int_equal(exchange_run(room, &exchange), HTTP_NOT_SENT);
    assert_null(strstr(exchange.call.err.text, "secret-path"));
}

static void test_allowed_address_beside_a_refused_one(void **state)
{
    struct client_room *room = *state;
    char url[64];

    snprintf(url, sizeof(url), "http://both.test:%d/hook", room->stub.port);
    stub_script(&room->stub, STUB_CLOSE, stub_answer(200, "", ""));
    assert_int_equal(room_post(room, url), HTTP_ANSWERED);
}

/* The look-up still hangs when the others, the call itself and even the client are over. */
static void test_hanging_name_server(void **state)
{
    struct client_room *room = *state;
    struct exchange timed = {.call = {.url = "http://hang.test/", .timeout_ms = 30}};
    struct exchange cancelled = {.call = {.url = "http://hang.test/", .timeout_ms = PATIENCE_MS}};

    exchange_begin(room, &timed);
    exchange_begin(room, &cancelled);
    stub_script(&room->stub, STUB_CLOSE, stub_answer(200, "", ""));
    assert_int_equal(room_post(room, room->stub.url), HTTP_ANSWERED);
    exchange_finish(&timed);
    assert_int_equal(timed.call.result, HTTP_NOT_SENT);
    http_client_cancel(room->client, &cancelled.call);
    exchange_finish(&cancelled);
    assert_int_equal(cancelled.call.result, HTTP_NOT_SENT);
    room_close_client(room);

    pthread_mutex_lock(&names_lock);
    assert_false(gave_up);
    assert_int_equal(hanging, 2);
    released = true;
    pthread_cond_broadcast(&names_changed);
    while (hanging > 0)
        pthread_cond_wait(&names_changed, &names_lock);
    pthread_mutex_unlock(&names_lock);
    room_open_client(room, true, NULL);
}

/* Connections. */

static void test_connections_are_kept(void **state)
{
    struct client_room *room = *state;

    stub_script(&room->stub, STUB_KEEP, stub_answer(200, "", "ok"));
    for (int i = 0; i < 3; i++)
        assert_int_equal(room_post(room, room->stub.url), HTTP_ANSWERED);
    assert_int_equal(room->stub.connections, 1);
    assert_int_equal(room->stub.requests, 3);
}

static void test_fresh_connections_are_not(void **state)
{
    struct client_room *room = *state;

    stub_script(&room->stub, STUB_KEEP, stub_answer(200, "", "ok"));
    assert_int_equal(room_post(room, room->stub.url), HTTP_ANSWERED);
    for (int i = 0; i < 2; i++)
        assert_int_equal(room_post_fresh(room, room->stub.url), HTTP_ANSWERED);
    assert_int_equal(room->stub.connections, 3);
}

/* The trap that fresh connections are for: libcurl sends again what died on a kept connection. */
static void test_kept_connection_that_dies(void **state)
{
    struct client_room *room = *state;

    stub_script(&room->stub, STUB_DIE, stub_answer(200, "", "ok"));
    assert_int_equal(room_post(room, room->stub.url), HTTP_ANSWERED);
    assert_int_equal(room_post(room, room->stub.url), HTTP_ANSWERED);
    assert_int_equal(room->stub.requests, 3);

    assert_int_equal(room_post_fresh(room, room->stub.url), HTTP_ANSWERED);
    assert_int_equal(room->stub.requests, 4);
    stub_script(&room->stub, STUB_CLOSE, SLICE(""));
    assert_int_equal(room_post_fresh(room, room->stub.url), HTTP_NO_ANSWER);
    assert_int_equal(room->stub.requests, 5);
}

static void test_many_at_once(void **state)
{
    enum { MANY = 200 };
    struct client_room *room = *state;
    struct exchange *exchanges = mem_new(MANY * sizeof(*exchanges));

    stub_script(&room->stub, STUB_KEEP, stub_answer(200, "", "ok"));
    for (int i = 0; i < MANY; i++)
        exchange_begin(room, &exchanges[i]);
    for (int i = 0; i < MANY; i++) {
        exchange_finish(&exchanges[i]);
        assert_int_equal(exchanges[i].call.result, HTTP_ANSWERED);
        exchange_release(&exchanges[i]);
    }
    assert_int_equal(room->stub.requests, MANY);
    free(exchanges);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, room_set_up, room_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_private_needs_the_flag),
        TEST(test_metadata_is_never_reached),
        TEST(test_unknown_name),
        TEST(test_allowed_address_beside_a_refused_one),
        TEST(test_hanging_name_server),
        TEST(test_connections_are_kept),
        TEST(test_fresh_connections_are_not),
        TEST(test_kept_connection_that_dies),
        TEST(test_many_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
