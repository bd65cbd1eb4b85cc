/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps stand here in the order in which they happen; each ends by naming the next. Every
 * operation's `done` comes once, from the end of a turn, so no step is entered twice and relay_over
 * is the only way out.
 */
#include "relay/relay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/clock.h"
#include "gateway/core/metrics.h"
#include "relay/party.h"
#include "relay/relay_audit.h"
#include "relay/relays.h"
#include "relay/settlement.h"

enum {
    FINISH_MARGIN_MS = 250,  /* of the budget, kept for the settlement and the answer */
    LEASE_MARGIN_MS = 60000, /* how long an unwritten settlement is tried again */
    JOIN_SLACK_MS = 1000 /* how much longer than its own time a request waits for a relay's end */
};

static void relay_on_claim(struct op *op);
static void relay_on_delivered(struct op *op);
static void relay_on_deadline(struct deadline *deadline);

static uint64_t steady_ms(void)
{
    return clock_steady_us() / 1000;
}

static const struct leaf *leaf_of(const struct relay *relay)
{
    return &relay->to->leaves[relay->leaf];
}

static uint64_t time_left(uint64_t until_ms)
{
    uint64_t now = steady_ms();

    return until_ms > now ? until_ms - now : 0;
}

uint64_t relay_time_left(const struct relay *relay)
{
    return time_left(relay->until_ms);
}

const char *relay_state_name(enum relay_state state)
{
    static const char *const names[] = {"gathering",  "claiming",  "riding",
                                        "delivering", "finishing", "over"};

    return names[state];
}

void relay_tell(struct relay *relay)
{
    relay->told = true;
    while (relay->waiters) {
        struct waiter *waiter = relay->waiters;
        relay->waiters = waiter->next;
        waiter->told(waiter, &relay->outcome);
    }
    gathering_on_told(relay);
}

static void set_outcome(struct relay *relay, enum outcome_code code, int64_t retry_after_ms,
                        const char *detail)
{
    relay->outcome = (struct outcome){.code = code,
                                      .retry_after_ms = retry_after_ms,
                                      .generation = relay->generation,
                                      .target = leaf_of(relay)->target->id};
    outcome_text(relay->outcome.detail, sizeof(relay->outcome.detail), detail, strlen(detail));
}

/* A request that came while the relay runs: it waits for the same outcome where that comes in its
 * time, or soon after: its head may have come first, and its body last. Where the others were told
 * already, it learns what is known. */
void relay_join(struct relay *relay, uint64_t until_ms, struct waiter *waiter)
{
    struct outcome outcome = {.code = OUTCOME_IN_FLIGHT};

    if (!relay->told && until_ms + JOIN_SLACK_MS >= relay->until_ms) {
        waiter->next = relay->waiters;
        relay->waiters = waiter;
        return;
    }
    if (relay->state == RELAY_FINISHING && relay->finish == STORE_SETTLE)
        outcome.code = OUTCOME_DUPLICATE;
    waiter->told(waiter, &outcome);
}

void relay_start(struct relay *relay)
{
    relay->began_ms = steady_ms();
    deadline_open(&relay->deadline, relay->relays->world->loop, relay_on_deadline);
    if (relay->to->gathering.quiet_ms > 0 && !relay->again)
        gathering_join(relay);
    else
        relay_claim(relay);
}

/* Long enough that nobody else takes the id while this relay may still act on it; for a target that
 * is not idempotent also as long as a hold, so that a crash after sending fires nothing twice. */
static int64_t lease_at(const struct relay *relay, const struct target *target)
{
    int64_t lease = (int64_t)time_left(relay->until_ms) + target->timeout_ms + LEASE_MARGIN_MS;

    return target->idempotent ? lease : lease + target->hold_ms;
}

/* One that rides claims once, wherever in the chain its carrier will be. */
static int64_t lease_ms(const struct relay *relay)
{
    int64_t longest = lease_at(relay, leaf_of(relay)->target);

    for (size_t i = 0; relay->carrier && i < relay->to->leaf_count; i++) {
        int64_t lease = lease_at(relay, relay->to->leaves[i].target);
        longest = lease > longest ? lease : longest;
    }
    return longest;
}

void relay_claim(struct relay *relay)
{
    const struct leaf *leaf = leaf_of(relay);

    relay->state = RELAY_CLAIMING;
    relay->past_gate = relay->carrier != NULL;
    relay->store = (struct store_op){
        .key = slice_from(relay->key),
        .gate = relay->past_gate || relay->force ? SLICE("") : slice_from(leaf->gate),
        .owner = slice_from(relay->owner),
        .for_ms = lease_ms(relay),
        .pace = leaf->target->pace,
        .again_ms = relay->again ? 1 : relay->to->again_ms,
        .force = relay->force,
    };
    relay->finish_until_ms = steady_ms() + (uint64_t)relay->store.for_ms;
    deadline_set(&relay->deadline, time_left(relay->until_ms));
    store_claim(relay->relays->world->store, &relay->store, relay_on_claim);
}

static bool has_next_leaf(const struct relay *relay)
{
    return relay->leaf + 1 < relay->to->leaf_count && !relay->told;
}

/* What became of it, for all that it carries. */
static void relay_conclude(struct relay *relay, enum store_verb how)
{
    if (relay->riders)
        party_conclude(relay, how);
    settlement_begin(relay, how);
}

/* Ends without an acceptance. Where the claim may be ours, it is given back first. */
static void relay_let_go(struct relay *relay)
{
    enum outcome_code code = relay->outcome.code;
    bool own_matter =
        code == OUTCOME_DUPLICATE || code == OUTCOME_IN_FLIGHT || code == OUTCOME_HELD;

    if (relay->carrier)
        party_leave(relay);
    else if (relay->riders && own_matter)
        party_hand_over(relay);
    else if (relay->riders)
        party_conclude(relay, STORE_RELEASE);
    if (relay->claimed)
        settlement_begin(relay, STORE_RELEASE);
    else
        relay_over(relay);
}

static void relay_on_claimed(struct relay *relay)
{
    if (relay->store.repeats != REPEATS_NOTHING)
        relay->repeats = relay->store.repeats;
    relay->generation = relay->store.generation;
    if (relay->stranded)
        settlement_begin(relay, STORE_RELEASE);
    else if (relay->carrier)
        party_ride(relay);
    else if (relay->past_gate) /* it has become the carrier in between */
        relay_claim(relay);
    else if (party_is_complete(relay))
        relay_deliver(relay);
    else /* the answer to the last rider's claim: relay_deliver */
        deadline_set(&relay->deadline, time_left(relay->until_ms));
}

static void relay_on_claim(struct op *op)
{
    static const enum outcome_code outcomes[] = {
        [STORE_RELAYED] = OUTCOME_DUPLICATE,
        [STORE_IN_FLIGHT] = OUTCOME_IN_FLIGHT,
        [STORE_HELD] = OUTCOME_HELD,
        [STORE_RESTING] = OUTCOME_RESTING,
        [STORE_PACED] = OUTCOME_PACED,
        [STORE_DOWN] = OUTCOME_STORE_UNAVAILABLE,
        [STORE_UNSURE] = OUTCOME_STORE_UNAVAILABLE,
    };
    struct relay *relay = CONTAINER_OF(op, struct relay, op);
    enum store_answer answer = relay->store.answer;

    deadline_clear(&relay->deadline);
    if (answer == STORE_CLAIMED || answer == STORE_UNSURE)
        relay->claimed = true;
    if (relay->told) { /* nobody waits any more */
        relay_let_go(relay);
        return;
    }
    if (answer == STORE_CLAIMED) {
        relay_on_claimed(relay);
        return;
    }
    bool gate_shut = answer == STORE_RESTING || answer == STORE_PACED;
    bool says_when = gate_shut || answer == STORE_HELD;
    set_outcome(relay, outcomes[answer], says_when ? relay->store.answer_ms : 0,
                relay->store.err.text);
    if (gate_shut && has_next_leaf(relay)) {
        relay->leaf++;
        relay_claim(relay);
        return;
    }
    relay_let_go(relay);
}

/* A generation that was begun on purpose is another delivery to a target that drops repeats. */
static void name_delivery(struct relay *relay)
{
    const char *target = leaf_of(relay)->target->id;
    struct slice id = relay->wake->wake.delivery_id;

    if (relay->generation == 0)
        snprintf(relay->delivery_key, sizeof(relay->delivery_key), "%.*s-%s", SLICE_ARG(id),
                 target);
    else
        snprintf(relay->delivery_key, sizeof(relay->delivery_key), "%.*s-%s-%" PRId64,
                 SLICE_ARG(id), target, relay->generation);
}

void relay_deliver(struct relay *relay)
{
    const struct target *target = leaf_of(relay)->target;
    uint64_t left = time_left(relay->until_ms);

    if (relay->relays->draining) {
        set_outcome(relay, OUTCOME_DRAINING, 0, "");
        relay_conclude(relay, STORE_RELEASE);
        return;
    }
    if (left <= FINISH_MARGIN_MS) {
        if (!relay->told)
            set_outcome(relay, OUTCOME_UNAVAILABLE, 0, "no time left to ask the target");
        relay_conclude(relay, STORE_RELEASE);
        return;
    }
    if (relay->riders && !relay->combined)
        relay->combined = party_wake(relay);
    left -= FINISH_MARGIN_MS;
    if (target->wait_ms > 0 && (uint64_t)target->wait_ms < left)
        left = (uint64_t)target->wait_ms;
    relay->state = RELAY_DELIVERING;
    relay->sent_us = clock_steady_us();
    relay->delivery =
        (struct delivery){.claim = slice_from(relay->key), .owner = slice_from(relay->owner)};
    name_delivery(relay);
    deadline_set(&relay->deadline, left);
    const struct shared_wake *wake = relay->combined ? relay->combined : relay->wake;
    target_deliver(leaf_of(relay)->target, &relay->delivery, &wake->wake,
                   slice_from(relay->delivery_key), relay_on_delivered);
}

static void relay_on_delivered(struct op *op)
{
    struct relay *relay = CONTAINER_OF(op, struct relay, op);
    const struct leaf *leaf = leaf_of(relay);

    deadline_clear(&relay->deadline);
    relay->outcome = relay->delivery.outcome;
    relay->outcome.generation = relay->generation;
    relay->outcome.target = leaf->target->id;
    relay_audit_delivery(relay);
    switch (relay->outcome.code) {
    case OUTCOME_ACCEPTED:
        relay_conclude(relay, STORE_SETTLE);
        return;
    case OUTCOME_AMBIGUOUS: /* an idempotent target may be asked again at once */
        relay_conclude(relay, leaf->target->idempotent ? STORE_RELEASE : STORE_HOLD);
        return;
    default:
        break;
    }
    if (has_next_leaf(relay)) {
        relay->leaf++;
        relay_claim(relay);
        return;
    }
    relay_conclude(relay, STORE_RELEASE);
}

static void relay_free(struct deadline *deadline)
{
    free(CONTAINER_OF(deadline, struct relay, deadline));
}

void relay_over(struct relay *relay)
{
    relay->state = RELAY_OVER;
    relay_tell(relay);
    relays_remove(relay);
    shared_wake_drop(relay->wake);
    if (relay->combined)
        shared_wake_drop(relay->combined);
    destination_drop(relay->to);
    deadline_close(&relay->deadline, relay_free);
}

/* What is known now, when the time is over, of a relay which goes on. */
static void tell_late(struct relay *relay, const struct relay *carrier)
{
    if (carrier->state == RELAY_DELIVERING)
        set_outcome(relay, OUTCOME_AMBIGUOUS, 0, "no answer in time; the request goes on");
    else
        set_outcome(relay, OUTCOME_STORE_UNAVAILABLE, 0, "the store did not answer in time");
    relay_tell(relay);
}

static void relay_on_deadline(struct deadline *deadline)
{
    struct relay *relay = CONTAINER_OF(deadline, struct relay, deadline);
    struct target *target = leaf_of(relay)->target;

    switch (relay->state) {
    case RELAY_GATHERING:
        gathering_on_deadline(relay);
        return;
    case RELAY_CLAIMING:
        tell_late(relay, relay);
        return;
    case RELAY_RIDING:
        tell_late(relay, relay->carrier);
        return;
    case RELAY_DELIVERING:
        if (!target->idempotent || target_is_unsent(target, &relay->delivery)) {
            target_cancel(target, &relay->delivery);
            return;
        }
        tell_late(relay, relay);
        return;
    case RELAY_FINISHING:
        settlement_on_deadline(relay);
        return;
    case RELAY_OVER: /* its deadline is closed */
        return;
    }
}

void relay_refuse(struct relay *relay, enum outcome_code code, const char *detail)
{
    set_outcome(relay, code, 0, detail);
    relay_over(relay);
}

void relay_drain(struct relay *relay)
{
    if (relay->state != RELAY_GATHERING)
        return;
    gathering_leave(relay);
    relay_refuse(relay, OUTCOME_DRAINING, "");
}

void relay_cut_short(struct relay *relay)
{
    relay->finish_until_ms = 0;
    if (relay->state == RELAY_DELIVERING)
        target_cancel(leaf_of(relay)->target, &relay->delivery);
    else if (relay->state == RELAY_FINISHING && !relay->op.running)
        relay_over(relay);
}
