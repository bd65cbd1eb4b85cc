/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/party.h"

#include <stddef.h>

#include "relay/combined_wake.h"
#include "relay/relay_audit.h"
#include "relay/settlement.h"

void party_add(struct relay *carrier, struct relay *rider)
{
    struct relay **end = &carrier->riders;

    while (*end)
        end = &(*end)->companion;
    *end = rider;
    rider->companion = NULL;
    rider->carrier = carrier;
    if (rider->state != RELAY_RIDING)
        carrier->riders_claiming++;
    if (rider->until_ms < carrier->until_ms)
        carrier->until_ms = rider->until_ms;
}

void party_set_off(struct relay *carrier)
{
    relay_claim(carrier);
    for (struct relay *rider = carrier->riders; rider; rider = rider->companion)
        relay_claim(rider);
}

bool party_is_complete(const struct relay *relay)
{
    return relay->riders_claiming == 0;
}

/* One claim less to wait for, of a carrier that may be waiting. */
static void answered(struct relay *carrier)
{
    carrier->riders_claiming--;
    if (party_is_complete(carrier) && carrier->state == RELAY_CLAIMING && !carrier->op.running)
        relay_deliver(carrier);
}

void party_ride(struct relay *rider)
{
    rider->state = RELAY_RIDING;
    deadline_set(&rider->deadline, relay_time_left(rider));
    answered(rider->carrier);
}

void party_leave(struct relay *rider)
{
    struct relay *carrier = rider->carrier, **at = &carrier->riders;

    while (*at != rider)
        at = &(*at)->companion;
    *at = rider->companion;
    rider->companion = rider->carrier = NULL;
    answered(carrier);
}

static struct relay *take_rider(struct relay *carrier)
{
    struct relay *rider = carrier->riders;

    carrier->riders = rider->companion;
    rider->companion = rider->carrier = NULL;
    return rider;
}

void party_hand_over(struct relay *carrier)
{
    struct relay *next = take_rider(carrier);

    while (carrier->riders)
        party_add(next, take_rider(carrier));
    carrier->riders_claiming = 0;
    carrier->to->gathering.onward = next;
    if (next->state == RELAY_RIDING) /* else its claim's answer comes, and then it asks the gate */
        relay_claim(next);
}

void party_conclude(struct relay *carrier, enum store_verb how)
{
    while (carrier->riders) {
        struct relay *rider = take_rider(carrier);
        rider->outcome = carrier->outcome;
        rider->leaf = carrier->leaf;
        if (carrier->state == RELAY_DELIVERING)
            relay_audit_ride(rider, carrier);
        if (rider->state == RELAY_RIDING)
            settlement_begin(rider, how);
        else /* the answer to its claim ends it */
            rider->stranded = true;
    }
    carrier->riders_claiming = 0;
}

struct shared_wake *party_wake(const struct relay *carrier)
{
    const struct wake *wakes[LIMIT_GATHERED];
    size_t count = 0;

    wakes[count++] = &carrier->wake->wake;
    for (const struct relay *rider = carrier->riders; rider; rider = rider->companion)
        wakes[count++] = &rider->wake->wake;
    struct wake combined = {0};
    combined_wake(wakes, count, &combined);
    return shared_wake_new(&combined);
}
