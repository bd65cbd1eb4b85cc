/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/socketio/engine_dues.h"

#include "gateway/core/op.h"

enum { GRAINS = 64, GRAIN_MOST_MS = 250 };

static uint64_t grain(uint64_t ms)
{
    uint64_t part = ms / GRAINS;

    return part == 0 ? 1 : part > GRAIN_MOST_MS ? GRAIN_MOST_MS : part;
}

/* Sets the timer for the earliest of all. */
static void wind(struct dues *dues)
{
    uint64_t now = uv_now(dues->timer.timer.loop), next = UINT64_MAX;

    for (size_t i = 0; i < DUE_LISTS; i++) {
        const struct due *first = dues->lists[i].first;
        if (first && first->at < next)
            next = first->at;
    }
    if (next == UINT64_MAX)
        deadline_clear(&dues->timer);
    else
        deadline_set(&dues->timer, next > now ? next - now : 0);
}

static void on_timer(struct deadline *deadline)
{
    struct dues *dues = CONTAINER_OF(deadline, struct dues, timer);
    uint64_t now = uv_now(deadline->timer.loop);

    for (size_t i = 0; i < DUE_LISTS; i++) {
        struct due_list *list = &dues->lists[i];
        while (list->first && list->first->at <= now) {
            struct due *due = list->first;
            due_clear(due);
            list->late(due);
        }
    }
    wind(dues);
}

void dues_open(struct dues *dues, uv_loop_t *loop)
{
    deadline_open(&dues->timer, loop, on_timer);
}

void dues_close(struct dues *dues, void (*closed)(struct deadline *deadline))
{
    deadline_close(&dues->timer, closed);
}

void due_set(struct dues *dues, struct due *due, struct due_list *list)
{
    uint64_t step = grain(list->ms);

    due_clear(due);
    uint64_t at = uv_now(dues->timer.timer.loop) + list->ms;
    *due = (struct due){.before = list->last, .in = list, .at = (at + step - 1) / step * step};
    if (list->last)
        list->last->next = due;
    else
        list->first = due;
    list->last = due;
    if (list->first == due)
        wind(dues);
}

void due_clear(struct due *due)
{
    if (!due->in)
        return;
    if (due->before)
        due->before->next = due->next;
    else
        due->in->first = due->next;
    if (due->next)
        due->next->before = due->before;
    else
        due->in->last = due->before;
    *due = (struct due){0};
}
