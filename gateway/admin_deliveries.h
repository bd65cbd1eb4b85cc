/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admin_deliveries: what the journal has, oldest first, page by page.
 *
 *   GET /admin/deliveries?route=&target=&outcome=&id=&since=<RFC 3339, UTC>&after=<next>&limit=
 *   {"deliveries": [{"at":..., "route":..., ...}], "next": "<position>", "more": true}
 *
 * The lines are those of relay_journal.h without the wake. At most `limit` of them (100, up to 500)
 * come at once, and fewer where many had to be looked through: whoever wants all of them asks again
 * with `after` set to `next` while `more` is true, and later, to follow.
 */
#ifndef WAKEGATE_GATEWAY_ADMIN_DELIVERIES_H
#define WAKEGATE_GATEWAY_ADMIN_DELIVERIES_H

#include "gateway/admin.h"

void admin_deliveries(struct admin *admin, struct exchange *exchange);

#endif
