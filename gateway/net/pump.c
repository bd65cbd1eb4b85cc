/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/pump.h"

enum { VAIN_RUNS = 16, VAIN_MS = 10 };

void pump_want(struct pump *pump)
{
    pump_progress(pump);
    turn_want(&pump->step);
}

void pump_progress(struct pump *pump)
{
    pump->vain = 0;
}

/* libmicrohttpd asks for one run after another while a connection has filled its memory with what
 * is no whole line: nothing comes of it until that connection's time is over. */
static uint64_t not_in_vain(struct pump *pump, uint64_t ms)
{
    if (ms > 0)
        pump->vain = 0;
    else if (pump->vain++ >= VAIN_RUNS)
        return VAIN_MS;
    return ms;
}

static void run(struct turn_step *step)
{
    struct pump *pump = CONTAINER_OF(step, struct pump, step);
    uint64_t ms;

    if (pump->run(pump, &ms))
        deadline_set(&pump->timeout, not_in_vain(pump, ms));
    else
        deadline_clear(&pump->timeout);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    pump_want(CONTAINER_OF(poll, struct pump, poll));
}

static void on_timeout(struct deadline *deadline)
{
    turn_want(&CONTAINER_OF(deadline, struct pump, timeout)->step);
}

void pump_open(struct pump *pump, struct turn *turn, int epoll_fd,
               bool (*run_once)(struct pump *pump, uint64_t *ms))
{
    *pump = (struct pump){.turn = turn, .step = {.run = run}, .run = run_once};
    uv_poll_init(turn->loop, &pump->poll, epoll_fd);
    uv_poll_start(&pump->poll, UV_READABLE, on_readable);
    deadline_open(&pump->timeout, turn->loop, on_timeout);
    turn_add_early_step(turn, &pump->step);
}

static void on_timeout_closed(struct deadline *deadline)
{
    struct pump *pump = CONTAINER_OF(deadline, struct pump, timeout);

    pump->closed(pump);
}

static void on_poll_closed(uv_handle_t *handle)
{
    deadline_close(&CONTAINER_OF(handle, struct pump, poll)->timeout, on_timeout_closed);
}

void pump_close(struct pump *pump, void (*closed)(struct pump *pump))
{
    pump->closed = closed;
    turn_remove_step(pump->turn, &pump->step);
    uv_poll_stop(&pump->poll);
    uv_close((uv_handle_t *)&pump->poll, on_poll_closed);
}
