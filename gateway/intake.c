/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/intake.h"

#include <stdio.h>

#include "gateway/arrival.h"
#include "gateway/audit.h"
#include "gateway/core/clock.h"
#include "gateway/core/metrics.h"

enum { REPLAY_AHEAD_MS = 300 * 1000, REPLAY_SLACK_MS = 3600 * 1000 };

bool intake_is_path(struct slice path, struct slice *route_name)
{
    if (!slice_starts(path, SLICE("/wake/")))
        return false;
    *route_name = slice_from_at(path, sizeof("/wake/") - 1);
    return true;
}

void intake_head(const struct intake *intake, struct exchange *exchange, struct slice route_name)
{
    struct slice coding;
    struct finding finding = {.route = config_route(intake->config, route_name)};

    if (!finding.route) {
        finding.code = ANSWER_UNKNOWN_ROUTE;
        audit_refuse(exchange, &finding, NULL);
        return;
    }
    if (!slice_eq(exchange->method, SLICE("POST"))) {
        finding.code = ANSWER_METHOD_NOT_ALLOWED;
        audit(exchange, &finding);
        answer_method(exchange, "POST");
        return;
    }
    enum header_found found =
        request_header(&exchange->request, SLICE("Content-Encoding"), &coding);
    bool plain = found == HEADER_ABSENT ||
                 (found == HEADER_FOUND && slice_eq_nocase(coding, SLICE("identity")));
    if (!plain) {
        finding.code = ANSWER_UNSUPPORTED_ENCODING;
        audit_refuse(exchange, &finding, NULL);
        return;
    }
    exchange->max_body = intake->config->max_body;
}

static bool prove(const struct route *route, const struct exchange *exchange, int64_t now_ms,
                  struct proven *proven, struct err *err)
{
    char place[8];
    enum proof proof =
        route->dialect->verify(&exchange->request, &route->keyring, now_ms, proven, err);

    ++*metrics_kept(&route->counts->proofs[proof], METRIC_PROOFS, route->name, proof_name(proof),
                    NULL);
    if (proof != PROOF_OK)
        return err_wrap(err, "%s", proof_name(proof));
    snprintf(place, sizeof(place), "%u", proven->secret);
    ++*metrics_kept(&route->counts->secrets[proven->secret], METRIC_SECRETS, route->name, place,
                    NULL);
    return true;
}

/* A MAC without a timestamp is good for ever, so the payload's own time must lie where the store
 * still remembers the id. */
static bool is_replay(const struct wake *wake, int64_t window_ms, int64_t now_ms)
{
    int64_t oldest = now_ms - window_ms + REPLAY_SLACK_MS;

    return wake->ts_ms == 0 || wake->ts_ms < oldest || wake->ts_ms > now_ms + REPLAY_AHEAD_MS;
}

static bool is_ours(const struct route *route, const struct wake *wake)
{
    bool expected = route->handle[0] != '\0', carried = wake->handle.len > 0;

    if (!expected || (!carried && wake->text.len > 0))
        return true;
    return slice_eq(wake->handle, slice_from(route->handle));
}

static bool is_test(const struct wake *wake)
{
    return wake->test || slice_eq(wake->reason, SLICE("test"));
}

/* Version, handle, freshness: what a genuine wake must also be. */
static bool admit(const struct intake *intake, const struct route *route, const struct wake *wake,
                  bool replayable, int64_t now_ms, struct finding *finding)
{
    bool version_absent = wake->version == 0 && wake->text.len > 0;

    if (replayable && is_replay(wake, intake->config->window_ms, now_ms)) {
        ++*metrics_value(METRIC_PROOFS, route->name, proof_name(PROOF_STALE), NULL);
        finding->code = ANSWER_UNAUTHORIZED;
        finding->why = "stale: the signature has no timestamp, and the payload's ts is too far off";
        return false;
    }
    if (wake->version != 1 && !version_absent) {
        finding->code = ANSWER_UNSUPPORTED_VERSION;
        return false;
    }
    if (!is_ours(route, wake)) {
        finding->code = ANSWER_WRONG_HANDLE;
        return false;
    }
    return true;
}

/* Room for it, and nobody about to leave. */
static bool may_relay(const struct intake *intake, const struct route *route,
                      struct finding *finding)
{
    if (intake->relays->draining) {
        finding->code = ANSWER_DRAINING;
        return false;
    }
    if (!relays_have_room(intake->relays, route->destinations.count)) {
        finding->code = ANSWER_OVERLOADED;
        return false;
    }
    return true;
}

/* The request is genuine: the way of its wake goes on, or ends here with an answer. */
static void take_in(const struct intake *intake, struct route *route, struct exchange *exchange,
                    bool replayable, int64_t now_ms)
{
    struct wake wake = {0};
    struct err err = {0};
    struct finding finding = {.route = route, .why = err.text};

    if (!route->dialect->decode(&exchange->request, &wake, &err)) {
        finding.code = ANSWER_INVALID_WAKE;
        audit_refuse(exchange, &finding, err.text);
        wake_release(&wake);
        return;
    }
    finding.wake = &wake;
    wake_keep_trace(&wake, &exchange->request);
    bool tested = is_test(&wake) && route->on_test == ON_TEST_ANSWER;
    bool goes_on = admit(intake, route, &wake, replayable, now_ms, &finding) &&
                   (tested || may_relay(intake, route, &finding));
    if (!goes_on) {
        audit_refuse(exchange, &finding, NULL);
    } else if (tested) {
        finding.code = ANSWER_TESTED;
        audit(exchange, &finding);
        answer_tested(exchange, wake.delivery_id);
    } else {
        uint64_t until_ms = exchange->began_us / 1000 + (uint64_t)intake->config->budget_ms;
        arrival_begin(intake->relays, route, exchange, &wake, until_ms);
    }
    wake_release(&wake);
}

void intake_begin(const struct intake *intake, struct exchange *exchange, struct slice route_name)
{
    struct route *route = config_route(intake->config, route_name);
    int64_t now_ms = clock_wall_ms();
    struct proven proven;
    struct err err = {0};
    struct finding finding = {.route = route, .why = err.text};

    if (!route) { /* a reload took it away while the body came */
        finding.code = ANSWER_UNKNOWN_ROUTE;
        audit_refuse(exchange, &finding, NULL);
        return;
    }
    if (!prove(route, exchange, now_ms, &proven, &err)) {
        finding.code = ANSWER_UNAUTHORIZED;
        audit_refuse(exchange, &finding, NULL);
        return;
    }
    take_in(intake, route, exchange, proven.replayable, now_ms);
}
