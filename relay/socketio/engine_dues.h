/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_dues: many time-outs behind one timer.
 *
 * Whatever waits for the same length of time stands in one list, in the order in which it is due,
 * so that setting and clearing cost the same for any number. Times are rounded up a little, so that
 * many that are due at about the same time wake the loop once.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_ENGINE_DUES_H
#define WAKEGATE_RELAY_SOCKETIO_ENGINE_DUES_H

#include "gateway/core/deadline.h"

struct due { /* embedded in whatever waits */
    struct due *next, *before;
    struct due_list *in; /* NULL: not set */
    uint64_t at;
};

struct due_list {
    struct due *first, *last;
    uint64_t ms;
    void (*late)(struct due *due); /* it is not set any more; may set and clear any */
};

enum { DUE_LISTS = 6 };

struct dues {
    struct deadline timer;
    struct due_list lists[DUE_LISTS];
};

void dues_open(struct dues *dues, uv_loop_t *loop);
/* All must be cleared. */
void dues_close(struct dues *dues, void (*closed)(struct deadline *deadline));

/* Moves it when it was set, in whatever list. */
void due_set(struct dues *dues, struct due *due, struct due_list *list);
void due_clear(struct due *due);

#endif
