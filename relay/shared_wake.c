/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/shared_wake.h"

#include <stdlib.h>

#include "gateway/core/buf.h"

struct shared_wake *shared_wake_new(struct wake *wake)
{
    struct shared_wake *shared = mem_new(sizeof(*shared));

    *shared = (struct shared_wake){.references = 1, .wake = *wake};
    *wake = (struct wake){0};
    return shared;
}

struct shared_wake *shared_wake_hold(struct shared_wake *shared)
{
    shared->references++;
    return shared;
}

void shared_wake_drop(struct shared_wake *shared)
{
    if (--shared->references > 0)
        return;
    wake_release(&shared->wake);
    free(shared);
}
