/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service: what a client of the rooms gets for what it asks.
 *
 * Every command ends in an acknowledgement, where its client wants one. What is refused is told
 * with the event protocol:error too, as the protocol says, but for thread:messages, whose answer is
 * the acknowledgement.
 */
#ifndef WAKEGATE_RELAY_ROOM_SERVICE_H
#define WAKEGATE_RELAY_ROOM_SERVICE_H

#include "relay/room/client.h"

/* An event that `client` sent; ends `ack`, now or later. */
void service_event(struct client *client, const char *name,
                   const struct socketio_arguments *arguments, struct socketio_ack *ack);

#endif
