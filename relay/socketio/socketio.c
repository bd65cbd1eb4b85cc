/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client is one session of the engine; it begins in no namespace. Its messages become packets
 * (assembly), and a packet is judged as soon as its text is there: is the client in that namespace,
 * may such a packet come? What may not come ends the whole session. A client that is in no
 * namespace, or that owes an announced attachment, has `connect_timeout_ms` to change that.
 */
#include "relay/socketio/socketio.h"

#include <stdlib.h>

#include "gateway/core/codec.h"
#include "gateway/core/digest.h"
#include "relay/socketio/socketio_parts.h"

enum { SID_BYTES = 15, SID_SIZE = BASE64_SIZE(SID_BYTES), REFUSALS_MAX = 10 };

/* ---- one client's sockets */

static struct socketio_socket *find_socket(const struct socketio_client *client, struct slice name)
{
    struct socketio_socket *socket = client->sockets;

    while (socket && !slice_eq(slice_from(socket->name_space->name), name))
        socket = socket->next;
    return socket;
}

static const struct socketio_namespace *find_namespace(const struct socketio *server,
                                                       struct slice name)
{
    const struct socketio_namespace *const *at = server->namespaces;

    while (*at && !slice_eq(slice_from((*at)->name), name))
        at++;
    return *at;
}

/* Ends the session; `closed` follows, and until then nothing of it is heard. */
static void fail_client(struct socketio_client *client, const char *why)
{
    if (client->why)
        return;
    client->why = why;
    engine_end(client->session);
}

static void client_due(struct due *due)
{
    struct socketio_client *client = CONTAINER_OF(due, struct socketio_client, due);

    fail_client(client, client->sockets ? "attachment timeout" : "connect timeout");
}

static void watch_client(struct socketio_client *client)
{
    bool wanted = !client->sockets || client->assembly.attachments;
    struct dues *dues = &client->server->dues;

    engine_set_tentative(client->session, !client->sockets);
    if (wanted && !client->due.in)
        due_set(dues, &client->due, &dues->lists[0]);
    if (!wanted)
        due_clear(&client->due);
}

/* ---- what a client sends */

/* A packet with one field. */
static void reply(struct socketio_client *client, enum socket_packet_type type,
                  struct slice name_space, const char *key, const char *text)
{
    json_t *json = json_object();

    json_object_set_new(json, key, json_string(text));
    struct socketio_packet *packet = socketio_packet_new(
        (struct socket_packet){.type = type, .name_space = name_space, .json = json}, NULL);
    socketio_packet_send(packet, client->session);
    socketio_packet_drop(packet);
    json_decref(json);
}

/* The client may try again, but not for ever. */
static void refuse(struct socketio_client *client, struct slice name_space, const char *why)
{
    reply(client, SOCKET_CONNECT_ERROR, name_space, "message", why);
    if (++client->refusals >= REFUSALS_MAX)
        fail_client(client, "too many refusals");
}

/* 20 characters of base64url. */
static void make_sid(char sid[static SID_SIZE])
{
    unsigned char bytes[SID_BYTES];

    random_bytes(bytes, sizeof(bytes));
    base64_encode(bytes, sizeof(bytes), sid);
    for (char *at = sid; *at; at++)
        *at = *at == '+' ? '-' : *at == '/' ? '_' : *at;
}

static void on_connect(struct socketio_client *client, const struct socket_packet *packet)
{
    const struct socketio_namespace *name_space =
        find_namespace(client->server, packet->name_space);
    struct err why = {"Not authorized"};
    struct request handshake;
    char sid[SID_SIZE];

    if (!name_space) {
        refuse(client, packet->name_space, "Invalid namespace");
        return;
    }
    struct socketio_socket *socket = mem_new(sizeof(*socket));
    *socket = (struct socketio_socket){.client = client, .name_space = name_space};
    handshake_request(client->handshake, &handshake);
    if (!name_space->connect(name_space->context, socket, packet->json, &handshake, &socket->user,
                             &why)) {
        free(socket);
        refuse(client, packet->name_space, why.text);
        return;
    }
    socket->next = client->sockets;
    client->sockets = socket;
    socket->open = true;
    make_sid(sid);
    reply(client, SOCKET_CONNECT, packet->name_space, "sid", sid);
    if (name_space->connected)
        name_space->connected(socket->user, socket);
}

/* The name of an event, taken off its array. A number is a name too: as JavaScript writes it. */
static json_t *take_name(json_t *event)
{
    json_t *first = json_incref(json_array_get(event, 0));

    json_array_remove(event, 0);
    if (json_is_string(first))
        return first;
    char *digits = json_dumps(first, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    json_decref(first);
    json_t *name = json_string(digits);
    free(digits);
    return name;
}

static void on_event(struct socketio_socket *socket, const struct socket_packet *packet,
                     const struct socketio_arguments *arguments)
{
    struct socketio_ack *ack = packet->has_id ? socketio_ack_new(socket, packet->id) : NULL;

    if (packet->has_id && !ack) {
        fail_client(socket->client, "too many acknowledgements");
        return;
    }
    json_t *name = take_name(packet->json);
    socket->name_space->event(socket->user, socket, json_string_value(name), arguments, ack);
    json_decref(name);
}

/* May this packet come now? Asked before its attachments are waited for. */
static bool may_come(const struct socketio_client *client, const struct socket_packet *packet)
{
    const struct socketio_socket *socket = find_socket(client, packet->name_space);

    if (packet->type == SOCKET_CONNECT)
        return !socket || !socket->open;
    return socket && packet->type != SOCKET_CONNECT_ERROR;
}

static void on_packet(struct socketio_client *client)
{
    const struct socket_packet *packet = &client->assembly.packet;
    struct socketio_socket *socket = find_socket(client, packet->name_space);
    const struct socketio_arguments arguments = {
        .json = packet->json,
        .attachments = client->assembly.attachments,
        .attachment_count = client->assembly.count,
    };

    if (packet->type == SOCKET_CONNECT) {
        if (socket) /* it was told to leave, and comes back in the same turn */
            socketio_socket_end(socket, "server namespace disconnect");
        on_connect(client, packet);
        return;
    }
    if (!socket || !socket->open) /* sent before the client knew that it was told to leave */
        return;
    if (packet->type == SOCKET_DISCONNECT)
        socketio_socket_end(socket, "client namespace disconnect");
    else if (packet->type == SOCKET_EVENT || packet->type == SOCKET_BINARY_EVENT)
        on_event(socket, packet, &arguments);
    else
        socketio_answered(socket, packet->id, &arguments);
}

static void on_message(void *user, struct slice bytes, bool binary)
{
    struct socketio_client *client = user;
    struct assembly *assembly = &client->assembly;
    struct err err = {""};

    if (client->why)
        return;
    enum assembly_got got =
        binary ? assembly_binary(assembly, bytes, client->server->max_payload, &err)
               : assembly_text(assembly, bytes, &err);
    if (got == ASSEMBLY_FAULT || (!binary && !may_come(client, &assembly->packet)))
        fail_client(client, "parse error");
    else if (got == ASSEMBLY_WHOLE)
        on_packet(client);
    if (got != ASSEMBLY_MORE || client->why)
        assembly_clear(assembly);
    watch_client(client);
}

/* ---- clients come and go */

static void *on_opened(void *context, struct engine_session *session, const struct request *request)
{
    struct socketio_client *client = mem_new(sizeof(*client));

    client->server = context;
    client->session = session;
    client->handshake = handshake_new(request);
    watch_client(client);
    return client;
}

static void on_closed(void *user, const char *why)
{
    struct socketio_client *client = user;

    if (!client->why)
        client->why = why;
    while (client->sockets)
        socketio_socket_end(client->sockets, client->why);
    assembly_clear(&client->assembly);
    handshake_free(client->handshake);
    due_clear(&client->due);
    free(client);
}

static void end_leaving(struct turn_step *step)
{
    struct socketio *server = CONTAINER_OF(step, struct socketio, leave);

    while (server->leaving) {
        struct socketio_client *client = server->leaving->client;
        socketio_socket_end(server->leaving, "server namespace disconnect");
        watch_client(client);
    }
}

/* ---- the server */

struct socketio *socketio_open(struct turn *turn, const struct socketio_settings *settings,
                               const struct socketio_namespace *const *namespaces)
{
    static const struct engine_events events = {
        .opened = on_opened, .message = on_message, .closed = on_closed};
    struct socketio *server = mem_new(sizeof(*server));

    *server = (struct socketio){
        .turn = turn,
        .namespaces = namespaces,
        .dues.lists[0] = {.ms = (uint64_t)settings->connect_timeout_ms, .late = client_due},
        .max_payload = settings->engine.max_payload,
        .acks_pending = settings->acks_pending,
        .leave = {.run = end_leaving},
    };
    dues_open(&server->dues, turn->loop);
    turn_add_early_step(turn, &server->leave);
    server->engine = engine_open(turn, &settings->engine, &events, server);
    return server;
}

static void dues_closed(struct deadline *deadline)
{
    struct socketio *server = CONTAINER_OF(deadline, struct socketio, dues.timer);
    void (*closed)(void *context) = server->closed;
    void *context = server->context;

    free(server);
    closed(context);
}

static void engine_closed(void *context)
{
    struct socketio *server = context;

    turn_remove_step(server->turn, &server->leave);
    dues_close(&server->dues, dues_closed);
}

void socketio_close(struct socketio *server, void (*done)(void *context), void *context)
{
    server->closed = done;
    server->context = context;
    engine_close(server->engine, engine_closed, server);
}

struct engine *socketio_engine(struct socketio *server)
{
    return server->engine;
}
