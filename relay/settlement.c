/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/settlement.h"

#include "gateway/core/clock.h"
#include "gateway/core/metrics.h"
#include "relay/relay_audit.h"
#include "relay/relays.h"

enum {
    RELEASE_PATIENCE_MS = 10000, /* how long a release is tried, which the lease's end does too */
    FIRST_PAUSE_MS = 100,        /* before an unwritten one is tried again; doubles */
    LONGEST_PAUSE_MS = 2000
};

static void on_written(struct op *op);

void settlement_begin(struct relay *relay, enum store_verb how)
{
    struct store *store = relay->relays->world->store;
    const struct leaf *leaf = &relay->to->leaves[relay->leaf];

    if (relay->state != RELAY_FINISHING) {
        relay->state = RELAY_FINISHING;
        relay->finish = how;
        relay->finish_pause_ms = FIRST_PAUSE_MS;
        if (how == STORE_RELEASE)
            relay->finish_until_ms = clock_steady_us() / 1000 + RELEASE_PATIENCE_MS;
    }
    relay->store = (struct store_op){
        .key = slice_from(relay->key),
        .gate = slice_from(leaf->gate),
        .owner = slice_from(relay->owner),
        .for_ms = leaf->target->hold_ms,
    };
    if (!relay->told)
        deadline_set(&relay->deadline, relay_time_left(relay));
    switch (how) {
    case STORE_SETTLE:
        store_settle(store, &relay->store, on_written);
        return;
    case STORE_HOLD:
        store_hold(store, &relay->store, on_written);
        return;
    default:
        store_release(store, &relay->store, on_written);
        return;
    }
}

static void on_written(struct op *op)
{
    struct relay *relay = CONTAINER_OF(op, struct relay, op);
    enum store_answer answer = relay->store.answer;
    bool written = answer == STORE_OK || answer == STORE_LOST;

    deadline_clear(&relay->deadline);
    relay_tell(relay);
    if (answer == STORE_LOST)
        relay_audit_lost_claim(relay);
    bool give_up = relay->relays->draining && relay->finish == STORE_RELEASE;
    if (written || give_up || clock_steady_us() / 1000 >= relay->finish_until_ms) {
        if (!written)
            relay_audit_unwritten(relay, "given_up");
        relay_over(relay);
        return;
    }
    if (relay->finish == STORE_SETTLE)
        ++*metrics_value(METRIC_SETTLE_RETRIES, NULL, NULL, NULL);
    if (relay->finish_pause_ms == FIRST_PAUSE_MS)
        relay_audit_unwritten(relay, "unwritten");
    deadline_set(&relay->deadline, relay->finish_pause_ms); /* then settlement_on_deadline */
    if (relay->finish_pause_ms < LONGEST_PAUSE_MS)
        relay->finish_pause_ms *= 2;
}

void settlement_on_deadline(struct relay *relay)
{
    if (relay->op.running)
        relay_tell(relay);
    else
        settlement_begin(relay, relay->finish);
}
