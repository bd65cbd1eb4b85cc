/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadline: one timer that its owner re-arms for each state. Embedded in the owner's struct; libuv
 * closes handles late, so the owner may free that struct only in `closed`.
 */
#ifndef WAKEGATE_CORE_DEADLINE_H
#define WAKEGATE_CORE_DEADLINE_H

#include <stdint.h>
#include <uv.h>

struct deadline {
    uv_timer_t timer;
    void (*due)(struct deadline *deadline);
    void (*closed)(struct deadline *deadline);
};

void deadline_open(struct deadline *deadline, uv_loop_t *loop,
                   void (*due)(struct deadline *deadline));
/* Due in `ms` from now; a deadline that was set is moved. */
void deadline_set(struct deadline *deadline, uint64_t ms);
void deadline_clear(struct deadline *deadline);
void deadline_close(struct deadline *deadline, void (*closed)(struct deadline *deadline));

#endif
