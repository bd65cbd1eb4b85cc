/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record: what one operation does to the record of its key and to its target's gate.
 *
 * Pure: a store loads the two records, asks record_decide, and writes back what changed, all in one
 * transaction. (Redis does the same in a script of its own; the contract suite holds both to the
 * same rules.) The time is an argument, and may go backwards: a state that began in the future
 * begins now, so that no lease, hold or rest outlasts its own length.
 */
#ifndef WAKEGATE_STORE_RECORD_H
#define WAKEGATE_STORE_RECORD_H

#include "gateway/store/store.h"

/* The numbers stand in files: never change one. */
enum record_state {
    RECORD_FREE = 0,
    RECORD_CLAIMED = 1,
    RECORD_RELAYED = 2,
    RECORD_HELD = 3,
};

struct record { /* of a key; all zero where nothing is remembered */
    enum record_state state;
    struct slice owner;
    int64_t since_ms;         /* when the state began */
    int64_t generation;       /* how often it was relayed again on purpose */
    enum store_repeats after; /* claimed: what the claim repeats, and a release puts back */
    int64_t for_ms;           /* how long it lasts: the lease or the hold; relayed: 0 */
    int64_t expires_ms;       /* from then on nothing is remembered */
    bool changed; /* to be written; where the state is free and the generation 0: deleted */
};

struct gate_record {
    int64_t rest_since_ms, rest_for_ms;
    int64_t parts;     /* what the bucket held at filled_ms, in parts of a token */
    int64_t filled_ms; /* when that was counted */
    bool changed;
};

/* A gate of which nothing is stored: it does not rest, and its bucket is full. */
struct gate_record gate_record_new(void);

/* Could record_decide have written these numbers? Others must not be given to it. */
bool record_is_sound(const struct record *record);
bool gate_record_is_sound(const struct gate_record *gate);

/* Sets the operation's answer. `gate` is not looked at where op->gate is empty. A ping is answered
 * STORE_OK. */
void record_decide(struct store_op *op, struct record *record, struct gate_record *gate,
                   int64_t now_ms, int64_t window_ms);

#endif
