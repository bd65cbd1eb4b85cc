/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door: which path leads where. Wakes go to the intake, the paths for operators to ops. What is not
 * on the list is a 404.
 */
#ifndef WAKEGATE_GATEWAY_DOOR_H
#define WAKEGATE_GATEWAY_DOOR_H

#include "gateway/intake.h"
#include "gateway/ops.h"

struct door {
    const struct intake *intake; /* NULL: no wakes at this door */
    struct ops *ops;
    bool metrics; /* /metrics is served here */
};

/* The handlers of one listener; `door` is their context and outlives it. */
struct http_handlers door_handlers(struct door *door);

#endif
