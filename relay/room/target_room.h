/* SPDX-License-Identifier: Apache-2.0 */
/* target_room: what may be known of a target whose kind is target_room. */
#ifndef WAKEGATE_RELAY_ROOM_TARGET_ROOM_H
#define WAKEGATE_RELAY_ROOM_TARGET_ROOM_H

#include "relay/target.h"

/* The thread, the target's own; `*stored`: a message there is all, nobody has to take the wake. */
const char *target_room_thread(const struct target *target, bool *stored);

#endif
