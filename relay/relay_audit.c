/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/relay_audit.h"

#include "gateway/core/clock.h"
#include "gateway/core/log.h"
#include "gateway/core/metrics.h"
#include "relay/relay_journal.h"

static const char lost_claim[] = "lost_claim";
static const char *const causes[] = {
    [REPEATS_ENDED_LEASE] = "ended_lease", [REPEATS_ENDED_HOLD] = "ended_hold"};

void relay_audit_route(const char *route)
{
    metrics_value(METRIC_REPEATS, route, lost_claim, NULL);
    metrics_value(METRIC_REPEATS, route, causes[REPEATS_ENDED_LEASE], NULL);
    metrics_value(METRIC_REPEATS, route, causes[REPEATS_ENDED_HOLD], NULL);
}

/* A claim that repeats something and comes to nothing gives no target anything twice. A new
 * generation is given on purpose. */
static void count_repeat(const struct relay *relay)
{
    enum outcome_code code = relay->outcome.code;
    bool may_have_it = code == OUTCOME_ACCEPTED || code == OUTCOME_AMBIGUOUS;

    if (may_have_it && relay->repeats != REPEATS_NOTHING)
        ++*metrics_value(METRIC_REPEATS, relay->to->route, causes[relay->repeats], NULL);
    if (may_have_it && relay->generation > 0)
        ++*metrics_value(METRIC_AGAIN, relay->to->route, NULL, NULL);
}

void relay_audit_lost_claim(const struct relay *relay)
{
    ++*metrics_value(METRIC_REPEATS, relay->to->route, lost_claim, NULL);
}

void relay_audit_delivery(const struct relay *relay)
{
    struct leaf *leaf = &relay->to->leaves[relay->leaf];
    const struct outcome *outcome = &relay->outcome;
    uint64_t took_us = clock_steady_us() - relay->sent_us;
    uint64_t *other = NULL;

    count_repeat(relay);
    histogram_observe(leaf->seconds, took_us);
    ++*metrics_kept(outcome->code == OUTCOME_ACCEPTED ? &leaf->accepted : &other, METRIC_RELAYS,
                    relay->to->route, leaf->target->id, outcome_name(outcome->code));
    log_begin(outcome->code == OUTCOME_ACCEPTED ? LOG_INFO : LOG_WARN, "delivery");
    log_text("route", relay->to->route);
    log_text("target", leaf->target->id);
    log_str("delivery_id", relay->wake->wake.delivery_id);
    log_str("trace_id", trace_id(&relay->wake->wake.trace));
    if (relay->generation > 0)
        log_num("generation", relay->generation);
    log_text("outcome", outcome_name(outcome->code));
    log_text("run", outcome->run);
    log_text("detail", outcome->detail);
    log_num("us", (int64_t)took_us);
    log_end();
    relay_journal_add(relay, took_us);
}

void relay_audit_ride(const struct relay *rider, const struct relay *carrier)
{
    count_repeat(rider);
    ++*metrics_value(METRIC_GATHERED, rider->to->route, NULL, NULL);
    log_begin(rider->outcome.code == OUTCOME_ACCEPTED ? LOG_INFO : LOG_WARN, "delivered_with");
    log_text("route", rider->to->route);
    log_text("target", rider->to->leaves[rider->leaf].target->id);
    log_str("delivery_id", rider->wake->wake.delivery_id);
    log_str("trace_id", trace_id(&rider->wake->wake.trace));
    log_str("with", carrier->wake->wake.delivery_id);
    if (rider->generation > 0)
        log_num("generation", rider->generation);
    log_text("outcome", outcome_name(rider->outcome.code));
    log_end();
    relay_journal_add(rider, clock_steady_us() - carrier->sent_us);
}

void relay_audit_unwritten(const struct relay *relay, const char *event)
{
    static const char *const verbs[] = {
        [STORE_SETTLE] = "settle", [STORE_RELEASE] = "release", [STORE_HOLD] = "hold"};

    log_begin(LOG_WARN, event);
    log_text("route", relay->to->route);
    log_str("delivery_id", relay->wake->wake.delivery_id);
    log_text("verb", verbs[relay->finish]);
    log_text("detail", relay->store.err.text);
    log_end();
}
