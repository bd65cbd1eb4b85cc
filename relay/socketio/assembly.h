/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assembly: Socket.IO packets out of the messages that carry them: a text, and for the binary types
 * as many binary messages as it announced, with nothing in between. Pure; between packets it holds
 * nothing.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_ASSEMBLY_H
#define WAKEGATE_RELAY_SOCKETIO_ASSEMBLY_H

#include "relay/socketio/socket_packet.h"

enum assembly_got {
    ASSEMBLY_MORE,  /* `packet` is there, its attachments are not yet */
    ASSEMBLY_WHOLE, /* `packet` and `attachments`, until assembly_clear */
    ASSEMBLY_FAULT
};

struct assembly {
    struct socket_packet packet;
    char *name_space;          /* what packet.name_space points at */
    struct slice *attachments; /* owned, with their bytes; as many as were announced */
    unsigned count;            /* that have come */
    size_t bytes;              /* of these */
};

/* After ASSEMBLY_WHOLE or ASSEMBLY_FAULT, assembly_clear comes before the next message. `max` is of
 * all attachments together. */
enum assembly_got assembly_text(struct assembly *assembly, struct slice text, struct err *err);
enum assembly_got assembly_binary(struct assembly *assembly, struct slice bytes, size_t max,
                                  struct err *err);

/* Lets go of the packet, complete or not. */
void assembly_clear(struct assembly *assembly);

#endif
