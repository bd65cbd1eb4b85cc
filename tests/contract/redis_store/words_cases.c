/* SPDX-License-Identifier: Apache-2.0 */
/* What a real server says when it will not: each is a clear reason, at once, and none is an answer
 * about a wake. */
#include "tests/contract/redis_store/rig.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void expect_refused(struct rig *rig, const char *text)
{
    struct store_op op = rig_ask(rig, "a");

    rig_expect_failed(&op, STORE_DOWN, text);
}

static void busy(void **state)
{
    struct server server;
    struct rig rig;
    const char *const args[] = {"--lua-time-limit", "10", NULL};

    (void)state;
    rig_begin(&server, &rig, args);
    int looping = server_dial(&server);
    assert_true(dprintf(looping, "EVAL 'while true do end' 0\r\n") > 0);
    rig_until_down(&rig, "a script keeps the server busy (BUSY");
    expect_refused(&rig, "BUSY");
    server_do(&server, "SCRIPT KILL");
    rig_until_up(&rig);
    close(looping);
    assert_int_equal(rig_ask(&rig, "a").answer, STORE_CLAIMED);
    rig_end(&server, &rig);
}

static void cannot_save(void **state)
{
    struct server server;
    struct rig rig;
    char gone[PATH_SIZE];
    const char *const args[] = {"--dir", gone, NULL};

    (void)state;
    snprintf(gone, sizeof(gone), "%s/gone", directory);
    assert_int_equal(mkdir(gone, 0700), 0);
    rig_begin(&server, &rig, args);
    assert_int_equal(rmdir(gone), 0);
    assert_non_null(strstr(server_do(&server, "CONFIG SET save '3600 1'"), "+OK"));
    server_do(&server, "BGSAVE");
    rig_until_down(&rig, "the server cannot save its data; its log says why (MISCONF");
    expect_refused(&rig, "MISCONF");
    server_do(&server, "CONFIG SET save ''");
    rig_until_up(&rig);
    rig_end(&server, &rig);
}

static void replica_without_its_master(void **state)
{
    struct server server;
    struct rig rig;

    (void)state;
    rig_begin(&server, &rig, NULL);
    server_do(&server, "CONFIG SET replica-serve-stale-data no");
    server_do(&server, "CONFIG SET replica-read-only no"); /* which it would say first */
    server_do(&server, "REPLICAOF 127.0.0.1 1");
    rig_until_down(&rig, "a replica without its master (MASTERDOWN");
    server_do(&server, "REPLICAOF NO ONE");
    rig_until_up(&rig);
    rig_end(&server, &rig);
}

/* Told on a connection that the server closes at once. */
static void too_many_clients(void **state)
{
    struct server server;
    struct rig rig;
    char urls[3][URL_SIZE];
    const char *const args[] = {"--maxclients", "1", NULL};

    (void)state;
    server_init(&server, "words");
    server_start(&server, args);
    snprintf(urls[0], URL_SIZE, "redis+unix://%s", server.socket);
    snprintf(urls[1], URL_SIZE, "redis://127.0.0.1:%u", server.port);
    snprintf(urls[2], URL_SIZE, "redis://default:sesame@127.0.0.1:%u", server.port);
    for (size_t i = 0; i < 3; i++) {
        int first = server_dial(&server);
        assert_true(first >= 0);
        rig_open(&rig, urls[i]);
        rig_until_down(&rig, "the server has as many clients as it takes (maxclients) (ERR max");
        close(first);
        if (i < 2)
            rig_until_up(&rig);
        rig_close(&rig);
    }
    server_stop(&server);
}

static void no_password_there(void **state)
{
    struct server server;
    struct rig rig;
    char url[URL_SIZE];

    (void)state;
    server_init(&server, "words");
    server_start(&server, NULL);
    snprintf(url, sizeof(url), "redis://:sesame@127.0.0.1:%u", server.port);
    rig_open(&rig, url);
    rig_until_down(&rig,
                   "the server has no password for the default user; leave it out of the URL");
    rig_end(&server, &rig);
}

/* Each line takes one right away. */
static void user_without_a_right(void **state)
{
    static const char *const rules[] = {
        "+@all -set ~wakegate:*",
        "+@all -evalsha ~wakegate:*",
        "+@all -script ~wakegate:*",
        "+@all -time ~wakegate:*",
        "+@all ~other:*",
        "+@all -select ~wakegate:*",
        "+@all ~wakegate:1:ping",
    };
    struct server server;
    struct rig rig;
    char text[URL_SIZE];

    (void)state;
    server_init(&server, "words");
    server_start(&server, NULL);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        snprintf(text, sizeof(text), "ACL SETUSER limited reset on >sesame %s", rules[i]);
        assert_non_null(strstr(server_do(&server, text), "+OK"));
        snprintf(text, sizeof(text), "redis://limited:sesame@127.0.0.1:%u/1", server.port);
        rig_open(&rig, text);
        rig_until_down_at(&rig, "a", "the user lacks a right that the README lists");
        server_do(&server, "ACL SETUSER limited +@all ~*");
        rig_until_up(&rig);
        assert_int_equal(rig_ask(&rig, "b").answer, STORE_CLAIMED);
        server_do(&server, "DEL wakegate:1:{r}:claim:t/b");
        server_do(&server, "FLUSHALL");
        rig_close(&rig);
    }
    server_stop(&server);
}

static void policy_is_told(void **state)
{
    struct server server;
    struct rig rig;
    char url[URL_SIZE];

    (void)state;
    rig_begin(&server, &rig, NULL);
    assert_string_equal(rig.store->warning.text, "");
    server_do(&server, "CONFIG SET maxmemory-policy allkeys-lru");
    rig_ask(&rig, NULL);
    assert_non_null(strstr(rig.store->warning.text, "maxmemory-policy allkeys-lru"));
    server_do(&server, "CONFIG SET maxmemory-policy noeviction");
    rig_ask(&rig, NULL);
    assert_string_equal(rig.store->warning.text, "");
    rig_close(&rig);

    server_do(&server, "ACL SETUSER managed reset on >p ~wakegate:* +@all -config -info");
    snprintf(url, sizeof(url), "redis://managed:p@127.0.0.1:%u", server.port);
    rig_open(&rig, url);
    rig_until_up(&rig);
    assert_non_null(strstr(rig.store->warning.text, "does not tell its maxmemory-policy"));
    server_do(&server, "CONFIG SET maxmemory-policy volatile-lru");
    server_do(&server, "ACL SETUSER managed +info");
    rig_ask(&rig, NULL);
    assert_non_null(strstr(rig.store->warning.text, "maxmemory-policy volatile-lru"));
    rig_end(&server, &rig);
}

const struct CMUnitTest words_cases[] = {
    cmocka_unit_test(busy),
    cmocka_unit_test(cannot_save),
    cmocka_unit_test(replica_without_its_master),
    cmocka_unit_test(too_many_clients),
    cmocka_unit_test(no_password_there),
    cmocka_unit_test(user_without_a_right),
    cmocka_unit_test(policy_is_told),
};
const size_t words_case_count = sizeof(words_cases) / sizeof(words_cases[0]);
