/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settlement: the last step of a relay. What became of its claim is written: settled, released or
 * held. While the store cannot, the waiters get their answer, and it is tried again until the claim
 * ends by itself. Then: relay_over.
 */
#ifndef WAKEGATE_RELAY_SETTLEMENT_H
#define WAKEGATE_RELAY_SETTLEMENT_H

#include "relay/relay.h"

void settlement_begin(struct relay *relay, enum store_verb how);

/* A deadline of a relay that is finishing: its waiters' time is over, or a pause. */
void settlement_on_deadline(struct relay *relay);

#endif
