/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine: an Engine.IO v4 server (engine.io-protocol, revision 4): sessions over HTTP long polling
 * and WebSocket, the upgrade from one to the other, and heartbeats.
 *
 * It knows nothing of what it carries: whoever opens it gets each session's messages through
 * engine_events and sends with engine_send. Everything happens on the loop's thread.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_ENGINE_H
#define WAKEGATE_RELAY_SOCKETIO_ENGINE_H

#include "gateway/core/op.h"
#include "gateway/net/http_server.h"

struct engine;
struct engine_session;

struct engine_settings {
    int64_t ping_interval_ms, ping_timeout_ms, upgrade_timeout_ms;
    size_t max_payload; /* of one packet, and of one polling body */
    size_t queue_bytes; /* waiting for one slow client; over it the session is closed */
    unsigned sessions;  /* at once; where there are as many, the oldest tentative one makes room */
    /* CORS: allowed origins, NULL-terminated; "*" allows all; NULL: none. Copied. */
    const char *const *origins;
};

struct engine_events {
    /* A session opened. The value returned is its `user` from then on. `request` is the
     * handshake's, borrowed for the call. */
    void *(*opened)(void *context, struct engine_session *session, const struct request *request);
    void (*message)(void *user, struct slice bytes, bool binary); /* borrowed for the call */
    /* The session is gone: nothing may be sent to it any more. Comes once, never from inside
     * engine_send. `why`: "transport close", "ping timeout", "transport error", "parse error", ...
     */
    void (*closed)(void *user, const char *why);
};

struct engine *engine_open(struct turn *turn, const struct engine_settings *settings,
                           const struct engine_events *events, void *context);
/* Closes all sessions; `closed` of each comes before `done`. */
void engine_close(struct engine *engine, void (*done)(void *context), void *context);

/* The handlers for the requests under the engine's path (the caller has matched the path), as
 * struct http_handlers has them. An exchange's `context` is the engine's. After the `done` of
 * engine_close none may be called. */
void engine_head(struct engine *engine, struct exchange *exchange);
void engine_request(struct engine *engine, struct exchange *exchange);
void engine_fault(struct engine *engine, struct exchange *exchange, enum http_fault fault);
void engine_gone(struct engine *engine, struct exchange *exchange);

/* A message whose encoded forms are made once, however many sessions get it. Counted. */
struct engine_message;
struct engine_message *engine_message_new(struct slice bytes, bool binary);
struct engine_message *engine_message_hold(struct engine_message *message);
void engine_message_drop(struct engine_message *message);

/* Sends, in order, now or with the end of the turn. A session that is closing ignores it. */
void engine_send(struct engine_session *session, struct engine_message *message);
/* Ends the session after what was sent before. */
void engine_end(struct engine_session *session);

/* A tentative session has not shown yet that it is wanted. A new one is none until it is said. */
void engine_set_tentative(struct engine_session *session, bool tentative);

unsigned engine_session_count(const struct engine *engine);

#endif
