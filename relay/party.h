/* SPDX-License-Identifier: Apache-2.0 */
/*
 * party: relays to one destination that one delivery serves.
 *
 * One of them, the carrier, goes its way like a relay that is alone: it claims its id and passes
 * the target's gate, and it delivers a wake that stands for all of theirs. The others ride: each
 * claims its own id, past the gate, and then waits for the carrier's outcome, by which it settles,
 * holds or releases its own claim. A relay whose id is not given to it leaves with what the store
 * said; where that is the carrier, the next one carries on.
 */
#ifndef WAKEGATE_RELAY_PARTY_H
#define WAKEGATE_RELAY_PARTY_H

#include "relay/relay.h"

/* Before they set off. The carrier then has no more time than the one that has the least. */
void party_add(struct relay *carrier, struct relay *rider);

/* All claim, in one turn. */
void party_set_off(struct relay *carrier);

/* May the carrier deliver, or does a rider's claim want its answer? A relay alone may. */
bool party_is_complete(const struct relay *relay);

/* A rider's id was given to it. */
void party_ride(struct relay *rider);

/* A rider goes no further. */
void party_leave(struct relay *rider);

/* The carrier's id was not given to it: the next one carries on, without it. */
void party_hand_over(struct relay *carrier);

/* The carrier's outcome is that of all: each finishes its own claim. */
void party_conclude(struct relay *carrier, enum store_verb how);

/* What the carrier delivers: one wake for those of all. One reference. */
struct shared_wake *party_wake(const struct relay *carrier);

#endif
