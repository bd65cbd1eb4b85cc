/* SPDX-License-Identifier: Apache-2.0 */
/*
 * room: one thread in this process: its history, read once and followed from then on, and the
 * clients that joined it.
 *
 * A client gets the history as it stands and from then on every envelope that the followed history
 * brings, in one turn of the loop, so nothing is lost or doubled between the two, whichever
 * instance appended it. Nothing is ever sent to a room but what was appended to its thread.
 */
#ifndef WAKEGATE_RELAY_ROOM_ROOM_H
#define WAKEGATE_RELAY_ROOM_ROOM_H

#include "gateway/store/threads.h"
#include "relay/room/client.h"
#include "relay/room/history.h"

/* Somebody who wants to know what becomes of an offer. The caller's memory until it is told, or
 * taken off with room_unwatch. */
struct room_watch {
    struct slice interrupt;
    /* `taker` empty: withdrawn. Comes once at most; the watch is off then. */
    void (*settled)(struct room_watch *watch, struct slice taker);
    struct room_watch *next;
};

struct asker {             /* a client that waits for the history */
    struct client *client; /* counted */
    struct socketio_ack *ack;
    struct asker *next;
};

struct member { /* a client in a room */
    struct client *client;
    struct room *room;
    bool answers;                  /* counted among those who may answer */
    struct member *next, **link;   /* of the room */
    struct member *next_of_client; /* of the client */
};

struct room {
    struct rooms *rooms;
    struct room *next;   /* among all */
    unsigned references; /* the config, targets, clients that ask */
    char *name;
    bool live; /* the history was read, and is followed */
    bool present_due;
    struct history history;
    struct member *members;
    unsigned answering; /* members that may answer */
    struct asker *askers;
    struct room_watch *watches;
    struct threads_op read, present;
};

struct room *room_new(struct rooms *rooms, struct slice name);
struct room *room_hold(struct room *room);
void room_drop(struct room *room);          /* NULL is fine; the last one closes it */
bool room_is_idle(const struct room *room); /* none of its operations is running */
void room_free(struct room *room);

/* Answers thread:messages, now or when the history was read, and lets the client in. */
void room_ask(struct room *room, struct client *client, struct socketio_ack *ack);
void room_leave(struct member *member);

/* The next entries of the followed history. */
void room_append(struct room *room, const struct threads_entry *entries, size_t count);
/* What this instance knows before the history says it. */
void room_settle(struct room *room, struct slice interrupt, struct slice taker);

void room_watch(struct room *room, struct room_watch *watch);
void room_unwatch(struct room *room, struct room_watch *watch);

/* To be called again and again: the store forgets how many are here who may answer, and a history
 * that could not be read is tried again. */
void room_renew(struct room *room);

#endif
