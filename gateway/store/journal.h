/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal: what happened to each delivery, one line of JSON each, for people who look later. It is
 * shared by all instances of one store, in the order in which the lines were written, and kept by
 * count and age.
 *
 * What is added is collected and appended by the store in one operation, 100 ms later or when there
 * is enough for one, so that no wake waits for it. So the last lines before a crash may be missing,
 * and lines are dropped, and counted, when the store takes none for long. The claim, not the
 * journal, is what decides.
 *
 * Underneath it is a thread (threads.h) of a name that no room's thread can have.
 */
#ifndef WAKEGATE_STORE_JOURNAL_H
#define WAKEGATE_STORE_JOURNAL_H

#include "gateway/core/buf.h"
#include "gateway/store/threads.h"

struct journal_settings {
    bool on;
    unsigned kept;   /* lines */
    int64_t kept_ms; /* their age */
};

struct journal;

/* NULL where the settings turn it off. The store must keep threads. */
struct journal *journal_open(struct store *store, const struct journal_settings *settings,
                             struct turn *turn);

/* Takes over what `line` owns; it is empty afterwards. At most THREADS_ENTRY_BYTES. */
void journal_add(struct journal *journal, struct buf *line);

/* Reads one page: op->after, then op->read, op->end and op->more as threads.h says; the op is
 * otherwise zero or one that has read before. */
void journal_read(struct journal *journal, struct threads_op *op, void (*done)(struct op *op));

/* Writes what is left, where the store takes it. No read may run. `closed` comes later; NULL is
 * fine and closed at once. */
void journal_close(struct journal *journal, void (*closed)(void *context), void *context);

#endif
