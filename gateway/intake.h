/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake: the way of one wake from its request to its answer.
 *
 *   head     route, method, content coding                  (before the body is read)
 *   begin    verify -> decode -> admit -> relay, or answer  (the whole request is here)
 *   finish   the worst of what its relays tell -> answer
 */
#ifndef WAKEGATE_GATEWAY_INTAKE_H
#define WAKEGATE_GATEWAY_INTAKE_H

#include "gateway/config.h"
#include "gateway/net/http_server.h"
#include "relay/relays.h"

struct intake {
    const struct config *config; /* the present one; a reload puts another here */
    struct relays *relays;
};

/* Is this a path of ours, /wake/<route>? */
bool intake_is_path(struct slice path, struct slice *route_name);

void intake_head(const struct intake *intake, struct exchange *exchange, struct slice route_name);
void intake_begin(const struct intake *intake, struct exchange *exchange, struct slice route_name);

#endif
