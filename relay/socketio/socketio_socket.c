/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client in one namespace: what is sent to it, what is asked of it, and its end. The
 * application may call any of this from inside any of its callbacks, so nothing here calls back but
 * socketio_answered and socketio_socket_end, and nobody calls those from inside a callback.
 */
#include <stdlib.h>

#include "relay/socketio/socketio_parts.h"

void socketio_send(struct socketio_socket *socket, struct socketio_packet *packet)
{
    if (socket->open)
        socketio_packet_send(packet, socket->client->session);
}

/* `argument` is stolen. */
static json_t *event_of(const char *name, json_t *argument)
{
    json_t *event = json_array();

    json_array_append_new(event, json_string(name));
    if (argument)
        json_array_append_new(event, argument);
    return event;
}

/* What is in `packet` but not its namespace; its JSON is stolen. */
static void send_packet(struct socketio_socket *socket, struct socket_packet packet,
                        const struct socketio_arguments *arguments)
{
    packet.name_space = slice_from(socket->name_space->name);
    struct socketio_packet *encoded = socketio_packet_new(packet, arguments);
    socketio_send(socket, encoded);
    socketio_packet_drop(encoded);
    json_decref(packet.json);
}

void socketio_emit(struct socketio_socket *socket, const char *name, json_t *argument)
{
    send_packet(socket,
                (struct socket_packet){.type = SOCKET_EVENT, .json = event_of(name, argument)},
                NULL);
}

/* ---- acknowledgements that the client waits for */

struct socketio_ack *socketio_ack_new(struct socketio_socket *socket, uint64_t id)
{
    if (socket->ack_count >= socket->client->server->acks_pending)
        return NULL;
    struct socketio_ack *ack = mem_new(sizeof(*ack));
    *ack = (struct socketio_ack){.socket = socket, .id = id, .next = socket->acks};
    socket->acks = ack;
    socket->ack_count++;
    return ack;
}

static void unlink_ack(struct socketio_ack *ack)
{
    struct socketio_ack **at = &ack->socket->acks;

    while (*at != ack)
        at = &(*at)->next;
    *at = ack->next;
    ack->socket->ack_count--;
}

void socketio_ack_drop(struct socketio_ack *ack)
{
    if (!ack)
        return;
    if (ack->socket)
        unlink_ack(ack);
    free(ack);
}

void socketio_acknowledge(struct socketio_ack *ack, const struct socketio_arguments *arguments)
{
    if (ack->socket)
        send_packet(ack->socket,
                    (struct socket_packet){
                        .type = SOCKET_ACK,
                        .has_id = true,
                        .id = ack->id,
                        .json = arguments ? json_incref(arguments->json) : json_array(),
                    },
                    arguments);
    socketio_ack_drop(ack);
}

/* ---- acknowledgements that the server waits for */

static void ask_closed(struct deadline *deadline)
{
    free(CONTAINER_OF(deadline, struct ask, deadline));
}

static void finish_ask(struct ask *ask, const struct socketio_arguments *arguments)
{
    struct ask **at = &ask->socket->asks;

    while (*at != ask)
        at = &(*at)->next;
    *at = ask->next;
    ask->socket->ask_count--;
    deadline_close(&ask->deadline, ask_closed);
    ask->answered(ask->context, arguments);
}

static void ask_due(struct deadline *deadline)
{
    finish_ask(CONTAINER_OF(deadline, struct ask, deadline), NULL);
}

bool socketio_ask(struct socketio_socket *socket, const char *name, json_t *argument,
                  int64_t timeout_ms,
                  void (*answered)(void *context, const struct socketio_arguments *arguments),
                  void *context)
{
    json_t *event = event_of(name, argument);
    struct socketio *server = socket->client->server;

    if (!socket->open || socket->ask_count >= server->acks_pending) {
        json_decref(event);
        return false;
    }
    struct ask *ask = mem_new(sizeof(*ask));
    *ask = (struct ask){
        .socket = socket,
        .id = socket->next_id++,
        .answered = answered,
        .context = context,
        .next = socket->asks,
    };
    socket->asks = ask;
    socket->ask_count++;
    deadline_open(&ask->deadline, server->turn->loop, ask_due);
    deadline_set(&ask->deadline, (uint64_t)timeout_ms);
    send_packet(
        socket,
        (struct socket_packet){.type = SOCKET_EVENT, .has_id = true, .id = ask->id, .json = event},
        NULL);
    return true;
}

void socketio_answered(struct socketio_socket *socket, uint64_t id,
                       const struct socketio_arguments *arguments)
{
    struct ask *ask = socket->asks;

    while (ask && ask->id != id)
        ask = ask->next;
    if (ask)
        finish_ask(ask, arguments);
}

/* ---- the end */

void socketio_disconnect(struct socketio_socket *socket)
{
    struct socketio *server = socket->client->server;

    if (!socket->open)
        return;
    send_packet(socket, (struct socket_packet){.type = SOCKET_DISCONNECT}, NULL);
    socket->open = false;
    socket->next_leaving = server->leaving;
    server->leaving = socket;
    turn_want(&server->leave);
}

static void unlink_socket(struct socketio_socket *socket)
{
    struct socketio_socket **at = &socket->client->sockets;

    while (*at != socket)
        at = &(*at)->next;
    *at = socket->next;
    at = &socket->client->server->leaving;
    while (*at && *at != socket)
        at = &(*at)->next_leaving;
    if (*at)
        *at = socket->next_leaving;
}

void socketio_socket_end(struct socketio_socket *socket, const char *why)
{
    unlink_socket(socket);
    socket->open = false;
    while (socket->asks)
        finish_ask(socket->asks, NULL);
    for (struct socketio_ack *ack = socket->acks; ack; ack = ack->next)
        ack->socket = NULL;
    socket->name_space->disconnected(socket->user, socket, why);
    free(socket);
}
