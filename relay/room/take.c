/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/room/take.h"

#include <stdlib.h>

#include "gateway/core/clock.h"
#include "gateway/core/log.h"
#include "gateway/core/metrics.h"
#include "relay/room/rooms.h"

struct take {
    struct room *room;     /* counted */
    struct client *client; /* counted; may be gone when it is decided */
    struct socketio_ack *ack;
    char *interrupt, *taker; /* owned */
    struct run run;
    char run_id[ENVELOPE_ID_SIZE];
    struct threads_op op;
};

static void count(const char *result)
{
    ++*metrics_value(METRIC_ROOM_COMMANDS, "run:resume", result, NULL);
}

static void tell(struct take *take)
{
    switch (take->op.answer) {
    case THREADS_DONE:
        count("taken");
        log_begin(LOG_INFO, "wake_taken");
        log_text("thread", take->room->name);
        log_text("client", take->taker);
        log_end();
        client_answer(take->ack, json_pack("{s:b, s:s}", "ok", 1, "taker", take->taker));
        room_settle(take->room, slice_from(take->interrupt), slice_from(take->taker));
        return;
    case THREADS_SETTLED:
        count("refused");
        client_complain(take->client, take->ack, UNKNOWN_RUN,
                        "the conversation is not waiting on that decision");
        return;
    default: /* what became of it is announced, if anything */
        count("unsure");
        client_complain(take->client, take->ack, INVALID_COMMAND,
                        "it cannot be decided now: the store does not answer");
        return;
    }
}

static void on_decided(struct op *op)
{
    struct threads_op *threads_op = CONTAINER_OF(op, struct threads_op, op);
    struct take *take = CONTAINER_OF(threads_op, struct take, op);
    struct rooms *rooms = take->room->rooms;

    tell(take);
    run_release(&take->run);
    client_drop(take->client);
    room_drop(take->room);
    free(take->interrupt);
    free(take->taker);
    free(take);
    rooms->takes--;
    rooms_ended(rooms, NULL);
}

void take_begin(struct room *room, struct client *client, struct slice interrupt,
                struct socketio_ack *ack)
{
    struct take *take = mem_new(sizeof(*take));
    struct run *run = &take->run;

    take->room = room_hold(room);
    take->client = client_hold(client);
    take->ack = ack;
    take->interrupt = mem_text(interrupt);
    take->taker = mem_text(slice_from(client->credential->client));
    envelope_fresh_id(take->run_id);
    *run = (struct run){.thread = slice_from(room->name),
                        .id = slice_from(take->run_id),
                        .now_ms = clock_wall_ms()};
    run_settled(run, slice_from(take->interrupt), slice_from(take->taker));
    take->op.thread = run->thread;
    take->op.offer = slice_from(take->interrupt);
    take->op.taker = slice_from(take->taker);
    run_entries(run, take->op.entries, &take->op.entry_count);
    room->rooms->takes++;
    threads_submit(room->rooms->threads, &take->op, THREADS_TAKE, on_decided);
}
