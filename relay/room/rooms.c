/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closing: first the clients, whose going changes presence; then, when no operation runs any more,
 * the threads. Targets hold rooms until the config goes, so the last room takes the rest along.
 */
#include "relay/room/rooms.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/codec.h"
#include "gateway/core/digest.h"
#include "gateway/core/log.h"
#include "relay/room/service.h"

/* --- clients --- */

static bool on_connect(void *context, struct socketio_socket *socket, json_t *auth,
                       const struct request *handshake, void **user, struct err *why)
{
    struct rooms *rooms = context;
    const struct credential *credential = NULL;

    if (rooms->settings && !rooms->closing)
        credential = credentials_find(&rooms->settings->credentials, auth, handshake, why);
    else
        err_set(why, "The rooms are closed");
    if (!credential) {
        log_note(LOG_INFO, "room_client_refused", "%s", why->text);
        return false;
    }
    *user = client_new(rooms, socket, credential, &rooms->clients);
    return true;
}

static void on_connected(void *user, struct socketio_socket *socket)
{
    (void)user;
    socketio_emit(socket, "protocol:hello", envelope_hello());
}

static void on_event(void *user, struct socketio_socket *socket, const char *name,
                     const struct socketio_arguments *arguments, struct socketio_ack *ack)
{
    (void)socket;
    service_event(user, name, arguments, ack);
}

static void on_disconnected(void *user, struct socketio_socket *socket, const char *why)
{
    struct client *client = user;

    (void)socket;
    log_begin(LOG_DEBUG, "room_client_gone");
    if (client->credential)
        log_text("client", client->credential->client);
    log_text("why", why);
    log_end();
    client_gone(client);
}

/* --- rooms --- */

struct room *rooms_find(const struct rooms *rooms, struct slice thread)
{
    struct room *room = rooms->list;

    while (room && (room->references == 0 || !slice_eq(slice_from(room->name), thread)))
        room = room->next;
    return room;
}

struct room *rooms_hold(struct rooms *rooms, struct slice thread)
{
    struct room *room = rooms_find(rooms, thread);

    if (room)
        return room_hold(room);
    room = room_new(rooms, thread);
    room->next = rooms->list;
    rooms->list = room;
    return room;
}

static void on_appended(void *context, struct slice thread, const struct threads_entry *entries,
                        size_t count)
{
    struct rooms *rooms = context;
    struct room *room = rooms_find(rooms, thread);

    if (room && room->live)
        room_append(room, entries, count);
}

static void hold_threads(struct rooms *rooms, const struct rooms_settings *settings)
{
    for (size_t i = 0; settings && i < settings->threads.count; i++)
        rooms_hold(rooms, slice_from(settings->threads.list[i]));
}

static void drop_threads(struct rooms *rooms, const struct rooms_settings *settings)
{
    for (size_t i = 0; settings && i < settings->threads.count; i++)
        room_drop(rooms_find(rooms, slice_from(settings->threads.list[i])));
}

static void on_renewal(struct deadline *deadline)
{
    struct rooms *rooms = CONTAINER_OF(deadline, struct rooms, renewal);

    for (struct room *room = rooms->list; room; room = room->next)
        room_renew(room);
    deadline_set(&rooms->renewal, ROOMS_RENEW_MS);
}

/* --- what rooms, clients and targets need --- */

bool rooms_is_path(const struct rooms *rooms, struct slice path)
{
    return slice_eq(path, slice_from(rooms->path));
}

/* For everybody, and for pages of every origin: it says nothing but the protocol's version. */
void rooms_answer_protocol(struct exchange *exchange)
{
    const struct http_field origin = {"Access-Control-Allow-Origin", SLICE("*")};
    json_t *hello = envelope_hello();
    char *text = json_dumps(hello, JSON_COMPACT);

    exchange_answer(exchange, &(struct http_answer){.status = 200,
                                                    .content_type = "application/json",
                                                    .body = slice_from(text),
                                                    .fields = &origin,
                                                    .field_count = 1});
    free(text);
    json_decref(hello);
}

struct engine *rooms_engine(struct rooms *rooms)
{
    return rooms->socketio ? socketio_engine(rooms->socketio) : NULL;
}

struct threads *rooms_threads(const struct rooms *rooms)
{
    return rooms->threads;
}

struct slice rooms_instance(const struct rooms *rooms)
{
    return slice_from(rooms->instance);
}

unsigned rooms_per_client(const struct rooms *rooms)
{
    return rooms->settings ? rooms->settings->rooms_per_client : 0;
}

/* Whoever asks for several threads at once is not slow yet. */
size_t rooms_answer_bytes(const struct rooms *rooms)
{
    return rooms->settings ? rooms->settings->socketio.engine.queue_bytes / 8 : 0;
}

void rooms_init_history(const struct rooms *rooms, struct history *history)
{
    history_init(history, rooms->history.kept, rooms->history.kept_ms);
}

bool rooms_may_begin(const struct rooms *rooms)
{
    return rooms->threads && !rooms->closing;
}

/* --- opening, reloading, closing --- */

struct rooms *rooms_open(const struct rooms_settings *settings, struct turn *turn,
                         struct store *store, struct err *err)
{
    struct rooms *rooms = mem_new(sizeof(*rooms));
    unsigned char instance[(ROOMS_INSTANCE_SIZE - 1) / 2];

    rooms->settings = settings;
    rooms->turn = turn;
    rooms->path = mem_text(slice_from(settings->path));
    rooms->history = settings->history;
    rooms->threads = threads_open(store, &settings->history, turn, on_appended, rooms, err);
    if (!rooms->threads) {
        free(rooms->path);
        free(rooms);
        return NULL;
    }
    random_bytes(instance, sizeof(instance));
    hex_encode(instance, sizeof(instance), rooms->instance);
    rooms->namespace = (struct socketio_namespace){.name = "/",
                                                   .connect = on_connect,
                                                   .connected = on_connected,
                                                   .event = on_event,
                                                   .disconnected = on_disconnected,
                                                   .context = rooms};
    rooms->namespaces[0] = &rooms->namespace;
    rooms->socketio = socketio_open(turn, &settings->socketio, rooms->namespaces);
    deadline_open(&rooms->renewal, turn->loop, on_renewal);
    deadline_set(&rooms->renewal, ROOMS_RENEW_MS);
    hold_threads(rooms, settings);
    return rooms;
}

/* Those whose token is gone are disconnected, the others are what the new list says. */
void rooms_reload(struct rooms *rooms, const struct rooms_settings *settings)
{
    static const struct credentials none = {0};
    const struct credentials *later = settings ? &settings->credentials : &none;
    const struct rooms_settings *old = rooms->settings;

    for (struct client *next, *client = rooms->clients; client; client = next) {
        next = client->next;
        if (client->credential)
            client_renew(client, credentials_again(later, client->credential));
    }
    rooms->settings = settings;
    hold_threads(rooms, settings);
    drop_threads(rooms, old);
}

static void free_when_empty(struct rooms *rooms)
{
    if (!rooms->closed || rooms->list)
        return;
    free(rooms->path);
    free(rooms);
}

static void on_threads_closed(void *context)
{
    struct rooms *rooms = context;

    rooms->threads = NULL;
    drop_threads(rooms, rooms->settings);
    rooms->closed = true;
    void (*when_closed)(void *) = rooms->when_closed;
    void *closed_context = rooms->context;
    free_when_empty(rooms);
    when_closed(closed_context);
}

static bool is_idle(const struct rooms *rooms)
{
    for (const struct room *room = rooms->list; room; room = room->next)
        if (!room_is_idle(room))
            return false;
    return rooms->takes == 0;
}

void rooms_ended(struct rooms *rooms, struct room *room)
{
    if (room && room->references == 0 && room_is_idle(room)) {
        struct room **at = &rooms->list;
        while (*at != room)
            at = &(*at)->next;
        *at = room->next;
        room_free(room);
    }
    if (rooms->closed)
        free_when_empty(rooms);
    else if (rooms->closing && rooms->deaf && is_idle(rooms)) {
        rooms->deaf = false; /* once */
        threads_close(rooms->threads, on_threads_closed, rooms);
    }
}

static void on_renewal_closed(struct deadline *deadline)
{
    struct rooms *rooms = CONTAINER_OF(deadline, struct rooms, renewal);

    rooms->deaf = true;
    rooms_ended(rooms, NULL);
}

static void on_socketio_closed(void *context)
{
    struct rooms *rooms = context;

    rooms->socketio = NULL;
    deadline_close(&rooms->renewal, on_renewal_closed);
}

void rooms_close(struct rooms *rooms, void (*closed)(void *context), void *context)
{
    rooms->closing = true;
    rooms->when_closed = closed;
    rooms->context = context;
    socketio_close(rooms->socketio, on_socketio_closed, rooms);
}
