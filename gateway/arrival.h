/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrival: a genuine wake between its relays and its answer. It waits for every destination of the
 * route and answers with the worst outcome (design of `all`: a sender that retries then reaches
 * those that have not accepted, and only those).
 */
#ifndef WAKEGATE_GATEWAY_ARRIVAL_H
#define WAKEGATE_GATEWAY_ARRIVAL_H

#include "gateway/net/http_server.h"
#include "gateway/route.h"
#include "relay/relays.h"

/* Relays the wake to every destination of the route and answers the exchange when all have told,
 * at `until_ms` (steady) at the latest. Takes over what `wake` owns. */
void arrival_begin(struct relays *relays, struct route *route, struct exchange *exchange,
                   struct wake *wake, uint64_t until_ms);

#endif
