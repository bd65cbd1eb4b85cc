/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_session: the sessions of an engine, whatever transport they are on: which exist, what
 * their packets mean, heartbeats, and how they end. Only for the engine's own files.
 *
 * Whatever happens to a session happens in place, but its consequences do not: session_over takes
 * it out of sight at once, and the step at the end of the turn tells the user and frees it. Until
 * then a pointer to it stays good, so nothing here needs to ask who else is on the stack. The same
 * step sends what the turn produced.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_ENGINE_SESSION_H
#define WAKEGATE_RELAY_SOCKETIO_ENGINE_SESSION_H

#include "gateway/net/poll_set.h"
#include "relay/socketio/engine.h"
#include "relay/socketio/engine_cors.h"
#include "relay/socketio/engine_dues.h"
#include "relay/socketio/engine_queue.h"

enum { SID_LEN = 20 };

enum engine_due { DUE_PING, DUE_PONG, DUE_END, DUE_UPGRADE, DUE_LOOK, DUE_TENTATIVE };

struct bucket {
    struct engine_session *first;
};

struct engine {
    struct turn *turn;
    struct engine_settings settings;
    struct engine_events events;
    void *context;
    struct cors cors;
    struct bucket *buckets; /* by sid */
    size_t bucket_count;    /* a power of two */
    unsigned sessions;      /* in the buckets */
    unsigned links;         /* not freed yet */
    struct link *closed_links;
    struct poll_set sockets; /* of the links */
    struct dues dues;
    struct turn_step step;
    struct engine_session *stirred, *stirred_last;
    struct engine_message *ping;
    bool closing;
    struct op ended;
    void (*done)(void *context);
    void *done_context;
};

enum session_state {
    SESSION_OPEN,
    SESSION_ENDING, /* what was sent before still goes out; nothing comes in any more */
    SESSION_OVER    /* not found by its sid any more */
};

struct engine_session {
    struct engine *engine;
    void *user;
    struct engine_session *next;         /* in its bucket */
    struct engine_session *stirred_next; /* waiting for the step */
    struct link *link;                   /* its WebSocket; NULL while it is polling, or over */
    struct link *probe;                  /* a WebSocket that may become its link */
    struct exchange *poll;               /* a GET that waits for packets */
    struct exchange *post;               /* a POST whose body is coming */
    const char *why;                     /* it is over */
    struct queue queue;
    struct due due;  /* the next ping, the pong, or the end */
    struct due look; /* at whether the client of `poll` is still there */
    struct due tentative;
    enum session_state state;
    bool websocket; /* its transport; `link` may be on its way */
    bool stirred;
    bool probed; /* `probe` was answered: polling is to come to rest */
    bool pong_refreshed;
    char sid[SID_LEN + 1];
};

struct engine_session *session_new(struct engine *engine, bool websocket);
struct engine_session *session_find(const struct engine *engine, struct slice sid);

/* The packet 0 of a new session. */
void session_open_packet(const struct engine_session *session, struct buf *text);

/* A packet that came over whatever transport. */
void session_packet(struct engine_session *session, const struct engine_packet *packet);

/* The step will look at it. */
void session_stir(struct engine_session *session);
/* Ends it now: what was not sent is dropped. Does nothing to one that is over. `why` is a literal.
 */
void session_over(struct engine_session *session, const char *why);

/* For the engine's step and its lists of dues. */
void sessions_step(struct engine *engine);
void session_on_due_ping(struct due *due);
void session_on_due_pong(struct due *due);
void session_on_due_end(struct due *due);
void session_on_due_tentative(struct due *due);

#endif
