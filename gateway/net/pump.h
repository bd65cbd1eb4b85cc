/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pump: runs a library that has an epoll descriptor and a time-out of its own and wakes nobody by
 * itself: as an early step of each turn in which the descriptor is readable, the time-out is over
 * or somebody asked for a run.
 */
#ifndef WAKEGATE_NET_PUMP_H
#define WAKEGATE_NET_PUMP_H

#include "gateway/core/deadline.h"
#include "gateway/core/op.h"

struct pump {
    struct turn *turn;
    struct turn_step step;
    uv_poll_t poll;
    struct deadline timeout;
    unsigned vain; /* runs at once, one after the other, of which nothing came */
    /* One run. true: the next is due in `*ms` at the latest. */
    bool (*run)(struct pump *pump, uint64_t *ms);
    void (*closed)(struct pump *pump);
};

void pump_open(struct pump *pump, struct turn *turn, int epoll_fd,
               bool (*run)(struct pump *pump, uint64_t *ms));
void pump_want(struct pump *pump);
/* Something came of this run. Where nothing does, the runs that the library asks for are spaced. */
void pump_progress(struct pump *pump);
/* No run comes any more. The descriptor may be closed then, and the pump's memory freed in
 * `closed`. */
void pump_close(struct pump *pump, void (*closed)(struct pump *pump));

#endif
