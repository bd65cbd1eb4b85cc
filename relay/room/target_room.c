/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_room: a target that is a thread of the rooms.
 *
 *   stored    appending -> done: the append is the acceptance
 *   answered  offering -> waiting -> done: somebody took it
 *             offering -> waiting -> withdrawing -> done: nobody did in time
 *
 * An offer lives in the store, which lets it be taken or withdrawn but never both; whoever takes it
 * has settled the wake's claim in the same step. Unavailable is said only where the store says that
 * nobody took the offer and nobody will. The outcome is unclear only where the store gave no
 * answer to the withdrawal.
 *
 * A second append of the same wake after an unclear one adds no message, so `stored` may be asked
 * again at once. An offer may not: the relay has to end it by its deadline, which it does only with
 * targets that are not idempotent.
 */
#include <stdlib.h>
#include <string.h>

#include "dialects/payload.h"
#include "dialects/text.h"
#include "gateway/core/clock.h"
#include "gateway/core/limits.h"
#include "gateway/core/metrics.h"
#include "relay/room/rooms.h"
#include "relay/room/target_room.h"

/* How long an offer outlives the budget when its gateway died and nobody withdraws it. */
enum { OFFER_MARGIN_MS = 2000, MESSAGE_ID_SIZE = LIMIT_DELIVERY_ID_BYTES + 8 };

enum accept { ACCEPT_ANSWERED, ACCEPT_STORED };

struct room_target {
    struct target target;
    enum accept accept;
    int64_t offer_ms;
    char *thread, *prompt, *handle; /* owned */
    struct room *room;              /* counted; NULL in a check */
    struct turn *turn;
};

enum step { APPENDING, OFFERING, WAITING, WITHDRAWING };

struct work { /* one delivery under way */
    struct room_target *target;
    struct delivery *delivery;
    enum step step;
    bool cancelled, taken;
    struct room_watch watch;
    struct threads_op op;
    struct run run, withdrawal;
    char message[MESSAGE_ID_SIZE];
    char run_id[ENVELOPE_ID_SIZE], withdrawal_id[ENVELOPE_ID_SIZE], interrupt[ENVELOPE_ID_SIZE];
    struct deadline deadline;
};

static void withdraw(struct work *work);

/* --- the end of every delivery --- */

static void on_deadline_closed(struct deadline *deadline)
{
    struct work *work = CONTAINER_OF(deadline, struct work, deadline);

    op_finish(&work->delivery->op, work->target->turn);
    free(work);
}

static void finish(struct work *work, enum outcome_code code, const char *detail)
{
    struct outcome *outcome = &work->delivery->outcome;

    outcome->code = code;
    outcome_text(outcome->detail, sizeof(outcome->detail), detail, strlen(detail));
    if (code == OUTCOME_ACCEPTED)
        outcome_text(outcome->run, sizeof(outcome->run), work->run_id, strlen(work->run_id));
    room_unwatch(work->target->room, &work->watch);
    run_release(&work->run);
    run_release(&work->withdrawal);
    work->delivery->work = NULL;
    deadline_close(&work->deadline, on_deadline_closed);
}

static void count(const char *result)
{
    ++*metrics_value(METRIC_OFFERS, result, NULL, NULL);
}

/* --- the store --- */

static void submit(struct work *work, enum threads_verb verb, const struct run *run,
                   void (*done)(struct op *op))
{
    const struct room_target *target = work->target;

    work->op = (struct threads_op){
        .thread = slice_from(target->room->name),
        .offer = slice_from(work->interrupt),
        .owner = work->delivery->owner,
        .key = work->delivery->claim,
        .for_ms = target->offer_ms,
    };
    run_entries(run, work->op.entries, &work->op.entry_count);
    threads_submit(rooms_threads(target->room->rooms), &work->op, verb, done);
}

static struct work *work_of(struct op *op)
{
    return CONTAINER_OF(CONTAINER_OF(op, struct threads_op, op), struct work, op);
}

static void on_appended(struct op *op)
{
    struct work *work = work_of(op);

    switch (work->op.answer) {
    case THREADS_DONE:
        finish(work, OUTCOME_ACCEPTED, "stored");
        return;
    case THREADS_DOWN:
        finish(work, OUTCOME_UNAVAILABLE, work->op.err.text);
        return;
    default:
        finish(work, OUTCOME_AMBIGUOUS, work->op.err.text);
        return;
    }
}

static void finish_taken(struct work *work)
{
    count("taken");
    finish(work, OUTCOME_ACCEPTED, "taken");
}

static void on_withdrawn(struct op *op)
{
    struct work *work = work_of(op);

    if (work->taken || work->op.answer == THREADS_SETTLED) {
        finish_taken(work);
    } else if (work->op.answer == THREADS_DONE) {
        count("withdrawn");
        finish(work, OUTCOME_UNAVAILABLE, "nobody took it in time");
    } else {
        count("unsure");
        finish(work, OUTCOME_AMBIGUOUS, work->op.err.text);
    }
}

static void on_offered(struct op *op)
{
    struct work *work = work_of(op);

    switch (work->op.answer) {
    case THREADS_DONE:
        work->step = WAITING;
        if (work->taken)
            finish_taken(work);
        else if (work->cancelled)
            withdraw(work);
        return;
    case THREADS_BUSY:
        count("busy");
        finish(work, OUTCOME_UNAVAILABLE, "another wake waits in this thread");
        return;
    case THREADS_NOBODY:
        count("nobody");
        finish(work, OUTCOME_UNAVAILABLE, "nobody is there to answer");
        return;
    case THREADS_DOWN:
        count("down");
        finish(work, OUTCOME_UNAVAILABLE, work->op.err.text);
        return;
    default: /* it may be pending; the withdrawal finds out */
        withdraw(work);
        return;
    }
}

/* --- waiting --- */

static void withdraw(struct work *work)
{
    work->step = WITHDRAWING;
    envelope_fresh_id(work->withdrawal_id);
    work->withdrawal = (struct run){.thread = work->run.thread,
                                    .id = slice_from(work->withdrawal_id),
                                    .now_ms = clock_wall_ms()};
    run_settled(&work->withdrawal, slice_from(work->interrupt), (struct slice){0});
    submit(work, THREADS_WITHDRAW, &work->withdrawal, on_withdrawn);
}

static void on_settled(struct room_watch *watch, struct slice taker)
{
    struct work *work = CONTAINER_OF(watch, struct work, watch);

    if (taker.len == 0) /* our own withdrawal, whose answer is on its way */
        return;
    work->taken = true;
    if (work->step == WAITING)
        finish_taken(work);
}

static void end_early(struct work *work)
{
    work->cancelled = true;
    if (work->step == WAITING)
        withdraw(work);
}

static void on_deadline(struct deadline *deadline)
{
    end_early(CONTAINER_OF(deadline, struct work, deadline));
}

static void room_cancel(struct target *target, struct delivery *delivery)
{
    (void)target;
    if (delivery->work)
        end_early(delivery->work);
}

/* --- beginning --- */

static json_t *compose(const struct room_target *target, const struct wake *wake, json_t **payload,
                       struct err *err)
{
    const struct trigger_speech speech = {.prompt = slice_from(target->prompt),
                                          .handle = slice_from(target->handle)};

    *payload = payload_object(wake, &speech, clock_wall_ms(), err);
    json_t *text = *payload ? text_compose(wake, &speech, LIMIT_OUT_BODY_BYTES, err) : NULL;
    if (!text)
        json_decref(*payload);
    return text;
}

static struct work *work_new(struct room_target *target, struct delivery *delivery)
{
    struct work *work = mem_new(sizeof(*work));

    work->target = target;
    work->delivery = delivery;
    snprintf(work->message, sizeof(work->message), "wake-%.*s",
             SLICE_ARG(delivery->wake->delivery_id));
    envelope_fresh_id(work->run_id);
    envelope_fresh_id(work->interrupt);
    work->watch.interrupt = slice_from(work->interrupt);
    work->watch.settled = on_settled;
    work->run = (struct run){.thread = slice_from(target->room->name),
                             .id = slice_from(work->run_id),
                             .now_ms = clock_wall_ms()};
    deadline_open(&work->deadline, target->turn->loop, on_deadline);
    deadline_set(&work->deadline, (uint64_t)target->target.timeout_ms);
    delivery->work = work;
    return work;
}

static void offer(struct work *work, json_t *text, json_t *payload)
{
    work->step = OFFERING;
    room_watch(work->target->room, &work->watch);
    run_offer(&work->run, slice_from(work->message), text, work->watch.interrupt, payload,
              work->target->offer_ms);
    submit(work, THREADS_OFFER, &work->run, on_offered);
}

static void store(struct work *work, json_t *text)
{
    work->step = APPENDING;
    if (history_has_message(&work->target->room->history, slice_from(work->message))) {
        finish(work, OUTCOME_ACCEPTED, "stored before");
        return;
    }
    run_stored(&work->run, slice_from(work->message), text);
    submit(work, THREADS_APPEND, &work->run, on_appended);
}

static void room_deliver(struct target *target, struct delivery *delivery)
{
    struct work *work = work_new((struct room_target *)(void *)target, delivery);
    json_t *payload = NULL;
    struct err err = {0};
    json_t *text = compose(work->target, delivery->wake, &payload, &err);

    if (!text) {
        finish(work, OUTCOME_REFUSED, err.text);
        return;
    }
    if (work->target->accept == ACCEPT_STORED)
        store(work, text);
    else
        offer(work, text, payload);
    json_decref(text);
    json_decref(payload);
}

/* --- settings --- */

static void room_close(struct target *target)
{
    struct room_target *room = (struct room_target *)(void *)target;

    room_drop(room->room);
    free(room->thread);
    free(room->prompt);
    free(room->handle);
    free(room);
}

static char *make_id(const struct slice thread)
{
    char *id = mem_text(thread);

    for (char *at = id; *at; at++)
        if (!settings_is_name((struct slice){at, 1}))
            *at = '-';
    return id;
}

static struct slice read_thread(struct settings *settings)
{
    struct slice thread = settings_required_string(settings, "thread");
    struct err err;

    if (thread.len > 0 && !names_is_thread(thread, &err))
        settings_mistake(settings, "thread", "%s", err.text);
    return thread;
}

static struct target *room_open(struct settings *settings, const struct route_facts *route,
                                const struct world *world)
{
    static const char *const accepts[] = {"answered", "stored", NULL};
    unsigned mistakes = settings->report->mistake_count;
    int64_t offer_ms = route->budget_ms + OFFER_MARGIN_MS;
    struct slice thread = read_thread(settings);
    enum accept accept = (enum accept)settings_choice(settings, "accept", accepts, ACCEPT_ANSWERED);

    if (!route->rooms)
        settings_mistake(settings, NULL, "there are no rooms; add \"rooms\" at the top");
    else if (world && !world->rooms)
        settings_mistake(settings, NULL, "there are no rooms yet; a restart brings them");
    if (settings->report->mistake_count != mistakes)
        return NULL;
    struct room_target *room = mem_new(sizeof(*room));
    *room = (struct room_target){
        .target = {.id = make_id(thread),
                   .idempotent = accept == ACCEPT_STORED,
                   .hold_ms = offer_ms}, /* then nobody can take it any more */
        .accept = accept,
        .offer_ms = offer_ms,
        .thread = mem_text(thread),
        .prompt = mem_text(route->prompt),
        .handle = mem_text(route->handle),
    };
    if (world) {
        room->room = rooms_hold(world->rooms, thread);
        room->turn = world->turn;
    }
    return &room->target;
}

const char *target_room_thread(const struct target *target, bool *stored)
{
    const struct room_target *room = (const struct room_target *)(const void *)target;

    *stored = room->accept == ACCEPT_STORED;
    return room->thread;
}

const struct target_kind target_room = {
    .name = "room",
    .open = room_open,
    .deliver = room_deliver,
    .cancel = room_cancel,
    .close = room_close,
};
