/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handshake: the headers of the request that opened a session, kept for as long as the session
 * lives, in one piece of memory that is as small as they are. They may hold credentials: the memory
 * is overwritten when it goes.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_HANDSHAKE_H
#define WAKEGATE_RELAY_SOCKETIO_HANDSHAKE_H

#include "gateway/core/request.h"

struct handshake;

struct handshake *handshake_new(const struct request *request);
void handshake_free(struct handshake *handshake);

/* As a request without a body, which borrows from the handshake. */
void handshake_request(const struct handshake *handshake, struct request *request);

#endif
