/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store: what is remembered of each cycle at each destination, and of each target.
 *
 * Two records:
 *   the claim of a key: free -> claimed (owner, lease) -> relayed (for the window) | held | free
 *   the gate of a target: its pacing bucket, and until when it rests after an ambiguous outcome
 * A claim of what is relayed (`again_ms`) or another's (`force`) begins a new generation, which is
 * remembered also after a release. A claim whose lease ended and a hold that is over count as free,
 * but are remembered for the window, so that the next claim says what it repeats; where it is
 * released, the one after it says so again.
 *
 * Every operation is one atomic step. The caller's slices stay untouched until `done`, which comes
 * at the end of a turn and exactly once. There is no cancel: an operation ends by itself within the
 * store's command time-out, and what was asked may have happened when the answer is STORE_UNSURE.
 *
 * Keys are `<route>/<destination>/<delivery_id>` and `<route>/<target>`; the implementation puts
 * its own prefix, with the version of this layout, before them.
 */
#ifndef WAKEGATE_STORE_STORE_H
#define WAKEGATE_STORE_STORE_H

#include "gateway/core/err.h"
#include "gateway/core/op.h"
#include "gateway/core/slice.h"
#include "gateway/store/task.h"

enum store_verb { STORE_PING, STORE_CLAIM, STORE_SETTLE, STORE_RELEASE, STORE_HOLD };

enum store_answer {
    STORE_OK,   /* ping, settle, release, hold: done (or had been done by this owner before) */
    STORE_LOST, /* settle: another owner has the claim; nothing was changed */

    STORE_CLAIMED,   /* claim: ours now, or already; `repeats` says what it follows */
    STORE_RELAYED,   /* claim: relayed `answer_ms` ago; the window starts anew */
    STORE_IN_FLIGHT, /* claim: another owner's, for another `answer_ms` */
    STORE_HELD,      /* claim: held for another `answer_ms` */
    STORE_RESTING,   /* claim: the gate rests for another `answer_ms`; the key is as before */
    STORE_PACED,     /* claim: the next token comes in `answer_ms`; the key is as before */

    STORE_DOWN,  /* any: the store was not asked, or said no: nothing happened; `err` says why */
    STORE_UNSURE /* any: asked, and nobody knows whether it was done; `err` says why */
};

enum store_repeats { REPEATS_NOTHING, REPEATS_ENDED_LEASE, REPEATS_ENDED_HOLD };

struct pace {
    int64_t per_hour; /* tokens an hour; 0: no pacing */
    int64_t burst;    /* the bucket's size, at least 1 where per_hour is set */
};

struct store_op {
    struct op op;

    enum store_verb verb;
    struct slice key;   /* claim, settle, release, hold */
    struct slice gate;  /* claim, hold; empty: the target has no gate */
    struct slice owner; /* claim, settle, release, hold: who asks, unique to one relay */
    int64_t for_ms;     /* claim: the lease; hold: how long. At least 1 */
    struct pace pace;   /* claim */
    int64_t again_ms;   /* claim: what was relayed so long ago is claimed again; 0: never */
    bool force;         /* claim: also what another owner has, or what is held */

    enum store_answer answer;
    int64_t answer_ms;
    enum store_repeats repeats;
    int64_t generation; /* claim: how often it was relayed again on purpose */
    struct err err;

    void (*done)(struct op *op); /* the caller's; op.done counts the answer first */
    struct store_task task;      /* the implementation's */
};

/*
 * A claim looks in this order: held and in flight by another owner, relayed, then the gate's rest,
 * then the bucket (a token is taken), then claims. A claim by the present owner renews the lease
 * and looks at the gate like any other: a `first` chain goes on to its next target that way. A
 * settle writes `relayed` over the owner's claim, over nothing, and over an ended or held record of
 * anybody: the target has accepted, whatever was believed before. A release frees only the owner's
 * own claim, and what that repeated is remembered again. A hold replaces the owner's own claim, or
 * nothing, and lets the gate rest; it is STORE_OK also where it found another's record, which it
 * leaves alone. A settlement after another owner's is STORE_LOST: the target accepted twice.
 */

struct store;

struct store_impl {
    const char *const *schemes;         /* before the ':'; NULL-terminated */
    const struct threads_impl *threads; /* what keeps threads in the same place; NULL: nothing */

    /* `url` is checked here: false with a reason that names no password. Does not wait for the
     * store to be reachable. `window_ms`: how long a relayed key is remembered after it was last
     * seen. */
    bool (*open)(struct slice url, int64_t window_ms, struct turn *turn, struct store **store,
                 struct err *err);
    /* Starts `op->verb`. Ends the op with STORE_DOWN at once when the store cannot be asked. */
    void (*submit)(struct store *store, struct store_op *op);
    /* No operation may be running. `closed` comes when the store's handles are gone; may be NULL.
     */
    void (*close)(struct store *store, void (*closed)(void *context), void *context);
};

struct store {
    const struct store_impl *impl; /* first member of every implementation's struct */
    struct err warning; /* it works, and somebody should know this; empty: nothing. The answer to a
                           ping brings it up to date */
};

extern const struct store_impl store_redis, store_sqlite;

/* By the URL's scheme; NULL: there is no such store. */
const struct store_impl *store_find(struct slice url, struct err *err);

/* Arguments as `open`. */
bool store_open(struct slice url, int64_t window_ms, struct turn *turn, struct store **store,
                struct err *err);
void store_close(struct store *store, void (*closed)(void *context), void *context);

/* The versions of hiredis and SQLite. */
const char *store_redis_library(void);
const char *store_sqlite_library(void);

void store_ping(struct store *store, struct store_op *op, void (*done)(struct op *op));
void store_claim(struct store *store, struct store_op *op, void (*done)(struct op *op));
void store_settle(struct store *store, struct store_op *op, void (*done)(struct op *op));
void store_release(struct store *store, struct store_op *op, void (*done)(struct op *op));
void store_hold(struct store *store, struct store_op *op, void (*done)(struct op *op));

#endif
