/* SPDX-License-Identifier: Apache-2.0 */
/*
 * router: which path leads where. Wakes go to the intake, the rooms' path to them, the paths for
 * operators to ops and admin. What is not on the list is a 404.
 */
#ifndef WAKEGATE_GATEWAY_ROUTER_H
#define WAKEGATE_GATEWAY_ROUTER_H

#include "gateway/admin.h"
#include "gateway/intake.h"
#include "gateway/ops.h"
#include "relay/room/rooms.h"

struct router {
    const struct intake *intake; /* NULL: no wakes on this listener */
    struct ops *ops;
    bool metrics;        /* /metrics is served here */
    struct rooms *rooms; /* NULL: no rooms on this listener */
    struct admin *admin; /* NULL: no admin API on this listener */
    bool trusted;        /* who reaches this listener needs no admin token */
};

/* The handlers of one listener; `router` is their context and outlives it. */
struct http_handlers router_handlers(struct router *router);

#endif
