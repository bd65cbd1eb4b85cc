/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_handshake: the opening handshake of a WebSocket (RFC 6455, section 4.2): from the request
 * to a link on its way.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_ENGINE_HANDSHAKE_H
#define WAKEGATE_RELAY_SOCKETIO_ENGINE_HANDSHAKE_H

#include "relay/socketio/engine_link.h"

/* Does this request want to become a WebSocket, well-formed or not? */
bool handshake_is_meant(const struct exchange *exchange);

/* false: it is malformed, and was answered. */
bool handshake_read(struct exchange *exchange, char accept[static WEBSOCKET_ACCEPT_SIZE]);

/* Answers 101; the connection becomes the link's. */
void handshake_answer(struct exchange *exchange, const char *accept, struct link *link);

#endif
