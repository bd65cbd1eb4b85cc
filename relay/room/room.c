/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history is read when the room is made, and followed from where that read ended. Until then
 * those who ask for it wait; where it cannot be read they are told so, and the next who asks, or
 * the next presence, has it tried again.
 */
#include "relay/room/room.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/clock.h"
#include "gateway/core/log.h"
#include "gateway/core/metrics.h"
#include "relay/room/rooms.h"

static uint64_t steady_ms(void)
{
    return clock_steady_us() / 1000;
}

/* --- the history --- */

static void told(struct room *room, const struct history_settled *settled)
{
    if (settled->interrupt)
        room_settle(room, slice_from(settled->interrupt), slice_from(settled->taker));
    free(settled->interrupt);
    free(settled->taker);
}

static json_t *add_entry(struct room *room, struct slice text)
{
    struct history_settled settled;
    json_t *json = json_loadb(text.data, text.len, 0, NULL);

    if (history_add(&room->history, json, steady_ms(), clock_wall_ms(), &settled)) {
        told(room, &settled);
        return json;
    }
    log_begin(LOG_WARN, "odd_entry");
    log_text("thread", room->name);
    log_end();
    json_decref(json);
    return NULL;
}

static void answer_askers(struct room *room, const char *problem)
{
    while (room->askers) {
        struct asker *asker = room->askers;
        room->askers = asker->next;
        if (problem)
            client_refuse(asker->client, asker->ack, INVALID_COMMAND, problem);
        else
            room_ask(room, asker->client, asker->ack);
        client_drop(asker->client);
        free(asker);
    }
}

static void on_read(struct op *op)
{
    struct threads_op *read = CONTAINER_OF(op, struct threads_op, op);
    struct room *room = CONTAINER_OF(read, struct room, read);
    struct rooms *rooms = room->rooms;
    bool done = read->answer == THREADS_DONE;

    for (size_t i = 0; done && i < read->read_count; i++)
        json_decref(add_entry(room, read->read[i].text));
    if (done && room->references > 0) {
        history_confirm(&room->history, slice_from(read->pending));
        room->live = true;
        threads_follow(rooms_threads(rooms), slice_from(room->name), read->end);
    }
    threads_op_release(read);
    answer_askers(room, room->live ? NULL : "the history cannot be read now; try again");
    rooms_ended(rooms, room);
}

static void read_history(struct room *room)
{
    if (room->live || room->read.op.running || !rooms_may_begin(room->rooms))
        return;
    history_release(&room->history);
    rooms_init_history(room->rooms, &room->history);
    room->read.thread = slice_from(room->name);
    threads_submit(rooms_threads(room->rooms), &room->read, THREADS_READ, on_read);
}

static struct socketio_packet *announce(json_t *envelope)
{
    json_t *list = json_pack("[O]", envelope);
    struct socketio_packet *packet =
        socketio_event("/", "run:event", &(struct socketio_arguments){.json = list});

    json_decref(list);
    return packet;
}

void room_append(struct room *room, const struct threads_entry *entries, size_t count)
{
    struct socketio_packet **packets = mem_new(count * sizeof(struct socketio_packet *));
    size_t made = 0;

    for (size_t i = 0; i < count; i++) {
        json_t *envelope = add_entry(room, entries[i].text);
        if (envelope && room->members)
            packets[made++] = announce(envelope);
        json_decref(envelope);
    }
    /* Many clients do not fit into the processor's cache: each is gone to once. */
    for (struct member *member = room->members; member; member = member->next)
        for (size_t i = 0; i < made; i++)
            socketio_send(member->client->socket, packets[i]);
    for (size_t i = 0; i < made; i++)
        socketio_packet_drop(packets[i]);
    free(packets);
}

/* --- offers --- */

void room_watch(struct room *room, struct room_watch *watch)
{
    watch->next = room->watches;
    room->watches = watch;
}

void room_unwatch(struct room *room, struct room_watch *watch)
{
    struct room_watch **at = &room->watches;

    while (*at && *at != watch)
        at = &(*at)->next;
    if (*at)
        *at = watch->next;
}

void room_settle(struct room *room, struct slice interrupt, struct slice taker)
{
    struct room_watch *watch = room->watches;

    while (watch && !slice_eq(watch->interrupt, interrupt))
        watch = watch->next;
    if (!watch)
        return;
    room_unwatch(room, watch);
    watch->settled(watch, taker);
}

/* --- presence --- */

static void tell_presence(struct room *room);

static void on_presence(struct op *op)
{
    struct threads_op *present = CONTAINER_OF(op, struct threads_op, op);
    struct room *room = CONTAINER_OF(present, struct room, present);
    struct rooms *rooms = room->rooms;

    if (room->present_due) {
        room->present_due = false;
        tell_presence(room);
    }
    rooms_ended(rooms, room);
}

static void tell_presence(struct room *room)
{
    struct threads_op *op = &room->present;

    if (op->op.running) {
        room->present_due = true;
        return;
    }
    op->thread = slice_from(room->name);
    op->instance = rooms_instance(room->rooms);
    op->count = room->answering;
    op->for_ms = ROOMS_PRESENCE_MS;
    threads_submit(rooms_threads(room->rooms), op, THREADS_PRESENT, on_presence);
}

void room_renew(struct room *room)
{
    if (room->references == 0)
        return;
    read_history(room);
    if (room->answering > 0)
        tell_presence(room);
}

/* --- members --- */

static void join(struct room *room, struct client *client)
{
    struct member *member = mem_new(sizeof(*member));

    *member = (struct member){
        .client = client,
        .room = room,
        .answers = client->credential->rights & RIGHT_ANSWER,
        .next = room->members,
        .link = &room->members,
        .next_of_client = client->members,
    };
    if (member->next)
        member->next->link = &member->next;
    room->members = member;
    client->members = member;
    client->member_count++;
    ++*metrics_value(METRIC_ROOM_MEMBERS, NULL, NULL, NULL);
    if (!member->answers)
        return;
    room->answering++;
    tell_presence(room);
}

void room_leave(struct member *member)
{
    struct room *room = member->room;
    struct member **at = &member->client->members;

    while (*at != member)
        at = &(*at)->next_of_client;
    *at = member->next_of_client;
    member->client->member_count--;
    *member->link = member->next;
    if (member->next)
        member->next->link = member->link;
    --*metrics_value(METRIC_ROOM_MEMBERS, NULL, NULL, NULL);
    if (member->answers) {
        room->answering--;
        tell_presence(room);
    }
    free(member);
}

void room_ask(struct room *room, struct client *client, struct socketio_ack *ack)
{
    if (!client->socket || !client->credential) {
        socketio_ack_drop(ack);
        return;
    }
    if (!room->live) {
        struct asker *asker = mem_new(sizeof(*asker));
        *asker = (struct asker){.client = client_hold(client), .ack = ack, .next = room->askers};
        room->askers = asker;
        read_history(room);
        return;
    }
    if (!client_member(client, room)) {
        if (client->member_count >= rooms_per_client(room->rooms)) {
            client_refuse(client, ack, INVALID_COMMAND, "this connection is in too many rooms");
            return;
        }
        join(room, client);
    }
    client_answer(ack, history_answer(&room->history, rooms_answer_bytes(room->rooms), steady_ms(),
                                      clock_wall_ms()));
}

/* --- life --- */

struct room *room_new(struct rooms *rooms, struct slice name)
{
    struct room *room = mem_new(sizeof(*room));

    room->rooms = rooms;
    room->references = 1;
    room->name = mem_text(name);
    read_history(room);
    return room;
}

struct room *room_hold(struct room *room)
{
    room->references++;
    return room;
}

void room_drop(struct room *room)
{
    if (!room || --room->references > 0)
        return;
    for (struct member *next, *member = room->members; member; member = next) {
        next = member->next;
        room_leave(member);
    }
    if (room->live && rooms_threads(room->rooms))
        threads_unfollow(rooms_threads(room->rooms), slice_from(room->name));
    room->live = false;
    rooms_ended(room->rooms, room);
}

bool room_is_idle(const struct room *room)
{
    return !room->read.op.running && !room->present.op.running;
}

void room_free(struct room *room)
{
    answer_askers(room, "the room was closed");
    history_release(&room->history);
    free(room->name);
    free(room);
}
