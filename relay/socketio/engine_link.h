/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_link: one WebSocket of an engine: the transport of a session, or a probe that may become
 * it.
 *
 * An idle link has no buffer; its memory is what matters when thousands wait in a room. It is freed
 * by the engine's step after link_close, so a session only ever forgets it.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_ENGINE_LINK_H
#define WAKEGATE_RELAY_SOCKETIO_ENGINE_LINK_H

#include "relay/socketio/engine_session.h"

struct link {
    struct engine *engine;
    struct engine_session *session; /* NULL: closed */
    struct http_socket *socket;     /* NULL: not taken over yet, or closed */
    struct websocket_reader reader;
    struct queue out;
    struct link *next_closed;
    struct due due; /* the end of a probe's patience */
    bool blocked;   /* waiting until it can be written to */
};

/* Whoever makes one sets `session`, and the session's `link` or `probe`, and sees to it that
 * link_taken is called once, with the link as `context`: see http_upgrade. */
struct link *link_new(struct engine *engine);
void link_taken(void *context, struct http_socket *socket, struct slice head, struct slice early);

/* Sends one packet or frame past the session; takes the reference. */
void link_send(struct link *link, struct engine_message *message);

/* Sends what its session has queued. true: all of it is out. */
bool link_flush(struct link *link);
size_t link_waiting(const struct link *link);

/* Says so to the client, when that is still possible, and lets go of it. */
void link_close(struct link *link, enum websocket_status status);

/* For the engine: an event of its sockets, and what its step does after the sessions'. */
void link_on_ready(void *link, unsigned events);
void links_free_closed(struct engine *engine);

#endif
