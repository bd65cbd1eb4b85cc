/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/gathering.h"

#include <assert.h>
#include <stddef.h>

#include "relay/party.h"

static void append(struct gathering *gathering, struct relay *relay)
{
    if (!gathering->first)
        gathering->end = &gathering->first;
    relay->companion = NULL;
    *gathering->end = relay;
    gathering->end = &relay->companion;
}

void gathering_join(struct relay *relay)
{
    struct gathering *gathering = &relay->to->gathering;
    uint64_t left = relay_time_left(relay), kept = GATHERING_LEAST_MS + GATHERING_EARLY_MS;
    uint64_t wait = left > kept ? left - kept : 0;

    if (!gathering->first && (uint64_t)gathering->quiet_ms < wait)
        wait = (uint64_t)gathering->quiet_ms;
    append(gathering, relay);
    relay->state = RELAY_GATHERING;
    deadline_set(&relay->deadline, wait);
}

void gathering_leave(struct relay *relay)
{
    struct gathering *gathering = &relay->to->gathering;
    struct relay **at = &gathering->first;

    while (*at != relay)
        at = &(*at)->companion;
    *at = relay->companion;
    if (!*at)
        gathering->end = at;
    if (!gathering->first)
        gathering->due = false;
    relay->companion = NULL;
}

/* The first of those that wait and have the time; NULL: there is none. */
static struct relay *take(struct gathering *gathering)
{
    while (gathering->first) {
        struct relay *relay = gathering->first;
        gathering_leave(relay);
        if (relay_time_left(relay) >= GATHERING_LEAST_MS)
            return relay;
        relay_refuse(relay, OUTCOME_UNAVAILABLE, "no time left to ask the target");
    }
    return NULL;
}

/* Those that are too many for one party wait for the next. */
static void set_off(struct gathering *gathering)
{
    struct relay *carrier = take(gathering);

    if (!carrier)
        return;
    gathering->onward = carrier;
    for (unsigned i = 1; i < LIMIT_GATHERED; i++) {
        struct relay *rider = take(gathering);
        if (!rider)
            break;
        party_add(carrier, rider);
    }
    party_set_off(carrier);
}

void gathering_on_deadline(struct relay *relay)
{
    struct gathering *gathering = &relay->to->gathering;
    uint64_t left = relay_time_left(relay);

    gathering->due = true;
    if (!gathering->onward) {
        set_off(gathering);
    } else if (left > GATHERING_LEAST_MS) {
        deadline_set(&relay->deadline, left - GATHERING_LEAST_MS);
    } else {
        gathering_leave(relay);
        relay_refuse(relay, OUTCOME_UNAVAILABLE, "the route's wake before it is on its way");
    }
}

void gathering_on_told(struct relay *relay)
{
    struct gathering *gathering = &relay->to->gathering;

    if (gathering->onward != relay)
        return;
    gathering->onward = NULL;
    if (gathering->due)
        set_off(gathering);
}
