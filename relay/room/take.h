/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take: a client's try to take the wake that a thread offers. The store decides, so that one of all
 * clients of all instances has it; the announcement that names that one is appended in the same
 * step.
 */
#ifndef WAKEGATE_RELAY_ROOM_TAKE_H
#define WAKEGATE_RELAY_ROOM_TAKE_H

#include "relay/room/room.h"

/* Ends `ack` when it is decided. */
void take_begin(struct room *room, struct client *client, struct slice interrupt,
                struct socketio_ack *ack);

#endif
