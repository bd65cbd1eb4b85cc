/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/core/deadline.h"

#include "gateway/core/op.h"

static void on_timer(uv_timer_t *timer)
{
    struct deadline *deadline = CONTAINER_OF(timer, struct deadline, timer);

    deadline->due(deadline);
}

static void on_close(uv_handle_t *handle)
{
    struct deadline *deadline = CONTAINER_OF(handle, struct deadline, timer);

    if (deadline->closed)
        deadline->closed(deadline);
}

void deadline_open(struct deadline *deadline, uv_loop_t *loop,
                   void (*due)(struct deadline *deadline))
{
    deadline->due = due;
    uv_timer_init(loop, &deadline->timer);
}

void deadline_set(struct deadline *deadline, uint64_t ms)
{
    /* libuv counts from the time at which this turn began, which a long turn leaves behind. */
    uint64_t late = uv_hrtime() / 1000000 - uv_now(deadline->timer.loop);

    uv_timer_start(&deadline->timer, on_timer, ms + late, 0);
}

void deadline_clear(struct deadline *deadline)
{
    uv_timer_stop(&deadline->timer);
}

void deadline_close(struct deadline *deadline, void (*closed)(struct deadline *deadline))
{
    deadline->closed = closed;
    uv_close((uv_handle_t *)&deadline->timer, on_close);
}
