/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads in the store's file: their operations are part of its batches. Only one process has
 * the file, so what a thread grows by is known here first, and the hint is a call.
 */
#include <stdlib.h>

#include "gateway/core/buf.h"
#include "gateway/store/embedded.h"
#include "gateway/store/sqlite_threads.h"
#include "gateway/store/threads_impl.h"

struct embedded_threads {
    struct threads threads; /* first */
    struct store *store;
    struct turn *turn;
    struct follow *follow;
    struct threads_settings settings;
};

static struct threads_op *op_of(struct store_task *task)
{
    return CONTAINER_OF(task, struct threads_op, task);
}

static bool run(struct store_task *task, struct sqlite *sqlite, int64_t now_ms, struct err *err)
{
    const struct embedded_threads *embedded = task->of;

    return sqlite_threads_do(sqlite, op_of(task), &embedded->settings, now_ms, err);
}

static void end(struct store_task *task, const struct err *failed)
{
    struct embedded_threads *embedded = task->of;
    struct threads_op *op = op_of(task);

    if (failed)
        threads_op_fail(op, THREADS_UNSURE, failed);
    else if (op->verb != THREADS_READ && op->entry_count > 0)
        follow_look(embedded->follow, op->thread);
    op_finish(&op->op, embedded->turn);
}

static const struct sqlite_work work = {.run = run, .end = end};

static void submit(struct threads *threads, struct threads_op *op)
{
    struct embedded_threads *embedded = CONTAINER_OF(threads, struct embedded_threads, threads);

    op->task = (struct store_task){.work.sqlite = &work, .of = embedded};
    embedded_run(embedded->store, &op->task);
}

static struct threads *open_threads(struct store *store, const struct threads_settings *settings,
                                    struct turn *turn, struct follow *follow)
{
    struct embedded_threads *embedded = mem_new(sizeof(*embedded));

    embedded->store = store;
    embedded->turn = turn;
    embedded->follow = follow;
    embedded->settings = *settings;
    return &embedded->threads;
}

static void close_threads(struct threads *threads)
{
    struct embedded_threads *embedded = CONTAINER_OF(threads, struct embedded_threads, threads);
    void (*closed)(void *context) = threads->closed;
    void *context = threads->closed_context;

    free(embedded);
    if (closed)
        closed(context);
}

const struct threads_impl threads_sqlite = {
    .open = open_threads,
    .submit = submit,
    .close = close_threads,
};
