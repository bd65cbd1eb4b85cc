/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded: the store in one file on this machine, `sqlite:<path>`.
 *
 * What a turn submits waits until its end. Then one work item on libuv's pool does all of it in one
 * transaction; what arrives meanwhile is the next batch. So the connection is used by one thread at
 * a time, the disk is synced once a batch, and the loop never waits for it. When any of it fails,
 * all of it is rolled back and answered STORE_UNSURE, and the next batch tries again.
 *
 * There is no time-out: a write that hangs cannot be called back, and ending its operations early
 * would leave claims that nobody releases.
 */
#include "gateway/store/embedded.h"

#include <assert.h>
#include <stdlib.h>

#include "gateway/core/buf.h"
#include "gateway/core/clock.h"
#include "gateway/store/threads_impl.h"

/* Expired records that a batch deletes, besides two for each operation. */
enum { SWEEP_MIN = 16 };

struct embedded {
    struct store store;
    struct turn *turn;
    struct turn_step step;
    uv_work_t work;
    struct sqlite *sqlite; /* the worker's while one runs */
    int64_t window_ms;
    struct store_task *queue, **queue_end;
    struct store_task *batch; /* the worker's; NULL: none runs */
    bool failed;              /* the batch, and why; the worker's */
    struct err why;
    void (*closed)(void *context);
    void *context;
};

/* --- operations --- */

static struct store_op *op_of(struct store_task *task)
{
    return CONTAINER_OF(task, struct store_op, task);
}

static bool do_op(struct store_task *task, struct sqlite *sqlite, int64_t now_ms, struct err *err)
{
    const struct embedded *embedded = task->of;
    struct store_op *op = op_of(task);
    struct record record = {0};
    struct gate_record gate = gate_record_new();
    bool gated = op->gate.len > 0 && (op->verb == STORE_CLAIM || op->verb == STORE_HOLD);

    if (op->verb != STORE_PING && !sqlite_read_record(sqlite, op->key, &record, err))
        return false;
    if (gated && !sqlite_read_gate(sqlite, op->gate, &gate, err))
        return false;
    record_decide(op, &record, &gate, now_ms, embedded->window_ms);
    if (op->verb == STORE_PING)
        return sqlite_pulse(sqlite, err);
    if (record.changed && !sqlite_write_record(sqlite, op->key, &record, err))
        return false;
    return !gate.changed || sqlite_write_gate(sqlite, op->gate, &gate, err);
}

static void end_op(struct store_task *task, const struct err *failed)
{
    const struct embedded *embedded = task->of;
    struct store_op *op = op_of(task);

    if (failed) {
        op->answer = STORE_UNSURE;
        op->err = *failed;
    }
    op_finish(&op->op, embedded->turn);
}

static const struct sqlite_work op_work = {.run = do_op, .end = end_op};

static void embedded_submit(struct store *store, struct store_op *op)
{
    op->task = (struct store_task){.work.sqlite = &op_work, .of = store};
    embedded_run(store, &op->task);
}

/* --- batches --- */

static bool do_batch(const struct embedded *embedded, struct err *err)
{
    int64_t now_ms = clock_wall_ms(), sweep = SWEEP_MIN;

    if (!sqlite_begin(embedded->sqlite, err))
        return false;
    for (struct store_task *task = embedded->batch; task; task = task->next, sweep += 2)
        if (!task->work.sqlite->run(task, embedded->sqlite, now_ms, err))
            return false;
    return sqlite_sweep(embedded->sqlite, now_ms, sweep, err) &&
           sqlite_commit(embedded->sqlite, err);
}

static void work_batch(uv_work_t *work)
{
    struct embedded *embedded = CONTAINER_OF(work, struct embedded, work);

    embedded->why = (struct err){0};
    embedded->failed = !do_batch(embedded, &embedded->why);
    if (!embedded->failed)
        return;
    sqlite_roll_back(embedded->sqlite);
    err_wrap(&embedded->why, "sqlite");
}

void embedded_run(struct store *store, struct store_task *task)
{
    struct embedded *embedded = CONTAINER_OF(store, struct embedded, store);

    task->next = NULL;
    *embedded->queue_end = task;
    embedded->queue_end = &task->next;
    turn_want(&embedded->step);
}

static void batch_done(uv_work_t *work, int status)
{
    struct embedded *embedded = CONTAINER_OF(work, struct embedded, work);
    struct store_task *task = embedded->batch;

    (void)status; /* nobody cancels it */
    embedded->batch = NULL;
    while (task) {
        struct store_task *next = task->next;
        task->work.sqlite->end(task, embedded->failed ? &embedded->why : NULL);
        task = next;
    }
    turn_want(&embedded->step);
}

static void start_batch(struct turn_step *step)
{
    struct embedded *embedded = CONTAINER_OF(step, struct embedded, step);

    if (embedded->batch || !embedded->queue)
        return;
    embedded->batch = embedded->queue;
    embedded->queue = NULL;
    embedded->queue_end = &embedded->queue;
    uv_queue_work(embedded->turn->loop, &embedded->work, work_batch, batch_done);
}

/* --- opening and closing --- */

static bool embedded_open(struct slice url, int64_t window_ms, struct turn *turn,
                          struct store **store, struct err *err)
{
    struct slice scheme, path;
    struct sqlite *sqlite = NULL;

    slice_cut(url, ':', &scheme, &path);
    if (!sqlite_open(path, &sqlite, err))
        return err_wrap(err, "%.*s", SLICE_ARG(url));
    struct embedded *embedded = mem_new(sizeof(*embedded));
    *embedded = (struct embedded){
        .store.impl = &store_sqlite,
        .turn = turn,
        .step.run = start_batch,
        .sqlite = sqlite,
        .window_ms = window_ms,
        .queue_end = &embedded->queue,
    };
    turn_add_late_step(turn, &embedded->step);
    *store = &embedded->store;
    return true;
}

static void work_close(uv_work_t *work)
{
    sqlite_close(CONTAINER_OF(work, struct embedded, work)->sqlite);
}

static void close_done(uv_work_t *work, int status)
{
    struct embedded *embedded = CONTAINER_OF(work, struct embedded, work);
    void (*closed)(void *context) = embedded->closed;
    void *context = embedded->context;

    (void)status;
    free(embedded);
    if (closed)
        closed(context);
}

/* In the worker, because closing checkpoints. No operation runs, so no batch does. */
static void embedded_close(struct store *store, void (*closed)(void *context), void *context)
{
    struct embedded *embedded = CONTAINER_OF(store, struct embedded, store);

    assert(!embedded->batch && !embedded->queue);
    embedded->closed = closed;
    embedded->context = context;
    turn_remove_step(embedded->turn, &embedded->step);
    uv_queue_work(embedded->turn->loop, &embedded->work, work_close, close_done);
}

static const char *const sqlite_schemes[] = {"sqlite", NULL};

const struct store_impl store_sqlite = {
    .schemes = sqlite_schemes,
    .threads = &threads_sqlite,
    .open = embedded_open,
    .submit = embedded_submit,
    .close = embedded_close,
};
