/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/arrival.h"

#include <stdlib.h>

#include "gateway/answer.h"
#include "gateway/audit.h"

struct arrival {
    struct exchange *exchange;
    struct route *route;      /* counted */
    struct shared_wake *wake; /* counted */
    size_t waiting;           /* relays that have not told their outcome yet */
    struct outcome worst;
    struct waiter waiters[]; /* one for each destination */
};

/* How bad an outcome is for a sender that wants to know whether all is well. */
static int badness(enum outcome_code code)
{
    static const int ranks[OUTCOME_COUNT] = {
        [OUTCOME_DUPLICATE] = 0, [OUTCOME_ACCEPTED] = 1,          [OUTCOME_GONE] = 2,
        [OUTCOME_REFUSED] = 3,   [OUTCOME_UNAVAILABLE] = 4,       [OUTCOME_DRAINING] = 5,
        [OUTCOME_PACED] = 6,     [OUTCOME_STORE_UNAVAILABLE] = 7, [OUTCOME_RESTING] = 8,
        [OUTCOME_HELD] = 9,      [OUTCOME_IN_FLIGHT] = 10,        [OUTCOME_AMBIGUOUS] = 11,
    };

    return ranks[code];
}

static void arrival_told(struct waiter *waiter, const struct outcome *outcome)
{
    struct arrival *arrival = waiter->context;

    if (badness(outcome->code) >= badness(arrival->worst.code))
        arrival->worst = *outcome;
    if (--arrival->waiting > 0)
        return;
    const struct wake *wake = &arrival->wake->wake;
    const struct finding finding = {
        .code = answer_for_outcome(arrival->worst.code),
        .route = arrival->route,
        .wake = wake,
        .outcome = &arrival->worst,
    };
    audit(arrival->exchange, &finding);
    answer_outcome(arrival->exchange, wake->delivery_id, &arrival->worst);
    shared_wake_drop(arrival->wake);
    route_drop(arrival->route);
    free(arrival);
}

void arrival_begin(struct relays *relays, struct route *route, struct exchange *exchange,
                   struct wake *wake, uint64_t until_ms)
{
    const struct destinations *to = &route->destinations;
    size_t count = to->count;
    struct arrival *arrival = mem_new(sizeof(*arrival) + count * sizeof(struct waiter));

    arrival->exchange = exchange;
    arrival->route = route_hold(route);
    arrival->wake = shared_wake_new(wake);
    arrival->waiting = count;
    arrival->worst.code = OUTCOME_DUPLICATE;
    for (size_t i = 0; i < count; i++) {
        struct waiter *waiter = &arrival->waiters[i];
        *waiter = (struct waiter){.told = arrival_told, .context = arrival};
        /* The last one may tell before it returns, and that frees the arrival. */
        relays_begin(relays, to->child[i], arrival->wake, until_ms, waiter);
    }
}
