/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op: one asynchronous operation; turn: what happens at the end of each turn of the event loop.
 *
 * The caller embeds an op in a struct of its own, sets `done` and hands it to whatever works on it.
 * The worker calls op_finish once. `done` is then called exactly once, at the end of the turn:
 * never before the call that started the operation returned, also when the result was known at
 * once. From op_begin to `done` the op and all that it points at must stay where they are; in
 * `done` and after it the op is the caller's again.
 *
 * A turn's end calls `done` of everything that finished and runs the early steps that are due (such
 * as the HTTP server, which may start new work), again and again until nothing is left; then the
 * late steps, which write out what the turn produced (one write to Redis, one to the log).
 */
#ifndef WAKEGATE_CORE_OP_H
#define WAKEGATE_CORE_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct op {
    void (*done)(struct op *op);
    struct op *next; /* in the turn's queue */
    bool running;
};

struct turn_step {
    void (*run)(struct turn_step *step);
    struct turn_step *next;
    bool due;
};

struct turn {
    uv_loop_t *loop;
    uv_prepare_t prepare;
    uv_idle_t again; /* active while work is left, so that the loop neither sleeps nor ends */
    struct op *finished;
    struct op **finished_end;
    struct turn_step *early, *late;
};

void op_begin(struct op *op, void (*done)(struct op *op));
void op_finish(struct op *op, struct turn *turn);

void turn_open(struct turn *turn, uv_loop_t *loop);
/* Closes the handles; the loop must run once more before `turn` may go. */
void turn_close(struct turn *turn);

/* Steps are the caller's memory and stay until turn_remove_step. They run in the order in which
 * they were added, whenever somebody called turn_want on them. */
void turn_add_early_step(struct turn *turn, struct turn_step *step);
void turn_add_late_step(struct turn *turn, struct turn_step *step);
void turn_remove_step(struct turn *turn, struct turn_step *step);
void turn_want(struct turn_step *step);

/* The struct of type `type` whose `member` is at `pointer`. */
#define CONTAINER_OF(pointer, type, member)                                                        \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
