/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gathering: the relays to one destination that wait for each other. Only where the route has a
 * quiet time; else nobody waits here.
 *
 * The first wake opens a window of that time, and all that come inside it set off together, as one
 * party. What comes while a party is on its way gathers too, and sets off when that one's senders
 * have their answer. Nobody waits longer than its own budget allows: a window closes early for a
 * relay that has little time left, and one for which the time is too short is let go.
 */
#ifndef WAKEGATE_RELAY_GATHERING_H
#define WAKEGATE_RELAY_GATHERING_H

#include <stdbool.h>
#include <stdint.h>

struct relay;

/* Of a relay's own time, what must be left when it sets off. */
enum { GATHERING_LEAST_MS = 1000, GATHERING_EARLY_MS = 500 };

struct gathering {
    int64_t quiet_ms;     /* the window; 0: nobody gathers */
    struct relay *first;  /* those that wait, in the order in which they came */
    struct relay **end;   /* where the next one goes; set when there is a first */
    struct relay *onward; /* the carrier of the party that is on its way; NULL: none is */
    bool due;             /* the window is over */
};

/* The relay waits, and sets off by itself: see party_set_off. */
void gathering_join(struct relay *relay);

/* A deadline of a relay that waits. */
void gathering_on_deadline(struct relay *relay);

/* The relay waits no more. */
void gathering_leave(struct relay *relay);

/* Its senders have their answer: if it was the one on its way, the next party may set off. */
void gathering_on_told(struct relay *relay);

#endif
