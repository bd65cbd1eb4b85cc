/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads_impl: what stands between threads.c, which is the same for every store, and the two
 * implementations.
 *
 * An implementation runs single operations, a read page by page, and gives a hint whenever a thread
 * may have grown. A hint too many costs a read; one too few would be an entry that comes late. What
 * is followed, and from where, is not its matter.
 */
#ifndef WAKEGATE_STORE_THREADS_IMPL_H
#define WAKEGATE_STORE_THREADS_IMPL_H

#include "gateway/store/follow.h"
#include "gateway/store/threads.h"

/* A position before any. */
#define THREADS_BEGINNING SLICE("0")

enum { THREADS_PAGE_ENTRIES = 64, THREADS_PAGE_BYTES = 256 * 1024 };

struct threads_impl {
    struct threads *(*open)(struct store *store, const struct threads_settings *settings,
                            struct turn *turn, struct follow *follow);
    /* Ends the op with op_finish. A read adds what comes after op->from, at most one page, and says
     * in op->more whether it stopped at the page's end. */
    void (*submit)(struct threads *threads, struct threads_op *op);
    /* Frees it all and calls threads->closed, not at once. No operation runs. */
    void (*close)(struct threads *threads);
};

struct threads { /* first member of an implementation's struct */
    const struct threads_impl *impl;
    struct follow *follow;
    struct turn *turn;
    void (*closed)(void *context); /* may be NULL */
    void *closed_context;
};

extern const struct threads_impl threads_redis, threads_sqlite;

/* Add a copy to what a read found. `pending` may be empty: there is none. */
void threads_op_pending(struct threads_op *op, struct slice pending);
void threads_op_add(struct threads_op *op, struct slice position, struct slice text);
/* Ends a read's findings with the reason. */
void threads_op_fail(struct threads_op *op, enum threads_answer answer, const struct err *why);

#endif
