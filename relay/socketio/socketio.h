/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socketio: a Socket.IO v5 server (socket.io-protocol, revision 5) on an Engine.IO server:
 * namespaces, events, acknowledgements both ways, binary attachments.
 *
 * It knows no application: one registers for each namespace what happens on it. Names of events and
 * arguments come from outside and were only parsed.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_SOCKETIO_H
#define WAKEGATE_RELAY_SOCKETIO_SOCKETIO_H

#include <jansson.h>

#include "gateway/core/err.h"
#include "relay/socketio/engine.h"

struct socketio;        /* the server */
struct socketio_socket; /* one client in one namespace */
struct socketio_ack;    /* an acknowledgement that a client waits for */

/* The arguments of an event or an acknowledgement: a JSON array in which each attachment stands as
 * {"_placeholder": true, "num": i}. Borrowed by whoever is called with it. */
struct socketio_arguments {
    json_t *json;
    const struct slice *attachments;
    size_t attachment_count;
};

struct socketio_namespace {
    const char *name; /* "/", "/custom" */
    /* May this client in? `auth` is the CONNECT payload or NULL, `handshake` the HTTP request that
     * opened the connection (headers kept for the session). false refuses it with `why` as the
     * message of CONNECT_ERROR. *user is the socket's from then on. */
    bool (*connect)(void *context, struct socketio_socket *socket, json_t *auth,
                    const struct request *handshake, void **user, struct err *why);
    /* The CONNECT was answered: events may be sent. May be NULL. */
    void (*connected)(void *user, struct socketio_socket *socket);
    /* `ack` is NULL when the client wants none; else somebody must give it to socketio_acknowledge
     * once, now or later. An event nobody handles is ignored: then give it to socketio_ack_drop. */
    void (*event)(void *user, struct socketio_socket *socket, const char *name,
                  const struct socketio_arguments *arguments, struct socketio_ack *ack);
    void (*disconnected)(void *user, struct socketio_socket *socket, const char *why);
    void *context;
};

struct socketio_settings {
    struct engine_settings engine;
    int64_t connect_timeout_ms; /* for a client in no namespace, or that owes an attachment */
    unsigned acks_pending;      /* of one socket, asked and not answered, at most; each way */
};

/* `namespaces` is NULL-terminated and outlives the server. */
struct socketio *socketio_open(struct turn *turn, const struct socketio_settings *settings,
                               const struct socketio_namespace *const *namespaces);
void socketio_close(struct socketio *socketio, void (*done)(void *context), void *context);

/* For the HTTP handlers. */
struct engine *socketio_engine(struct socketio *socketio);

/* An event, encoded once for any number of sockets of one namespace. Counted. */
struct socketio_packet;
struct socketio_packet *socketio_event(const char *namespace_name, const char *name,
                                       const struct socketio_arguments *arguments);
struct socketio_packet *socketio_packet_hold(struct socketio_packet *packet);
void socketio_packet_drop(struct socketio_packet *packet);
void socketio_send(struct socketio_socket *socket, struct socketio_packet *packet);

/* One event to one socket; `argument` is its only one, stolen; NULL: it has none. */
void socketio_emit(struct socketio_socket *socket, const char *name, json_t *argument);

/* The same, and asks for an acknowledgement: `answered` comes once, with NULL after `timeout_ms` or
 * when the socket is gone. false: too many are pending, or the socket is leaving. `argument` is
 * stolen in either case. */
bool socketio_ask(struct socketio_socket *socket, const char *name, json_t *argument,
                  int64_t timeout_ms,
                  void (*answered)(void *context, const struct socketio_arguments *arguments),
                  void *context);

/* Both may come when the socket is gone. `arguments` may be NULL: none. `ack` is freed; the second
 * takes NULL too. */
void socketio_acknowledge(struct socketio_ack *ack, const struct socketio_arguments *arguments);
void socketio_ack_drop(struct socketio_ack *ack);

/* Takes the client out of the namespace (packet 41). `disconnected` comes, with the end of the turn
 * at the latest and never from inside this. */
void socketio_disconnect(struct socketio_socket *socket);

#endif
