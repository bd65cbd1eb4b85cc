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
 * Operations are like those of store.h: atomic, one round trip (a long read: several), ended at the
 * end of a turn, exactly once. All but an append may be repeated after THREADS_UNSURE: an offer is
 * known by its id, and its entries are appended once.
 */
#ifndef WAKEGATE_STORE_THREADS_H
#define WAKEGATE_STORE_THREADS_H

#include "gateway/store/store.h"

enum {
    THREADS_ENTRIES = 64,              /* that one operation appends */
    THREADS_ENTRY_BYTES = 1024 * 1024, /* of one entry's text; a longer one is THREADS_DOWN */
};

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
    THREADS_SETTLED, /* see below */
    THREADS_NOBODY,  /* offer: no client that may answer is present on any instance */
    THREADS_DOWN,    /* the store was not asked, or said no: nothing happened; `err` says why */
    THREADS_UNSURE   /* asked, and nobody knows whether it was done; `err` says why */
};

/*
 * An offer that was withdrawn or has expired can never be taken any more. So:
 *   offer     SETTLED: this very offer was taken or withdrawn before. While it is pending a second
 *             offer by the same owner under the same id is DONE, and appends nothing
 *   take      DONE once and for one taker only; SETTLED: taken, withdrawn, expired or unknown, or
 *             its claim has become another owner's
 *   withdraw  DONE: nobody took it and nobody will: it was pending, or had expired, or is unknown
 *             (an offer that arrives after that is SETTLED), or had been withdrawn before, where
 *             nothing is appended. SETTLED: it was taken, or is another owner's
 */

struct threads_entry {     /* one line of a thread's history: opaque JSON text */
    struct slice position; /* assigned by the store; orders entries of one thread */
    struct slice text;
};

struct threads_op {
    struct op op;
    enum threads_verb verb;
    struct slice thread;
    struct slice entries[THREADS_ENTRIES]; /* append, offer, take, withdraw: texts, in order */
    size_t entry_count;
    struct slice offer;    /* offer, take, withdraw: the offer's id */
    struct slice owner;    /* offer, withdraw: who offers; also the owner of the claim */
    struct slice taker;    /* take: who takes, told to all */
    struct slice key;      /* offer: the claim that a take settles */
    struct slice instance; /* present */
    unsigned count;        /* present; 0: nobody */
    int64_t for_ms;        /* offer: how long it may wait; present: until it expires */
    struct slice after;    /* read: a position; empty: from the beginning of what is kept */
    bool one_page;         /* read: no more than a page; `more` says whether there may be another */

    enum threads_answer answer;
    struct threads_entry *read; /* read: what was found, owned; freed by threads_op_release */
    size_t read_count;
    struct slice end; /* read: where the snapshot ends, never empty: follow from here. It stays as
                         long as `read` and `after` do */
    bool more;        /* read, of one page */
    char *pending;    /* read: the pending offer's id at the end of the snapshot; NULL: none */
    struct err err;

    /* for the implementation */
    void (*done)(struct op *op); /* the caller's */
    struct slice from;           /* read: where this page begins */
    bool only_end;               /* read: no entries, but where the history ends */
    struct threads *threads;
    struct store_task task;
};

/* What a read found. The op may be used again. */
void threads_op_release(struct threads_op *op);

struct threads;

struct threads_settings {
    unsigned kept;     /* entries of one thread */
    int64_t kept_ms;   /* the age to which they are kept */
    int64_t window_ms; /* as for store_open: of the claims that a take settles */
    bool unfollowed;   /* nobody follows: what is appended is told to none, and `appended` may be
                          NULL */
};

/* `appended` is given every entry that any instance appends to any thread that this one follows, in
 * order, once; those that were read together come together. (One that was trimmed before it could
 * be read is not told.) It may follow, unfollow and submit. It works on the store's own Redis
 * connection (and one more, to follow) or SQLite file, and is closed before the store. */
struct threads *threads_open(struct store *store, const struct threads_settings *settings,
                             struct turn *turn,
                             void (*appended)(void *context, struct slice thread,
                                              const struct threads_entry *entries, size_t count),
                             void *context, struct err *err);
/* No operation may be running. `appended` is not called any more. `closed` comes later; may be
 * NULL. */
void threads_close(struct threads *threads, void (*closed)(void *context), void *context);
void threads_submit(struct threads *threads, struct threads_op *op, enum threads_verb verb,
                    void (*done)(struct op *op));

/* From the position after `after` (empty: from now on). A thread is followed until unfollowed; to
 * follow one that is followed changes nothing. A reader that joins a thread that others follow
 * already takes part before it reads, and drops what is not after its snapshot's `end`. */
void threads_follow(struct threads *threads, struct slice thread, struct slice after);
void threads_unfollow(struct threads *threads, struct slice thread);

/* Orders positions of one thread: negative, 0, positive. */
int threads_compare(struct slice a, struct slice b);

#endif
