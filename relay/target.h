/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target: something that can take a wake. One kind a file, one line in target.c's table.
 *
 * The common settings of every kind are read here, the rest by the kind itself.
 */
#ifndef WAKEGATE_RELAY_TARGET_H
#define WAKEGATE_RELAY_TARGET_H

#include "gateway/core/op.h"
#include "gateway/core/outcome.h"
#include "gateway/core/settings.h"
#include "gateway/core/wake.h"
#include "gateway/store/store.h"

struct http_client;
struct journal;
struct rooms;
struct texts;

/* What a target may use of the process. Outlives every target. */
struct world {
    uv_loop_t *loop;
    struct turn *turn;
    struct store *store;
    struct http_client *http;         /* reaches public addresses only */
    struct http_client *private_http; /* reaches private and loopback addresses too */
    struct rooms *rooms;              /* NULL: none are configured */
    struct texts *texts;              /* NULL: none are fetched */
    struct journal *journal;          /* NULL: none is kept */
};

/* What a target needs to know of the route it serves. Borrowed while open runs. */
struct route_facts {
    struct slice name;
    struct slice handle; /* may be empty */
    struct slice prompt; /* may be empty */
    int64_t budget_ms;   /* from a request's head to its answer */
    int64_t quiet_ms;    /* of that, how long a wake waits for others; may be 0 */
    int64_t again_ms;    /* see struct destination; may be 0 */
    bool rooms;          /* the config has rooms */
};

/* One try to bring one wake to one target. Embedded in the relay. */
struct delivery {
    struct op op;
    const struct wake *wake;
    struct slice key;       /* the idempotency key; letters, digits, '-' and '_' */
    struct slice claim;     /* the key in the store of what is claimed for this delivery */
    struct slice owner;     /* who claimed it */
    struct outcome outcome; /* set when done: ACCEPTED, REFUSED, GONE, UNAVAILABLE or AMBIGUOUS */
    void *work;             /* the target's own state while the delivery runs */
};

struct target;

struct target_kind {
    const char *name; /* config: the key of the target's object */

    /* Reads its settings (every mistake goes to the cursor's report) and makes a target. NULL when
     * they were wrong. In a `check`, `world` is NULL: nothing is opened that talks. */
    struct target *(*open)(struct settings *settings, const struct route_facts *route,
                           const struct world *world);
    /* Starts a delivery; its op ends by itself within the target's own time-out. */
    void (*deliver)(struct target *target, struct delivery *delivery);
    /* Ends a running delivery early: its `done` still comes, AMBIGUOUS if anything was sent. */
    void (*cancel)(struct target *target, struct delivery *delivery);
    /* Optional: has nothing been sent yet, so that a cancel would leave nothing unclear? Without it
     * something may have been. */
    bool (*is_unsent)(const struct delivery *delivery);
    /* No delivery may be running. */
    void (*close)(struct target *target);
};

struct target {
    const struct target_kind *kind; /* first member of every kind's struct */
    char *id;                       /* owned; unique in its route */
    bool idempotent; /* drops a repeated key itself, so may be asked again when unclear */
    int64_t wait_ms; /* its share of a `first` chain's budget; 0: what is left */
    /* A kind may set its own defaults of these: */
    int64_t hold_ms;    /* how long an ambiguous outcome holds id and target */
    int64_t timeout_ms; /* how long a delivery may take at most, budget or not */
    struct pace pace;
};

extern const struct target_kind target_trigger, target_room;

/* Reads one target, `{"<kind>": {...}}`. NULL after a mistake, which stands in the report. */
struct target *target_open(struct settings *settings, const struct route_facts *route,
                           const struct world *world);
void target_close(struct target *target); /* NULL is fine */

void target_deliver(struct target *target, struct delivery *delivery, const struct wake *wake,
                    struct slice key, void (*done)(struct op *op));
void target_cancel(struct target *target, struct delivery *delivery);
bool target_is_unsent(const struct target *target, const struct delivery *delivery);

#endif
