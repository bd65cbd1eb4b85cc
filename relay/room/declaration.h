/* SPDX-License-Identifier: Apache-2.0 */
/*
 * declaration: what a run's command may bring along: images, and the tools that its client offers.
 *
 * An attachment is {mediaType, data?, name?, size?, id?}: the protocol fixes its types, its size
 * and the number of them; the names of its members are ours. `data` is base64.
 */
#ifndef WAKEGATE_RELAY_ROOM_DECLARATION_H
#define WAKEGATE_RELAY_ROOM_DECLARATION_H

#include "relay/room/fields.h"

enum {
    DECLARED_ATTACHMENTS = 8,
    DECLARED_ATTACHMENT_BYTES = 5 * 1024 * 1024,
    DECLARED_TOOLS = 32,
    DECLARED_TOOL_NAME = 64
};

bool declaration_attachments(json_t *value, const char *path, struct err *err);
bool declaration_tools(json_t *value, const char *path, struct err *err);

#endif
