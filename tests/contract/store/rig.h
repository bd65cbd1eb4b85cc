/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig: one store on a loop of its own, and questions to it that wait for their answer.
 *
 * Keys and gates get a prefix that no other rig of any process has, so that many cases can share
 * one server.
 */
#ifndef WAKEGATE_TESTS_CONTRACT_STORE_RIG_H
#define WAKEGATE_TESTS_CONTRACT_STORE_RIG_H

#include "tests/check.h"

#include "gateway/store/store.h"

enum { LONG_MS = 600 * 1000, SHORT_MS = 20, WINDOW_MS = 27 * 3600 * 1000 };

struct rig {
    const char *url;
    uv_loop_t loop;
    uv_timer_t tick; /* lets a loop without events turn */
    struct turn turn;
    struct store *store;
    char prefix[48];
};

struct ask {
    const char *key, *gate, *owner;
    int64_t for_ms;
    struct pace pace;
    int64_t again_ms;
    bool force;
};

struct question { /* one operation under way */
    struct store_op op;
    struct rig *rig;
    bool answered;
    char key[512], gate[128], owner[64];
};

/* Opens the store and waits until it answers a ping. */
void rig_open(struct rig *rig, const char *url, int64_t window_ms);
void rig_close(struct rig *rig);
void rig_turn(struct rig *rig);
void rig_wait(struct rig *rig, int64_t ms);

void rig_start(struct rig *rig, struct question *question, enum store_verb verb, struct ask ask);
void rig_finish(struct rig *rig, const struct question *question);

/* Start and finish. */
struct store_op rig_ask(struct rig *rig, enum store_verb verb, struct ask ask);
enum store_answer rig_claim(struct rig *rig, const char *key, const char *owner, int64_t for_ms);
enum store_answer rig_settle(struct rig *rig, const char *key, const char *owner);
enum store_answer rig_release(struct rig *rig, const char *key, const char *owner);
enum store_answer rig_hold(struct rig *rig, const char *key, const char *owner, int64_t for_ms);

struct store_case {
    const char *name;
    void (*run)(struct rig *rig);
    int64_t window_ms; /* 0: WINDOW_MS */
};

extern const struct store_case claim_cases[], gate_cases[], race_cases[], sqlite_cases[],
    redis_cases[]; /* each ends with a case without a name */

/* A Redis server of this test's own, as a child. NULL: there is none to be started. */
const char *redis_server_start(const char *directory); /* gives its URL */
void redis_server_stop(void);

/* What a process of this program does when it is started as `store_test child <what> <url>`. */
int sqlite_child(const char *what, const char *url);

#endif
