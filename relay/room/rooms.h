/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rooms: pilotoo-style rooms on this process's port: the Socket.IO namespace "/", the threads that
 * are configured, and the clients that were let in.
 *
 * A thread exists as long as the config or a target names it.
 */
#ifndef WAKEGATE_RELAY_ROOM_ROOMS_H
#define WAKEGATE_RELAY_ROOM_ROOMS_H

#include "gateway/core/deadline.h"
#include "relay/room/room.h"
#include "relay/room/rooms_settings.h"

enum {
    ROOMS_PRESENCE_MS = 5000, /* a dead instance's clients are believed in for so long */
    ROOMS_RENEW_MS = 1500,
    ROOMS_INSTANCE_SIZE = 17
};

struct rooms {
    const struct rooms_settings *settings; /* of the config in force; NULL after it has none */
    struct turn *turn;
    char *path; /* owned */
    struct threads *threads;
    struct socketio *socketio;
    struct socketio_namespace namespace;
    const struct socketio_namespace *namespaces[2];
    struct threads_settings history;
    struct room *list;
    struct client *clients;
    struct deadline renewal;
    unsigned takes; /* running */
    char instance[ROOMS_INSTANCE_SIZE];
    bool closing, deaf, closed; /* deaf: no client is left, and the threads are not closing yet */
    void (*when_closed)(void *context);
    void *context;
};

struct rooms *rooms_open(const struct rooms_settings *settings, struct turn *turn,
                         struct store *store, struct err *err);
/* `settings` replace those in force; NULL: the config has no rooms any more. */
void rooms_reload(struct rooms *rooms, const struct rooms_settings *settings);
/* Disconnects everybody. Targets may drop their rooms later. No delivery may be running. */
void rooms_close(struct rooms *rooms, void (*closed)(void *context), void *context);

/* The thread's room, counted; it is made where there is none. */
struct room *rooms_hold(struct rooms *rooms, struct slice thread);
/* NULL: it does not exist. Not counted. */
struct room *rooms_find(const struct rooms *rooms, struct slice thread);

/* For the HTTP handlers: is this the path of Socket.IO; the engine that answers its requests,
 * NULL when it is closed; and what GET /protocol says. */
bool rooms_is_path(const struct rooms *rooms, struct slice path);
struct engine *rooms_engine(struct rooms *rooms);
void rooms_answer_protocol(struct exchange *exchange);

/* For rooms, clients and targets. */
struct threads *rooms_threads(const struct rooms *rooms); /* NULL: closed */
struct slice rooms_instance(const struct rooms *rooms);
unsigned rooms_per_client(const struct rooms *rooms);
size_t rooms_answer_bytes(const struct rooms *rooms); /* of a history: it must fit a queue */
void rooms_init_history(const struct rooms *rooms, struct history *history);
bool rooms_may_begin(const struct rooms *rooms); /* an operation of a room */
/* An operation ended; `room` (NULL: none of a room's) goes if nobody needs it any more. */
void rooms_ended(struct rooms *rooms, struct room *room);

#endif
