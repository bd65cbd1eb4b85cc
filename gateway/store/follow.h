/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow: the threads that this instance follows, each read on from its own position whenever it
 * may have grown.
 *
 * Order, and that nothing is lost or doubled, rest on the position alone: it moves only with what
 * was told. A hint that comes during a read leads to one more read; a read that failed is tried
 * again until it works.
 */
#ifndef WAKEGATE_STORE_FOLLOW_H
#define WAKEGATE_STORE_FOLLOW_H

#include "gateway/store/threads.h"

struct follow;

struct follow *follow_open(struct turn *turn,
                           void (*appended)(void *context, struct slice thread,
                                            const struct threads_entry *entries, size_t count),
                           void *context);
/* Tells nothing more; `closed` comes when its reads have ended. */
void follow_close(struct follow *follow, void (*closed)(void *context), void *context);

void follow_add(struct follow *follow, struct threads *threads, struct slice thread,
                struct slice after);
void follow_remove(struct follow *follow, struct slice thread);

/* Hints: this thread may have grown, any may have. */
void follow_look(struct follow *follow, struct slice thread);
void follow_look_at_all(struct follow *follow);

#endif
