/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_polling: the transport of HTTP long polling. A GET waits until there is a packet and takes
 * all there are; a POST brings packets. A session has one of each at a time.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_ENGINE_POLLING_H
#define WAKEGATE_RELAY_SOCKETIO_ENGINE_POLLING_H

#include "relay/socketio/engine_session.h"

/* A handshake was made: its packet is the answer. */
void polling_open(struct engine_session *session, struct exchange *exchange);

/* A GET of a session that is polling. */
void polling_poll(struct engine_session *session, struct exchange *exchange);

/* The head of a POST; unless it is answered, `context` is the session for polling_data, engine_gone
 * and engine_fault, or NULL when the session went before the body came. */
void polling_expect(struct engine_session *session, struct exchange *exchange);
/* Its body is there. */
void polling_data(struct engine *engine, struct exchange *exchange);
/* Its body will not be; `why` ends the session. */
void polling_forget(struct exchange *exchange, const char *why);

/* Answers the waiting GET if there is reason to. true: nothing is left to be sent. */
bool polling_flush(struct engine_session *session);
/* The session moves to its WebSocket. */
void polling_rest(struct engine_session *session);
/* The session is over: answers the GET that waits and lets go of the POST that comes. */
void polling_leave(struct engine_session *session);

void polling_on_due_look(struct due *due);

#endif
