/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_answer: what the answers of an engine look like, and what it says when it refuses.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_ENGINE_ANSWER_H
#define WAKEGATE_RELAY_SOCKETIO_ENGINE_ANSWER_H

#include "relay/socketio/engine_session.h"

void engine_answer(const struct engine *engine, struct exchange *exchange, unsigned status,
                   const char *content_type, struct slice body);
void engine_answer_empty(const struct engine *engine, struct exchange *exchange, unsigned status);

enum engine_refusal {
    REFUSED_NOT,
    REFUSED_TRANSPORT,
    REFUSED_UNKNOWN_SID,
    REFUSED_METHOD,
    REFUSED_BAD_REQUEST,
    REFUSED_PROTOCOL,
    REFUSED_ORIGIN,
    REFUSED_TOO_MANY, /* sessions */
    REFUSED_CLOSING
};

/* JSON with a code and a message; for a WebSocket handshake the message alone, and the connection
 * is closed. */
void engine_refuse(const struct engine *engine, struct exchange *exchange,
                   enum engine_refusal refusal, bool upgrade);

/* false: this is no preflight that has a positive answer. */
bool engine_answer_preflight(const struct engine *engine, struct exchange *exchange);

#endif
