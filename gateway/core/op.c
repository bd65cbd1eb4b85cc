/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/core/op.h"

#include <assert.h>

/* A turn gives way to the poller after so many rounds, so that nobody starves the sockets. */
enum { ROUNDS_PER_TURN = 64 };

void op_begin(struct op *op, void (*done)(struct op *op))
{
    assert(!op->running);
    *op = (struct op){.done = done, .running = true};
}

static void come_back(uv_idle_t *idle)
{
    (void)idle; /* the prepare handle does the work */
}

void op_finish(struct op *op, struct turn *turn)
{
    assert(op->running && !op->next);
    if (!turn->finished) /* the loop must neither sleep nor end before the queue is empty */
        uv_idle_start(&turn->again, come_back);
    *turn->finished_end = op;
    turn->finished_end = &op->next;
}

static bool call_finished(struct turn *turn)
{
    struct op *op = turn->finished;

    turn->finished = NULL;
    turn->finished_end = &turn->finished;
    bool any = op != NULL;
    while (op) {
        struct op *next = op->next;
        op->next = NULL;
        op->running = false;
        op->done(op);
        op = next;
    }
    return any;
}

static bool run_due(struct turn_step *step)
{
    bool any = false;

    for (struct turn_step *next; step; step = next) {
        next = step->next;
        if (!step->due)
            continue;
        step->due = false;
        step->run(step);
        any = true;
    }
    return any;
}

static void turn_end(uv_prepare_t *prepare)
{
    struct turn *turn = CONTAINER_OF(prepare, struct turn, prepare);
    bool any = true;

    for (int round = 0; any && round < ROUNDS_PER_TURN; round++) {
        any = call_finished(turn);
        any = run_due(turn->early) || any;
    }
    run_due(turn->late);
    if (any || turn->finished)
        uv_idle_start(&turn->again, come_back);
    else
        uv_idle_stop(&turn->again);
}

void turn_open(struct turn *turn, uv_loop_t *loop)
{
    *turn = (struct turn){.loop = loop};
    turn->finished_end = &turn->finished;
    uv_prepare_init(loop, &turn->prepare);
    uv_prepare_start(&turn->prepare, turn_end);
    uv_unref((uv_handle_t *)&turn->prepare);
    uv_idle_init(loop, &turn->again);
}

void turn_close(struct turn *turn)
{
    uv_close((uv_handle_t *)&turn->prepare, NULL);
    uv_close((uv_handle_t *)&turn->again, NULL);
}

static void add_step(struct turn_step **list, struct turn_step *step)
{
    while (*list)
        list = &(*list)->next;
    step->next = NULL;
    *list = step;
}

void turn_add_early_step(struct turn *turn, struct turn_step *step)
{
    add_step(&turn->early, step);
}

void turn_add_late_step(struct turn *turn, struct turn_step *step)
{
    add_step(&turn->late, step);
}

static void remove_step(struct turn_step **list, struct turn_step *step)
{
    while (*list && *list != step)
        list = &(*list)->next;
    if (*list)
        *list = step->next;
}

void turn_remove_step(struct turn *turn, struct turn_step *step)
{
    remove_step(&turn->early, step);
    remove_step(&turn->late, step);
}

void turn_want(struct turn_step *step)
{
    step->due = true;
}
