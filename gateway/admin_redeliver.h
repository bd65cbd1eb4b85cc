/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admin_redeliver: delivers a wake of the journal again, on purpose.
 *
 *   POST /admin/deliveries/<delivery_id>/redeliver?route=&target=&force=true
 *
 * The newest line of that id gives the wake and says where it went; where it went to several
 * destinations, `route` and `target` name one. The relay begins a new generation of the id where it
 * was relayed before, so that a target which drops repeats takes it for another delivery. It is
 * answered as the sender's own request would be: an id that is being relayed is 503 `in_flight`,
 * one that is held 503 `held`, and so on; `force` passes these, the target's rest and its pace.
 */
#ifndef WAKEGATE_GATEWAY_ADMIN_REDELIVER_H
#define WAKEGATE_GATEWAY_ADMIN_REDELIVER_H

#include "gateway/admin.h"

/* `id` is borrowed from the exchange. */
void admin_redeliver(struct admin *admin, struct exchange *exchange, struct slice id);

#endif
