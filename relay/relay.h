/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay: one try to bring one cycle to one destination, from claim to settlement.
 *
 *   (gathering ->) claiming -> delivering -> finishing -> over
 *                           -> riding     ->
 *
 * Where the route has a quiet time, relays gather first, and one delivers for all: see gathering.h
 * and party.h.
 *
 * A relay is never owned by a request, nor a request by a relay: waiters stand between them. The
 * relay goes on without them: what was sent is settled, held or released, whoever still listens.
 */
#ifndef WAKEGATE_RELAY_RELAY_H
#define WAKEGATE_RELAY_RELAY_H

#include "gateway/core/deadline.h"
#include "relay/destination.h"
#include "relay/shared_wake.h"

struct relays;

/* Somebody who wants to know the outcome. The caller's memory until `told`, which comes exactly
 * once, perhaps before the call that handed it over returned. */
struct waiter {
    void (*told)(struct waiter *waiter, const struct outcome *outcome);
    void *context;
    struct waiter *next;
};

enum relay_state {
    RELAY_GATHERING, /* in its destination's gathering */
    RELAY_CLAIMING,
    RELAY_RIDING, /* its claim is ours, and its carrier delivers */
    RELAY_DELIVERING,
    RELAY_FINISHING,
    RELAY_OVER
};

enum {
    RELAY_OWNER_SIZE = 36,
    RELAY_KEY_SIZE = 2 * LIMIT_NAME_BYTES + LIMIT_DELIVERY_ID_BYTES + 3,
    RELAY_DELIVERY_KEY_SIZE = LIMIT_DELIVERY_ID_BYTES + LIMIT_NAME_BYTES + 24
};

struct relay {
    enum relay_state state;
    struct relays *relays;
    struct destination *to;   /* counted: survives a reload */
    struct shared_wake *wake; /* counted; nothing points into the request */
    struct waiter *waiters;   /* requests that want the outcome; may be empty */
    bool told;                /* they have their answer; who comes later is told at once */
    bool claimed;             /* the claim may be ours, so it must be settled, held or released */
    bool again, force;        /* claims what was relayed, too; and what others have, at any gate */
    bool past_gate;           /* it claims without asking the gate */
    int64_t generation;       /* of the id, as the claim told */
    enum store_repeats repeats; /* as the claim told; of a chain, any of its claims */
    bool stranded;              /* its carrier's way, and so its own, was over while it claimed */
    struct relay *carrier;      /* rides with that one; NULL: goes by itself */
    struct relay *riders;       /* those which ride with this one */
    struct relay *companion;    /* the next of those who gather, or ride */
    unsigned riders_claiming;
    struct shared_wake *combined; /* stands for the wakes of all; NULL: `wake` alone; counted */
    size_t leaf;                  /* which target of a `first` chain */
    uint64_t began_ms, until_ms;  /* steady; until: when the waiters must be told */
    uint64_t sent_us;             /* steady; when the delivery began */
    struct outcome outcome;
    enum store_verb finish;   /* settle, release or hold */
    uint64_t finish_until_ms; /* steady; the last moment to write it */
    uint64_t finish_pause_ms; /* before it is tried again; doubles */
    union {                   /* THE operation in flight, store or target */
        struct op op;
        struct store_op store;
        struct delivery delivery;
    };
    struct deadline deadline;   /* one timer, re-armed per state */
    struct relay *next, **link; /* among all relays */
    struct relay *bucket_next;  /* among those of one bucket */
    char owner[RELAY_OWNER_SIZE];
    char key[RELAY_KEY_SIZE];                   /* the claim's: route/destination/delivery_id */
    char delivery_key[RELAY_DELIVERY_KEY_SIZE]; /* the idempotency key */
};

/* Begins: claims. It frees itself when it is over, after relays_remove. */
void relay_start(struct relay *relay);

/* A request for the same id while it runs: waits for the same outcome where that comes in time,
 * else learns at once what is known. */
void relay_join(struct relay *relay, uint64_t until_ms, struct waiter *waiter);

/* The process will end: what gathers is let go. */
void relay_drain(struct relay *relay);
/* It ends: a running delivery is cancelled, a settlement is tried no more. */
void relay_cut_short(struct relay *relay);

/* For gathering, party and settlement: steps of the way, and an end before anything was claimed. */
void relay_claim(struct relay *relay);
void relay_deliver(struct relay *relay);
void relay_over(struct relay *relay);
void relay_refuse(struct relay *relay, enum outcome_code code, const char *detail);
/* Its waiters get the outcome. */
void relay_tell(struct relay *relay);
/* Milliseconds, until they must have it. */
uint64_t relay_time_left(const struct relay *relay);

const char *relay_state_name(enum relay_state state);

#endif
