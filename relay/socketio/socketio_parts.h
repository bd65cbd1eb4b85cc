/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socketio_parts: what the files of the Socket.IO server share. socketio.c has the server, its
 * clients and what they send; socketio_socket.c what is sent to one socket, and its end;
 * socketio_packet.c the encoding.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_SOCKETIO_PARTS_H
#define WAKEGATE_RELAY_SOCKETIO_SOCKETIO_PARTS_H

#include "gateway/core/deadline.h"
#include "relay/socketio/assembly.h"
#include "relay/socketio/engine_dues.h"
#include "relay/socketio/handshake.h"
#include "relay/socketio/socketio.h"

struct socketio {
    struct turn *turn;
    struct engine *engine;
    const struct socketio_namespace *const *namespaces;
    struct dues dues; /* its one list is of clients */
    size_t max_payload;
    unsigned acks_pending;
    struct turn_step leave;          /* ends the sockets that leave */
    struct socketio_socket *leaving; /* socketio_disconnect was called */
    void (*closed)(void *context);
    void *context;
};

struct socketio_client { /* one session of the engine */
    struct socketio *server;
    struct engine_session *session;
    struct handshake *handshake;
    struct assembly assembly;
    struct socketio_socket *sockets; /* one for each namespace that it is in */
    unsigned refusals;               /* of its CONNECTs */
    struct due due;                  /* to be in a namespace, or to send an announced attachment */
    const char *why;                 /* the server ends it, for this reason; NULL: it does not */
};

struct ask { /* an acknowledgement that the server waits for */
    struct socketio_socket *socket;
    uint64_t id;
    void (*answered)(void *context, const struct socketio_arguments *arguments);
    void *context;
    struct deadline deadline;
    struct ask *next;
};

struct socketio_ack {
    struct socketio_socket *socket; /* NULL: gone, nobody waits any more */
    uint64_t id;
    struct socketio_ack *next;
};

struct socketio_socket {
    struct socketio_client *client;
    const struct socketio_namespace *name_space;
    void *user;
    bool open; /* from the answer to CONNECT until either side leaves */
    uint64_t next_id;
    struct ask *asks;
    struct socketio_ack *acks;
    unsigned ask_count, ack_count;
    struct socketio_socket *next; /* of the client */
    struct socketio_socket *next_leaving;
};

/* Calls `answered` of what is asked, and `disconnected`, and frees it. */
void socketio_socket_end(struct socketio_socket *socket, const char *why);

/* NULL: as many are wanted and not given as there may be. */
struct socketio_ack *socketio_ack_new(struct socketio_socket *socket, uint64_t id);
/* The answer to one of the socket's asks; an id that is not asked is ignored. */
void socketio_answered(struct socketio_socket *socket, uint64_t id,
                       const struct socketio_arguments *arguments);

/* A packet with its attachments, encoded; `packet` is borrowed. Its type is the one for packets
 * without attachments. */
struct socketio_packet *socketio_packet_new(struct socket_packet packet,
                                            const struct socketio_arguments *arguments);
void socketio_packet_send(const struct socketio_packet *packet, struct engine_session *session);

#endif
