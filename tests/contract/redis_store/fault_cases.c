/* SPDX-License-Identifier: Apache-2.0 */
/* A real server in trouble: what it says, what it does not say, and whether it comes back. */
#include "tests/contract/redis_store/rig.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"

enum { MANY = 5000, FEW = 50 };

static struct question *start_many(struct rig *rig, size_t count)
{
    struct question *questions = mem_new(count * sizeof(*questions));

    for (size_t i = 0; i < count; i++) {
        char key[16];
        snprintf(key, sizeof(key), "k%zu", i);
        rig_start(rig, &questions[i], key);
    }
    return questions;
}

static void many_in_one_turn(void **state)
{
    struct server server;
    struct rig rig;

    (void)state;
    rig_begin(&server, &rig, NULL);
    struct question *questions = start_many(&rig, MANY);
    rig_finish(&rig, &questions[MANY - 1]);
    for (size_t i = 0; i < MANY; i++) {
        assert_true(questions[i].answered); /* in the order in which they were asked */
        assert_int_equal(questions[i].op.answer, STORE_CLAIMED);
    }
    free(questions);
    rig_end(&server, &rig);
}

/* About 30 MB, while the server does not read. */
static void more_than_may_wait(void **state)
{
    enum { TOO_MANY = 200 * 1000 };
    struct server server;
    struct rig rig;
    size_t refused = 0;

    (void)state;
    rig_begin(&server, &rig, NULL);
    server_signal(&server, SIGSTOP);
    struct question *questions = start_many(&rig, TOO_MANY);
    for (size_t i = 0; i < TOO_MANY; i++) {
        rig_finish(&rig, &questions[i]);
        bool full = strstr(questions[i].op.err.text, "more waits") != NULL;
        assert_int_equal(questions[i].op.answer, full ? STORE_DOWN : STORE_UNSURE);
        refused += full;
    }
    assert_in_range(refused, 1, TOO_MANY - 1);
    free(questions);
    server_signal(&server, SIGCONT);
    rig_until_up(&rig);
    rig_end(&server, &rig);
}

static void forgotten_scripts(void **state)
{
    struct server server;
    struct rig rig;

    (void)state;
    rig_begin(&server, &rig, NULL);
    server_do(&server, "SCRIPT FLUSH");
    struct question *questions = start_many(&rig, FEW);
    for (size_t i = 0; i < FEW; i++) {
        rig_finish(&rig, &questions[i]);
        assert_int_equal(questions[i].op.answer, STORE_CLAIMED);
    }
    free(questions);
    assert_int_equal(rig_ask(&rig, "again").answer, STORE_CLAIMED);
    assert_null(strstr(server_do(&server, "INFO errorstats"), "errorstat_ERR"));
    rig_end(&server, &rig);
}

static void read_only_replica(void **state)
{
    struct server server;
    struct rig rig;

    (void)state;
    rig_begin(&server, &rig, NULL);
    server_do(&server, "REPLICAOF 127.0.0.1 1");
    struct store_op op = rig_ask(&rig, "a");
    rig_expect_failed(&op, STORE_DOWN, "read-only replica (READONLY");
    rig_until_down(&rig, "read-only replica");
    server_do(&server, "REPLICAOF NO ONE");
    rig_until_up(&rig);
    assert_int_equal(rig_ask(&rig, "a").answer, STORE_CLAIMED);
    rig_end(&server, &rig);
}

static void full_memory(void **state)
{
    struct server server;
    struct rig rig;

    (void)state;
    rig_begin(&server, &rig, NULL);
    server_do(&server, "CONFIG SET maxmemory 1");
    struct store_op op = rig_ask(&rig, "a");
    rig_expect_failed(&op, STORE_DOWN, "OOM command not allowed");
    op = rig_ask(&rig, NULL);
    rig_expect_failed(&op, STORE_DOWN, "OOM command not allowed");
    server_do(&server, "CONFIG SET maxmemory 0");
    assert_int_equal(rig_ask(&rig, "a").answer, STORE_CLAIMED); /* on the same connection */
    rig_end(&server, &rig);
}

static void too_few_replicas(void **state)
{
    struct server server;
    struct rig rig;

    (void)state;
    rig_begin(&server, &rig, NULL);
    server_do(&server, "CONFIG SET min-replicas-to-write 1");
    struct store_op op = rig_ask(&rig, "a");
    rig_expect_failed(&op, STORE_DOWN, "NOREPLICAS");
    server_do(&server, "CONFIG SET min-replicas-to-write 0");
    assert_int_equal(rig_ask(&rig, "a").answer, STORE_CLAIMED);
    rig_end(&server, &rig);
}

static void loading(void **state)
{
    struct server server;
    struct rig rig;
    const char *const slowly[] = {"--dbfilename",
                                  "loading.rdb",
                                  "--key-load-delay",
                                  "20000",
                                  "--loading-process-events-interval-bytes",
                                  "1024",
                                  NULL};

    (void)state;
    rig_begin(&server, &rig, slowly);
    server_do(&server, "DEBUG POPULATE 300 key 100");
    assert_non_null(strstr(server_do(&server, "SAVE"), "+OK"));
    server_stop(&server);
    rig_until_down(&rig, "");
    server_start(&server, slowly);
    rig_until_down(&rig, "LOADING");
    server_do(&server, "CONFIG SET key-load-delay 0");
    rig_until_up(&rig);
    rig_end(&server, &rig);
}

static void wrong_password(void **state)
{
    struct server server;
    struct rig rig;
    char url[URL_SIZE * 2];
    const char *const args[] = {"--requirepass", "right-pass", NULL};

    (void)state;
    server_init(&server, "fault");
    server_start(&server, args);
    snprintf(url, sizeof(url), "redis+unix://:wrong-pass@%s", server.socket);
    rig_open(&rig, url);
    rig_until_down(&rig, "the user or the password is wrong (WRONGPASS)");
    struct store_op op = rig_ask(&rig, "a");
    rig_expect_failed(&op, STORE_DOWN, "WRONGPASS");
    assert_null(strstr(op.err.text, "wrong-pass"));
    rig_close(&rig);

    rig_open(&rig, server.url);
    rig_until_down(&rig, "a password is needed (NOAUTH");
    rig_close(&rig);

    snprintf(url, sizeof(url), "redis+unix://default:right%%2Dpass@%s?db=3", server.socket);
    rig_open(&rig, url);
    rig_until_up(&rig);
    assert_int_equal(rig_ask(&rig, "a").answer, STORE_CLAIMED);
    rig_end(&server, &rig);
}

static void no_such_database(void **state)
{
    struct server server;
    struct rig rig;
    char url[URL_SIZE * 2];

    (void)state;
    server_init(&server, "fault");
    server_start(&server, NULL);
    snprintf(url, sizeof(url), "redis://127.0.0.1:%u/99", server.port);
    rig_open(&rig, url);
    rig_until_down(&rig, "DB index is out of range");
    rig_end(&server, &rig);
}

static void cluster(void **state)
{
    struct server server;
    struct rig rig;
    char port[16];
    const char *const args[] = {"--cluster-enabled", "yes", "--cluster-port", port, NULL};

    (void)state;
    snprintf(port, sizeof(port), "%u", server_free_port());
    server_init(&server, "fault");
    server_start(&server, args);
    rig_open(&rig, server.url);
    rig_until_down(&rig, "Redis Cluster is not supported");
    rig_end(&server, &rig);
}

static void stopped(void **state)
{
    struct server server;
    struct rig rig;

    (void)state;
    rig_begin(&server, &rig, NULL);
    server_signal(&server, SIGSTOP);
    struct store_op op = rig_ask(&rig, "a");
    rig_expect_failed(&op, STORE_UNSURE, "no answer in time");
    op = rig_ask(&rig, "a"); /* at once: nobody waits twice */
    rig_expect_failed(&op, STORE_DOWN, "no answer in time");
    rig_until_down(&rig, "greeting was not answered");
    server_signal(&server, SIGCONT);
    rig_until_up(&rig);
    assert_int_equal(rig_ask(&rig, "b").answer, STORE_CLAIMED);
    rig_end(&server, &rig);
}

static void killed_under_way(void **state)
{
    struct server server;
    struct rig rig;

    (void)state;
    rig_begin(&server, &rig, NULL);
    server_do(&server, "CLIENT PAUSE 60000 ALL");
    struct question *questions = start_many(&rig, FEW);
    for (int i = 0; i < 3; i++)
        rig_turn(&rig);
    server_stop(&server);
    for (size_t i = 0; i < FEW; i++) {
        rig_finish(&rig, &questions[i]);
        assert_int_equal(questions[i].op.answer, STORE_UNSURE);
        assert_null(strstr(questions[i].op.err.text, "in time"));
    }
    free(questions);
    server_start(&server, NULL);
    rig_until_up(&rig);
    assert_int_equal(rig_ask(&rig, "k0").answer, STORE_CLAIMED);
    rig_end(&server, &rig);
}

static void comes_later(void **state)
{
    struct server server;
    struct rig rig;
    char url[URL_SIZE];

    (void)state;
    server_init(&server, "fault");
    snprintf(url, sizeof(url), "redis://localhost:%u", server.port);
    rig_open(&rig, url);
    struct store_op op = rig_ask(&rig, "a");
    rig_expect_failed(&op, STORE_DOWN, "not connected yet");
    rig_until_down(&rig, "connection refused");
    server_start(&server, NULL);
    rig_until_up(&rig);
    rig_end(&server, &rig);
}

static void closed_while_connecting(void **state)
{
    struct server server;
    struct rig rig;
    char url[URL_SIZE];

    (void)state;
    server_init(&server, "fault");
    server_start(&server, NULL);
    snprintf(url, sizeof(url), "redis://localhost:%u", server.port);
    for (int turns = 0; turns < 8; turns++) {
        rig_open(&rig, url);
        for (int i = 0; i < turns; i++)
            rig_turn(&rig);
        rig_close(&rig);
    }
    server_stop(&server);
}

const struct CMUnitTest fault_cases[] = {
    cmocka_unit_test(many_in_one_turn),  cmocka_unit_test(more_than_may_wait),
    cmocka_unit_test(forgotten_scripts), cmocka_unit_test(read_only_replica),
    cmocka_unit_test(full_memory),       cmocka_unit_test(too_few_replicas),
    cmocka_unit_test(loading),           cmocka_unit_test(wrong_password),
    cmocka_unit_test(no_such_database),  cmocka_unit_test(cluster),
    cmocka_unit_test(stopped),           cmocka_unit_test(killed_under_way),
    cmocka_unit_test(comes_later),       cmocka_unit_test(closed_while_connecting),
};
const size_t fault_case_count = sizeof(fault_cases) / sizeof(fault_cases[0]);
