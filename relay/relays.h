/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relays: all relays of the process, by the key of what they claim, so that a second request for an
 * id that is under way joins the first, and a shutdown knows what it waits for.
 */
#ifndef WAKEGATE_RELAY_RELAYS_H
#define WAKEGATE_RELAY_RELAYS_H

#include "relay/relay.h"

enum { RELAYS_BUCKETS = 4096 };

struct relays {
    const struct world *world;
    unsigned limit; /* never more relays than this */
    unsigned count;
    bool draining;                          /* what is not sent yet will not be */
    void (*emptied)(struct relays *relays); /* while draining: the last relay is over */
    struct relay *all;
    struct relay *buckets[RELAYS_BUCKETS];
    char process[17]; /* random; the first part of every owner */
    uint64_t serial;  /* the second */
};

void relays_open(struct relays *relays, const struct world *world, unsigned limit);

/* Room for `more` relays? */
bool relays_have_room(const struct relays *relays, size_t more);

/* Joins the relay of this wake to this destination, or begins it. `until_ms` is the steady time in
 * milliseconds at which the waiter must have its answer. */
void relays_begin(struct relays *relays, struct destination *to, struct shared_wake *wake,
                  uint64_t until_ms, struct waiter *waiter);

/* Begins a relay on purpose, also of what was relayed before: a new generation. One of this wake
 * that runs already, here or elsewhere, a hold and the target's gate are respected unless `force`
 * is set. */
void relays_begin_again(struct relays *relays, struct destination *to, struct shared_wake *wake,
                        bool force, uint64_t until_ms, struct waiter *waiter);

/* For the relay that is over. */
void relays_remove(struct relay *relay);

/* Releases what is not sent yet, lets the rest finish; `emptied` tells when all are over. */
void relays_drain(struct relays *relays);
/* Ends what still runs: sent deliveries become ambiguous, unwritten settlements are given up. */
void relays_cut_short(struct relays *relays);

/* One log line for each relay in flight. */
void relays_log(const struct relays *relays);

#endif
