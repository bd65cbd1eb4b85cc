/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops: what whoever runs the process asks it: does it live, is it ready, how is it doing.
 *
 * GET and HEAD. Also the meter of the loop's stalls, for /metrics.
 */
#ifndef WAKEGATE_GATEWAY_OPS_H
#define WAKEGATE_GATEWAY_OPS_H

#include "gateway/core/deadline.h"
#include "gateway/core/metrics.h"
#include "gateway/net/http_server.h"
#include "gateway/store/store.h"

struct ops {
    struct turn *turn;
    struct store *store;
    bool draining; /* set it, and nobody is told "ready" any more */

    struct store_op ping;     /* the one ping that is under way, if any */
    struct deadline deadline; /* of those who wait for it */
    struct exchange *waiting; /* linked through their context */
    unsigned waiting_count;

    struct deadline look;          /* for the first answer of the store */
    unsigned looks;                /* so far */
    void (*answered)(void *owner); /* not NULL: it is waited for */
    void *owner;

    uv_timer_t meter;
    uint64_t met_us; /* when it was last due */
    struct histogram *stalls;

    void (*closed)(void *context); /* not NULL: closing */
    void *context;
};

/* The caller's memory, until `closed`. */
void ops_open(struct ops *ops, struct turn *turn, struct store *store);

/* Calls `answered` when the store has answered, or has not for a second. Perhaps at the end of this
 * turn; never after ops_close. */
void ops_await_store(struct ops *ops, void (*answered)(void *owner), void *owner);

void ops_livez(struct ops *ops, struct exchange *exchange);
void ops_readyz(struct ops *ops, struct exchange *exchange);
void ops_metrics(struct ops *ops, struct exchange *exchange);

/* Whoever waits is told "draining". `closed` comes when the last ping is over. */
void ops_close(struct ops *ops, void (*closed)(void *context), void *context);

#endif
