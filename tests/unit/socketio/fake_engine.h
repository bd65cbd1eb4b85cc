/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_engine: engine.h without a network. A test plays the client: it opens sessions, sends
 * messages, goes away; what the server sends is kept as text.
 */
#ifndef WAKEGATE_TESTS_FAKE_ENGINE_H
#define WAKEGATE_TESTS_FAKE_ENGINE_H

#include "gateway/core/buf.h"
#include "relay/socketio/engine.h"

struct engine_session *fake_open(struct engine *engine, const struct request *request);
void fake_text(struct engine_session *session, const char *text);
void fake_binary(struct engine_session *session, struct slice bytes);
void fake_lose(struct engine_session *session, const char *why);

/* What was sent since the last time: "40{}|42[...]|<hex>"; "(end)" when the server ended it. A
 * session that is gone says nothing. Valid until the next call. */
const char *fake_sent(struct engine_session *session);

/* Lets the loop turn once. */
void fake_turn(struct engine *engine);

/* How many messages were encoded and are still held. */
unsigned fake_messages(void);

#endif
