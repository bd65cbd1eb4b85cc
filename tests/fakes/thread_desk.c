/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fakes/thread_desk.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "relay/room/envelope.h"

struct desk_threads {
    struct threads threads; /* first */
    struct thread_desk *desk;
    struct op closing;
};

static void append(struct thread_desk *desk, struct slice thread, const struct slice *entries,
                   size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert(desk->entry_count < DESK_ENTRIES);
        desk->entries[desk->entry_count++] = mem_text(entries[i]);
    }
    if (desk->threads)
        follow_look(desk->threads->follow, thread);
}

static void copy(char *to, size_t size, struct slice text)
{
    snprintf(to, size, "%.*s", SLICE_ARG(text));
}

/* --- what each verb does --- */

static enum threads_answer read_from(struct thread_desk *desk, struct threads_op *op)
{
    uint64_t after = 0;
    char position[24];

    slice_number(op->from, &after);
    for (uint64_t i = after; i < desk->entry_count; i++) {
        snprintf(position, sizeof(position), "%llu", (unsigned long long)i + 1);
        threads_op_add(op, slice_from(position), slice_from(desk->entries[i]));
    }
    if (desk->state == DESK_OFFERED)
        threads_op_pending(op, slice_from(desk->offer));
    return THREADS_DONE;
}

static enum threads_answer offer(struct thread_desk *desk, const struct threads_op *op)
{
    if (desk->state == DESK_OFFERED)
        return THREADS_BUSY;
    if (desk->present == 0)
        return THREADS_NOBODY;
    desk->state = DESK_OFFERED;
    copy(desk->offer, sizeof(desk->offer), op->offer);
    copy(desk->owner, sizeof(desk->owner), op->owner);
    copy(desk->key, sizeof(desk->key), op->key);
    desk->for_ms = op->for_ms;
    append(desk, op->thread, op->entries, op->entry_count);
    return THREADS_DONE;
}

static enum threads_answer take(struct thread_desk *desk, const struct threads_op *op)
{
    if (desk->state != DESK_OFFERED || !slice_eq(op->offer, slice_from(desk->offer)))
        return THREADS_SETTLED;
    desk->state = DESK_TAKEN;
    copy(desk->taker, sizeof(desk->taker), op->taker);
    append(desk, op->thread, op->entries, op->entry_count);
    return THREADS_DONE;
}

static enum threads_answer withdraw(struct thread_desk *desk, const struct threads_op *op)
{
    if (desk->state == DESK_TAKEN)
        return THREADS_SETTLED;
    desk->state = DESK_WITHDRAWN;
    append(desk, op->thread, op->entries, op->entry_count);
    return THREADS_DONE;
}

static enum threads_answer perform(struct thread_desk *desk, struct threads_op *op)
{
    switch (op->verb) {
    case THREADS_APPEND:
        append(desk, op->thread, op->entries, op->entry_count);
        return THREADS_DONE;
    case THREADS_READ:
        return read_from(desk, op);
    case THREADS_OFFER:
        return offer(desk, op);
    case THREADS_TAKE:
        return take(desk, op);
    case THREADS_WITHDRAW:
        return withdraw(desk, op);
    case THREADS_PRESENT:
        desk->present = op->count;
        return THREADS_DONE;
    }
    return THREADS_DONE;
}

/* --- answering --- */

static void answer(struct thread_desk *desk, struct threads_op *op)
{
    enum threads_verb verb = op->verb;
    enum desk_how how = desk->how[verb];

    desk->how[verb] = AS_ASKED;
    if (how != INSTEAD)
        op->answer = perform(desk, op);
    if (how != AS_ASKED)
        op->answer = desk->answer[verb];
    if (op->answer == THREADS_DOWN || op->answer == THREADS_UNSURE)
        err_set(&op->err, "the desk is closed");
    op_finish(&op->op, desk->turn);
}

void desk_answer(struct thread_desk *desk, enum threads_verb verb)
{
    struct threads_op *op = desk->kept[verb];

    assert(op);
    desk->kept[verb] = NULL;
    answer(desk, op);
}

static void submit(struct threads *threads, struct threads_op *op)
{
    struct thread_desk *desk = ((struct desk_threads *)(void *)threads)->desk;

    desk->asked[op->verb]++;
    if (!desk->keep_back[op->verb]) {
        answer(desk, op);
        return;
    }
    desk->keep_back[op->verb] = false;
    desk->kept[op->verb] = op;
}

/* --- opening and closing --- */

static struct threads *open_threads(struct store *store, const struct threads_settings *settings,
                                    struct turn *turn, struct follow *follow)
{
    struct thread_desk *desk = (struct thread_desk *)(void *)store;
    struct desk_threads *threads = mem_new(sizeof(*threads));

    (void)settings;
    (void)turn;
    (void)follow;
    threads->desk = desk;
    desk->threads = &threads->threads;
    return desk->threads;
}

static void on_closed(struct op *op)
{
    struct desk_threads *threads = CONTAINER_OF(op, struct desk_threads, closing);
    void (*closed)(void *) = threads->threads.closed;
    void *context = threads->threads.closed_context;

    threads->desk->threads = NULL;
    free(threads);
    if (closed)
        closed(context);
}

static void close_threads(struct threads *threads)
{
    struct desk_threads *ours = (struct desk_threads *)(void *)threads;

    op_begin(&ours->closing, on_closed);
    op_finish(&ours->closing, ours->desk->turn);
}

static const struct threads_impl desk_impl = {
    .open = open_threads, .submit = submit, .close = close_threads};

void desk_open(struct thread_desk *desk, struct turn *turn)
{
    *desk = (struct thread_desk){.impl = {.threads = &desk_impl}, .turn = turn};
    desk->store.impl = &desk->impl;
}

void desk_release(struct thread_desk *desk)
{
    for (size_t i = 0; i < desk->entry_count; i++)
        free(desk->entries[i]);
}

/* --- what others do --- */

bool desk_take(struct thread_desk *desk, const char *taker)
{
    struct run run = {.thread = SLICE("wakes"), .id = SLICE("a-run-of-another")};
    struct threads_op op = {
        .thread = run.thread, .offer = slice_from(desk->offer), .taker = slice_from(taker)};

    run_settled(&run, op.offer, op.taker);
    run_entries(&run, op.entries, &op.entry_count);
    bool taken = take(desk, &op) == THREADS_DONE;
    run_release(&run);
    return taken;
}

void desk_expire(struct thread_desk *desk)
{
    assert(desk->state == DESK_OFFERED);
    desk->state = DESK_NONE;
}
