/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_probe: how a session moves from polling to a WebSocket. The client opens one with the same
 * sid and asks whether it works (2probe, 3probe); meanwhile polling goes on, but no GET waits; with
 * the client's packet 5 the WebSocket is the transport. Whatever else happens on it closes that
 * WebSocket alone.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_ENGINE_PROBE_H
#define WAKEGATE_RELAY_SOCKETIO_ENGINE_PROBE_H

#include "relay/socketio/engine_link.h"

/* The session is polling and has no probe. */
void probe_begin(struct link *link, struct engine_session *session);
void probe_message(struct link *link, struct slice payload, bool binary);
void probe_on_due(struct due *due);

#endif
