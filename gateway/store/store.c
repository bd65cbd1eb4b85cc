/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses a store by its URL's scheme, starts its operations, and counts their answers: the
 * caller's `done` waits in the operation while counted() stands in its place.
 */
#include "gateway/store/store.h"

#include <assert.h>

#include "gateway/core/metrics.h"

static const char *const verbs[] = {
    [STORE_PING] = "ping",       [STORE_CLAIM] = "claim", [STORE_SETTLE] = "settle",
    [STORE_RELEASE] = "release", [STORE_HOLD] = "hold",
};

static const char *const answers[] = {
    [STORE_OK] = "ok",           [STORE_LOST] = "lost",           [STORE_CLAIMED] = "claimed",
    [STORE_RELAYED] = "relayed", [STORE_IN_FLIGHT] = "in_flight", [STORE_HELD] = "held",
    [STORE_RESTING] = "resting", [STORE_PACED] = "paced",         [STORE_DOWN] = "down",
    [STORE_UNSURE] = "unsure",
};

/* The URL stays out of the text: it may hold a password. */
const struct store_impl *store_find(struct slice url, struct err *err)
{
    static const struct store_impl *const impls[] = {&store_sqlite, &store_redis};
    struct slice scheme, rest;

    bool colon = slice_cut(url, ':', &scheme, &rest);
    for (size_t i = 0; colon && i < sizeof(impls) / sizeof(impls[0]); i++)
        for (const char *const *known = impls[i]->schemes; *known; known++)
            if (slice_eq(scheme, slice_from(*known)))
                return impls[i];
    err_set(err, "the store's URL: it begins with none of sqlite:, redis:, rediss:, redis+unix:, "
                 "redis+sentinel:, rediss+sentinel:; write for example sqlite:wakegate.db");
    return NULL;
}

bool store_open(struct slice url, int64_t window_ms, struct turn *turn, struct store **store,
                struct err *err)
{
    const struct store_impl *impl = store_find(url, err);

    return impl && impl->open(url, window_ms, turn, store, err);
}

void store_close(struct store *store, void (*closed)(void *context), void *context)
{
    store->impl->close(store, closed, context);
}

static void counted(struct op *op)
{
    struct store_op *store_op = CONTAINER_OF(op, struct store_op, op);

    ++*metrics_value(METRIC_STORE, verbs[store_op->verb], answers[store_op->answer], NULL);
    *metrics_value(METRIC_STORE_UP, NULL, NULL, NULL) =
        store_op->answer != STORE_UNSURE && store_op->answer != STORE_DOWN;
    store_op->done(op);
}

static void start(struct store *store, struct store_op *op, enum store_verb verb,
                  void (*done)(struct op *op))
{
    op_begin(&op->op, counted);
    op->verb = verb;
    op->done = done;
    store->impl->submit(store, op);
}

/* start() for an operation on a key. */
static void start_on_key(struct store *store, struct store_op *op, enum store_verb verb,
                         void (*done)(struct op *op))
{
    assert(op->key.len > 0 && op->owner.len > 0);
    start(store, op, verb, done);
}

void store_ping(struct store *store, struct store_op *op, void (*done)(struct op *op))
{
    start(store, op, STORE_PING, done);
}

void store_claim(struct store *store, struct store_op *op, void (*done)(struct op *op))
{
    assert(op->for_ms > 0 && (op->pace.per_hour == 0 || op->pace.burst > 0));
    start_on_key(store, op, STORE_CLAIM, done);
}

void store_settle(struct store *store, struct store_op *op, void (*done)(struct op *op))
{
    start_on_key(store, op, STORE_SETTLE, done);
}

void store_release(struct store *store, struct store_op *op, void (*done)(struct op *op))
{
    start_on_key(store, op, STORE_RELEASE, done);
}

void store_hold(struct store *store, struct store_op *op, void (*done)(struct op *op))
{
    assert(op->for_ms > 0);
    start_on_key(store, op, STORE_HOLD, done);
}
