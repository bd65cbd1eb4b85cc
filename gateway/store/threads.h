/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads: what is remembered of each room's thread, shared by all instances: its history, who is
 * there to answer, and the offer that waits for an answer.
 *
 *   history   messages and envelopes in the order in which they were appended; trimmed by count and
 *             age. The position of an entry is assigned where it is appended, and every reader of
 *             every instance sees the same order
 *   offer     at most one a thread: offered -> taken | withdrawn, changed by compare-and-set; it
 *             expires by itself when its gateway died. `taken` settles the claim of the wake in the
 *             same step, so that no wake is both taken and fired elsewhere
 *   presence  how many clients that may answer are connected, over all instances; each instance
 *             renews its own number, and a dead one's expires
 *
 * Operations are like those of store.h: atomic, one round trip, ended at the end of a turn.
 */
#ifndef WAKEGATE_STORE_THREADS_H
#define WAKEGATE_STORE_THREADS_H

#include "gateway/store/store.h"

enum threads_verb {
    THREADS_APPEND,   /* `entries` to the end of the thread's history */
    THREADS_READ,     /* history from `after` on, and the pending offer */
    THREADS_OFFER,    /* a new offer, with its entries, unless one is pending */
    THREADS_TAKE,     /* offered -> taken, with its entries; the claim `key` becomes relayed */
    THREADS_WITHDRAW, /* offered -> withdrawn, with its entries; only by its owner */
    THREADS_PRESENT   /* this instance has `count` clients that may answer, for `for_ms` */
};

enum threads_answer {
    THREADS_DONE,
    THREADS_BUSY,    /* offer: another one is pending */
    THREADS_SETTLED, /* take, withdraw: it was taken or withdrawn before, or is unknown */
    THREADS_NOBODY,  /* offer: no client that may answer is present on any instance */
    THREADS_UNSURE   /* the store did not do it or did not say so */
};

struct threads_entry {     /* one line of a thread's history: opaque JSON text */
    struct slice position; /* assigned by the store; orders entries of one thread */
    struct slice text;
};

struct threads_op {
    struct op op;
    enum threads_verb verb;
    struct slice thread;
    struct slice entries[8]; /* append, offer, take, withdraw: texts, in order */
    size_t entry_count;
    struct slice offer;    /* offer, take, withdraw: the offer's id */
    struct slice owner;    /* offer, withdraw: who offers; also the owner of the claim */
    struct slice taker;    /* take: who takes, told to all */
    struct slice key;      /* offer: the claim that a take settles */
    struct slice instance; /* present */
    unsigned count;        /* present */
    int64_t for_ms;        /* offer: how long it may wait; present: until it expires */
    struct slice after;    /* read: a position; empty: from the beginning of what is kept */

    enum threads_answer answer;
    struct threads_entry *read; /* read: what was found, owned; freed by threads_op_release */
    size_t read_count;
    char *pending; /* read: the pending offer's id; NULL: none */
    struct err err;

    struct threads_op *next; /* for the implementation */
};

void threads_op_release(struct threads_op *op);

struct threads;

struct threads_settings {
    unsigned kept;     /* entries of one thread */
    int64_t kept_ms;   /* the age to which they are kept */
    int64_t window_ms; /* as for store_open: of the claims that a take settles */
};

/* `appended` is called for every entry that any instance appends to any thread that this one
 * follows, in order, once. It works on the store's own Redis connection (and one more, to follow)
 * or SQLite file, and is closed before the store. */
struct threads *threads_open(struct store *store, const struct threads_settings *settings,
                             struct turn *turn,
                             void (*appended)(void *context, struct slice thread,
                                              const struct threads_entry *entry),
                             void *context, struct err *err);
void threads_close(struct threads *threads, void (*closed)(void *context), void *context);
void threads_submit(struct threads *threads, struct threads_op *op, enum threads_verb verb,
                    void (*done)(struct op *op));
/* From the position after `after` (empty: from now on). A thread is followed until unfollowed. */
void threads_follow(struct threads *threads, struct slice thread, struct slice after);
void threads_unfollow(struct threads *threads, struct slice thread);

#endif
