/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the Redis store share: servers of their own as children, and a store on a loop
 * that is turned until an answer is there.
 */
#ifndef WAKEGATE_TESTS_CONTRACT_REDIS_STORE_RIG_H
#define WAKEGATE_TESTS_CONTRACT_REDIS_STORE_RIG_H

#include "tests/check.h"

#include <sys/types.h>

#include "gateway/store/store.h"

enum { SERVER_ARGS = 32, PATH_SIZE = 96, URL_SIZE = 256, PATIENCE_MS = 20 * 1000 };

extern char directory[64]; /* of this run; removed at its end */

/* A redis-server on a unix socket and a loopback port. */
struct server {
    char socket[PATH_SIZE], url[URL_SIZE];
    unsigned port, tls_port;
    pid_t pid; /* 0: does not run */
};

bool server_is_installed(void);
unsigned server_free_port(void);
void server_init(struct server *server, const char *name);
/* Waits until it takes connections; a server that a failed test left is ended. `args`: pairs such
 * as "--maxmemory", "1mb", then NULL. */
void server_start(struct server *server, const char *const *args);
void server_signal(struct server *server, int signal);
void server_stop(struct server *server); /* at once, unsaved */
/* A connection of the test's own; -1: there is no server. */
int server_dial(const struct server *server);
/* Sends one command and waits for the first bytes of its answer, which stay until the next call. */
const char *server_do(struct server *server, const char *command);

struct rig {
    uv_loop_t loop;
    uv_timer_t tick; /* lets a loop without events turn */
    struct turn turn;
    struct store *store;
};

struct question {
    struct store_op op;
    struct rig *rig;
    bool answered;
    char key[32];
};

void rig_open(struct rig *rig, const char *url);
void rig_open_on(struct rig *rig, const char *url); /* rig->loop is there */
void rig_close(struct rig *rig);
void rig_turn(struct rig *rig);

/* Starts a claim of `key` by "me" in the route "r"; a ping when it is NULL. */
void rig_start(struct rig *rig, struct question *question, const char *key);
void rig_finish(struct rig *rig, const struct question *question);
struct store_op rig_ask(struct rig *rig, const char *key);

/* Starts and finishes any operation on what question->op says. */
void rig_run(struct question *question,
             void (*start)(struct store *, struct store_op *, void (*)(struct op *)));

/* Pings until the answer is OK, or is not and has `text` in its reason. */
void rig_until_up(struct rig *rig);
void rig_until_down(struct rig *rig, const char *text);
void rig_until_down_at(struct rig *rig, const char *key, const char *text); /* claims, no pings */

/* A server and a store that is up. */
void rig_begin(struct server *server, struct rig *rig, const char *const *args);
void rig_end(struct server *server, struct rig *rig);

void rig_expect_failed(const struct store_op *op, enum store_answer answer, const char *text);

extern const struct CMUnitTest fault_cases[], record_cases[], sentinel_cases[], tls_cases[],
    words_cases[];
extern const size_t fault_case_count, record_case_count, sentinel_case_count, tls_case_count,
    words_case_count;

#endif
