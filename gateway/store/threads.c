/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is the same for every store: operations begin and end here, a long read goes on from page to
 * page, and what is followed hangs on follow.c.
 */
#include "gateway/store/threads_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/metrics.h"

static const char *const verbs[] = {
    [THREADS_APPEND] = "append", [THREADS_READ] = "read",         [THREADS_OFFER] = "offer",
    [THREADS_TAKE] = "take",     [THREADS_WITHDRAW] = "withdraw", [THREADS_PRESENT] = "present",
};

static const char *const answers[] = {
    [THREADS_DONE] = "done",     [THREADS_BUSY] = "busy", [THREADS_SETTLED] = "settled",
    [THREADS_NOBODY] = "nobody", [THREADS_DOWN] = "down", [THREADS_UNSURE] = "unsure",
};

/* --- what a read found --- */

void threads_op_release(struct threads_op *op)
{
    for (size_t i = 0; i < op->read_count; i++)
        free((char *)(uintptr_t)op->read[i].position.data);
    free(op->read);
    free(op->pending);
    op->read = NULL;
    op->read_count = 0;
    op->pending = NULL;
    op->end = (struct slice){0};
}

/* Both in one piece of memory, which begins with the position. */
void threads_op_add(struct threads_op *op, struct slice position, struct slice text)
{
    bool full = (op->read_count & (op->read_count - 1)) == 0; /* it grows at the powers of two */
    struct buf bytes = BUF_INIT(SIZE_MAX / 4);

    if (full)
        op->read =
            mem_grow(op->read, (op->read_count ? 2 * op->read_count : 1) * sizeof(*op->read));
    buf_append(&bytes, position);
    buf_append_char(&bytes, '\0');
    buf_append(&bytes, text);
    op->read[op->read_count++] = (struct threads_entry){
        .position = {bytes.data, position.len},
        .text = {bytes.data + position.len + 1, text.len},
    };
}

void threads_op_pending(struct threads_op *op, struct slice pending)
{
    free(op->pending);
    op->pending = pending.len > 0 ? mem_text(pending) : NULL;
}

void threads_op_fail(struct threads_op *op, enum threads_answer answer, const struct err *why)
{
    threads_op_release(op);
    op->answer = answer;
    op->err = *why;
}

/* --- operations --- */

static void on_ended(struct op *op);

static void submit(struct threads *threads, struct threads_op *op)
{
    op_begin(&op->op, on_ended);
    op->threads = threads;
    op->more = false;
    threads->impl->submit(threads, op);
}

static void count(const struct threads_op *op)
{
    bool up = op->answer != THREADS_DOWN && op->answer != THREADS_UNSURE;

    ++*metrics_value(METRIC_STORE, verbs[op->verb], answers[op->answer], NULL);
    *metrics_value(METRIC_STORE_UP, NULL, NULL, NULL) = up;
}

/* Where the page that was read ends, and the next begins. */
static struct slice end_of(const struct threads_op *op)
{
    if (op->read_count > 0)
        return op->read[op->read_count - 1].position;
    return op->after.len > 0 ? op->after : THREADS_BEGINNING;
}

static void on_ended(struct op *op)
{
    struct threads_op *threads_op = CONTAINER_OF(op, struct threads_op, op);

    count(threads_op);
    if (threads_op->verb == THREADS_READ && threads_op->answer == THREADS_DONE) {
        threads_op->end = end_of(threads_op);
        threads_op->from = threads_op->end;
        if (threads_op->more && !threads_op->one_page) {
            submit(threads_op->threads, threads_op);
            return;
        }
    }
    threads_op->done(op);
}

void threads_submit(struct threads *threads, struct threads_op *op, enum threads_verb verb,
                    void (*done)(struct op *op))
{
    static const struct err why = {"an entry is longer than may be"};
    bool too_long = false;

    assert(op->thread.len > 0 && op->entry_count <= THREADS_ENTRIES);
    assert((verb != THREADS_OFFER && verb != THREADS_PRESENT) || op->for_ms > 0);
    threads_op_release(op);
    op->verb = verb;
    op->done = done;
    op->from = op->after.len > 0 ? op->after : THREADS_BEGINNING;
    for (size_t i = 0; i < op->entry_count; i++)
        too_long = too_long || op->entries[i].len > THREADS_ENTRY_BYTES;
    if (!too_long) {
        submit(threads, op);
        return;
    }
    op_begin(&op->op, on_ended);
    threads_op_fail(op, THREADS_DOWN, &why);
    op_finish(&op->op, threads->turn);
}

int threads_compare(struct slice a, struct slice b)
{
    struct slice parts[2][2];
    uint64_t numbers[2][2] = {{0}};

    slice_cut(a, '-', &parts[0][0], &parts[0][1]);
    slice_cut(b, '-', &parts[1][0], &parts[1][1]);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            slice_number(parts[i][j], &numbers[i][j]);
    for (int j = 0; j < 2; j++)
        if (numbers[0][j] != numbers[1][j])
            return numbers[0][j] < numbers[1][j] ? -1 : 1;
    return 0;
}

/* --- opening, following, closing --- */

struct threads *threads_open(struct store *store, const struct threads_settings *settings,
                             struct turn *turn,
                             void (*appended)(void *context, struct slice thread,
                                              const struct threads_entry *entries, size_t count),
                             void *context, struct err *err)
{
    const struct threads_impl *impl = store->impl->threads;

    assert(settings->kept > 0 && settings->kept_ms > 0);
    if (!impl) {
        err_set(err, "this store keeps no threads");
        return NULL;
    }
    struct follow *follow = follow_open(turn, appended, context);
    struct threads *threads = impl->open(store, settings, turn, follow);
    threads->impl = impl;
    threads->follow = follow;
    threads->turn = turn;
    return threads;
}

void threads_follow(struct threads *threads, struct slice thread, struct slice after)
{
    follow_add(threads->follow, threads, thread, after);
}

void threads_unfollow(struct threads *threads, struct slice thread)
{
    follow_remove(threads->follow, thread);
}

static void on_follow_closed(void *context)
{
    struct threads *threads = context;

    threads->impl->close(threads);
}

void threads_close(struct threads *threads, void (*closed)(void *context), void *context)
{
    threads->closed = closed;
    threads->closed_context = context;
    follow_close(threads->follow, on_follow_closed, threads);
}
