/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene: a scripted store and a scripted target on a real event loop. The store and the target note
 * what they are asked and end each operation with what the script says; an operation whose script
 * says so stays open until the test ends it.
 */
#ifndef WAKEGATE_TESTS_UNIT_RELAY_SCENE_H
#define WAKEGATE_TESTS_UNIT_RELAY_SCENE_H

#include "tests/check.h"

#include "relay/relays.h"

enum { STAY_OPEN = -1, STEPS = 16 };

struct scene {
    uv_loop_t loop;
    struct turn turn;
    struct store store;
    struct world world;
    struct relays relays;
    struct destination *to;
    struct target targets[2];

    int store_script[STEPS], target_script[STEPS]; /* answers in order; STAY_OPEN: none yet */
    enum store_repeats repeats;                    /* of the first claim */
    size_t store_at, target_at;
    struct store_op *open_op;
    struct delivery *open_delivery;
    bool unsent;
    char asked[256]; /* what was asked so far: "claim deliver settle ..." */
    int64_t lease_ms, again_ms;
    bool forced, gated; /* as the last claim said */
    int64_t generation; /* what a claim answers */

    unsigned told;
    struct outcome outcome;
    unsigned emptied;
};

extern struct scene *scene; /* of the test that runs */

/* For cmocka. */
int set_up(void **state);
int tear_down(void **state);

/* One with so many of the scene's targets. */
struct destination *make_destination(size_t leaves);

void script_store(int a, int b, int c);

/* The waiter's `told` counts, and notes the outcome. Begins a relay of a wake of that id. */
void begin_with(struct waiter *waiter, const char *id, uint64_t budget_ms);
void begin_again(struct waiter *waiter, const char *id, bool force);
void end_delivery(enum outcome_code code); /* the open one */

/* Runs the loop until `waiters` were told, and then what is due at once. */
void run_until_told(unsigned waiters);
void run_until_over(void);
/* One relay, from its beginning to its end. */
void run_one(enum outcome_code expected, const char *asked);

#endif
