/* SPDX-License-Identifier: Apache-2.0 */
/* shared_wake: a decoded wake that the request it came in and its relays hold together, counted. */
#ifndef WAKEGATE_RELAY_SHARED_WAKE_H
#define WAKEGATE_RELAY_SHARED_WAKE_H

#include "gateway/core/wake.h"

struct shared_wake {
    unsigned references;
    struct wake wake;
};

/* Takes over what `wake` owns; `wake` is empty afterwards. One reference. */
struct shared_wake *shared_wake_new(struct wake *wake);
struct shared_wake *shared_wake_hold(struct shared_wake *shared);
void shared_wake_drop(struct shared_wake *shared);

#endif
