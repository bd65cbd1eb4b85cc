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
#include <assert.h>
#include <stdlib.h>

#include "gateway/core/buf.h"
#include "gateway/core/clock.h"
#include "gateway/store/sqlite.h"

/* Expired records that a batch deletes, besides two for each operation. */
enum { SWEEP_MIN = 16 };

struct embedded {
    struct store store;
    struct turn *turn;
    struct turn_step step;
    uv_work_t work;
    struct sqlite *sqlite; /* the worker's while one runs */
    int64_t window_ms;
    struct store_op *queue, **queue_end;
    struct store_op *batch; /* the worker's; NULL: none runs */
    void (*closed)(void *context);
    void *context;
};

static bool do_op(const struct embedded *embedded, struct store_op *op, int64_t now_ms,
                  struct err *err)
{
    struct sqlite *sqlite = embedded->sqlite;
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

static bool do_batch(const struct embedded *embedded, struct err *err)
{
    int64_t now_ms = clock_wall_ms(), sweep = SWEEP_MIN;

    if (!sqlite_begin(embedded->sqlite, err))
        return false;
    for (struct store_op *op = embedded->batch; op; op = op->next, sweep += 2)
        if (!do_op(embedded, op, now_ms, err))
            return false;
    return sqlite_sweep(embedded->sqlite, now_ms, sweep, err) &&
           sqlite_commit(embedded->sqlite, err);
}

static void work_batch(uv_work_t *work)
{
    struct embedded *embedded = CONTAINER_OF(work, struct embedded, work);
    struct err err = {0};

    if (do_batch(embedded, &err))
        return;
    sqlite_roll_back(embedded->sqlite);
    err_wrap(&err, "sqlite");
    for (struct store_op *op = embedded->batch; op; op = op->next) {
        op->answer = STORE_UNSURE;
        op->err = err;
    }
}

static void embedded_submit(struct store *store, struct store_op *op)
{
    struct embedded *embedded = CONTAINER_OF(store, struct embedded, store);

    op->next = NULL;
    *embedded->queue_end = op;
    embedded->queue_end = &op->next;
    turn_want(&embedded->step);
}

static void batch_done(uv_work_t *work, int status)
{
    struct embedded *embedded = CONTAINER_OF(work, struct embedded, work);
    struct store_op *op = embedded->batch;

    (void)status; /* nobody cancels it */
    embedded->batch = NULL;
    while (op) {
        struct store_op *next = op->next;
        op_finish(&op->op, embedded->turn);
        op = next;
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

const struct store_impl store_sqlite = {
    .scheme = "sqlite",
    .open = embedded_open,
    .submit = embedded_submit,
    .close = embedded_close,
};
