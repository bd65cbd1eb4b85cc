/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client: one connection that was let into the rooms: who it is, which rooms it joined, and how
 * much it may still send. Counted, since what it asked may outlive it.
 */
#ifndef WAKEGATE_RELAY_ROOM_CLIENT_H
#define WAKEGATE_RELAY_ROOM_CLIENT_H

#include "relay/room/credentials.h"
#include "relay/socketio/socketio.h"

struct rooms;
struct room;
struct member;

struct client {
    unsigned references;
    struct rooms *rooms;
    struct socketio_socket *socket;      /* NULL: gone */
    const struct credential *credential; /* NULL: to be disconnected */
    struct member *members;
    unsigned member_count;
    uint64_t allowance, allowed_ms; /* thousandths of a message; steady, when it was counted */
    struct client *next, **link;    /* among all that are there */
};

struct client *client_new(struct rooms *rooms, struct socketio_socket *socket,
                          const struct credential *credential, struct client **all);
struct client *client_hold(struct client *client);
void client_drop(struct client *client);

/* The connection ended. */
void client_gone(struct client *client);
/* Ends the connection. */
void client_disconnect(struct client *client);
/* A reload: `credential` is what it may from now on; NULL: nothing. */
void client_renew(struct client *client, const struct credential *credential);

/* Its membership of the room; NULL: it is not there. */
struct member *client_member(const struct client *client, const struct room *room);

/* Counts one message; false: too many. */
bool client_may_send(struct client *client, unsigned per_second, uint64_t now_ms);

/* Why something was refused: the codes of the protocol. */
enum refusal { INVALID_COMMAND, UNKNOWN_RUN, CONVERSATION_NOT_FOUND };

/* Each ends `ack`, which may be NULL; `client` may be gone. */
void client_answer(struct socketio_ack *ack, json_t *answer); /* stolen */
void client_refuse(struct client *client, struct socketio_ack *ack, enum refusal code,
                   const char *message);
/* The same as the event protocol:error, and in the acknowledgement too. */
void client_complain(struct client *client, struct socketio_ack *ack, enum refusal code,
                     const char *message);

#endif
