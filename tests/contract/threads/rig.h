/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig: instances of the threads on one loop, and questions to them that wait for their answer.
 *
 * On a Redis there are two instances, each with connections of its own. A file has one, which then
 * stands in both places.
 */
#ifndef WAKEGATE_TESTS_CONTRACT_THREADS_RIG_H
#define WAKEGATE_TESTS_CONTRACT_THREADS_RIG_H

#include "tests/check.h"

#include "gateway/store/threads.h"

enum {
    LONG_MS = 600 * 1000,
    SHORT_MS = 30,
    WINDOW_MS = 27 * 3600 * 1000,
    KEPT = 200,
    PATIENCE_MS = 20 * 1000
};

struct told { /* what an instance was told of */
    char *thread, *position, *text;
};

struct instance {
    struct rig *rig;
    struct store *store;
    struct threads *threads;
    struct told *told;
    size_t count;
    void (*on_told)(struct instance *instance, const struct told *told); /* may be NULL */
};

struct rig {
    uv_loop_t loop;
    uv_timer_t tick; /* lets a loop without events turn */
    struct turn turn;
    struct instance instances[2];
    struct instance *a, *b; /* the same one where there can only be one */
    unsigned serial;        /* makes names unique on a shared server */
};

struct ask {
    const char *thread, *offer, *owner, *taker, *key, *instance, *after;
    const char *entries[3];
    unsigned count;
    int64_t for_ms;
};

struct question { /* one operation under way */
    struct threads_op op;
    struct rig *rig;
    bool answered;
};

/* `kept_ms` 0: LONG_MS. */
void rig_open(struct rig *rig, const char *url, bool two, int64_t kept_ms);
void rig_close(struct rig *rig);
void rig_turn(struct rig *rig);
void rig_wait(struct rig *rig, int64_t ms);

/* A name that no other case has, kept until the case after the next thousand. */
const char *rig_name(struct rig *rig, const char *name);

void rig_start(struct instance *at, struct question *question, enum threads_verb verb,
               struct ask ask);
void rig_finish(struct question *question);
enum threads_answer rig_ask(struct instance *at, enum threads_verb verb, struct ask ask);
enum threads_answer rig_append(struct instance *at, const char *thread, const char *text);
/* Until it is THREADS_DONE. */
void rig_insist(struct instance *at, enum threads_verb verb, struct ask ask);

/* What a read says as soon as one can be made, as "text text text|pending"; owned by the rig until
 * the next call. `after` may be NULL; `end` gets the end where it is not NULL. */
const char *rig_read(struct instance *at, const char *thread, const char *after, char *end,
                     size_t end_size);

/* A claim of the key by its owner; answers as the store does. */
enum store_answer rig_claim(struct instance *at, const char *key, const char *owner);
enum store_answer rig_settle(struct instance *at, const char *key, const char *owner);

void rig_follow(struct instance *at, const char *thread, const char *after);
/* Waits until it was told of so many, and a little longer, for those that must not come. */
void rig_until_told(struct instance *at, size_t count);
/* All that it was told of the thread, as "text text text". */
const char *rig_told(struct instance *at, const char *thread);

struct threads_case {
    const char *name;
    void (*run)(struct rig *rig);
    int64_t kept_ms;
};

extern const struct threads_case history_cases[], follow_cases[], offer_cases[], race_cases[],
    redis_cases[], apart_cases[]; /* each ends with a case without a name */

/* A Redis server of this test's own, as a child, which loses nothing when it is restarted. */
extern char directory[128], server_url[64];
bool server_is_installed(void);
void server_start(void);
void server_stop(void);
/* Sends one command; the first bytes of the answer stay until the next call. */
const char *server_do(const char *command);
/* Kills the connections that wait in a blocking read; how many there were. */
size_t server_kill_blocked(void);

#endif
