/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hermes: the webhook platform of hermes-agent: payload v1 under one of eight schemes.
 *
 * Hermes commits to the first scheme whose header is there and never falls through to another, so
 * a wrong signature is not covered by a right token. So do we, in Hermes' order; a scheme that the
 * route does not accept counts as absent. Digests in hex are read in both cases, where Hermes wants
 * lower case.
 *
 * Hermes remembers an id for an hour, in one map for all its routes and before the run starts.
 * Hence the id goes out under X-Request-ID, and a duplicate is an acceptance that runs nothing new.
 */
#include "dialects/judge.h"
#include "dialects/outgoing.h"
#include "dialects/payload.h"
#include "dialects/proof.h"
#include "dialects/scheme.h"

#include <string.h>

enum { RATE_LIMIT_MS = 60 * 1000 };

/* The first is what a trigger speaks unless it is told otherwise. */
enum { V2, HUB, WEBHOOK, SVIX, LINEAR, GITLAB, V1, BEARER, SCHEMES };

static const char *const names[SCHEMES + 1] = {
    [V2] = "v2",         [HUB] = "hub",       [WEBHOOK] = "webhook", [SVIX] = "svix",
    [LINEAR] = "linear", [GITLAB] = "gitlab", [V1] = "v1",           [BEARER] = "bearer",
};
static const struct scheme schemes[SCHEMES] = {
    [V2] = {SCHEME_TIMED_MAC, "X-Webhook-Signature-V2", .timestamp = "X-Webhook-Timestamp"},
    [HUB] = {SCHEME_MAC, "X-Hub-Signature-256", .prefix = "sha256="},
    [WEBHOOK] = {SCHEME_TRIO, "webhook-signature", .trio = &trio_webhook},
    [SVIX] = {SCHEME_TRIO, NULL, .trio = &trio_svix},
    [LINEAR] = {SCHEME_MAC, "linear-signature", .prefix = NULL},
    [GITLAB] = {SCHEME_TOKEN, "X-Gitlab-Token", .prefix = NULL},
    [V1] = {SCHEME_MAC, "X-Webhook-Signature", .prefix = NULL},
    [BEARER] = {SCHEME_BEARER, "Authorization", .prefix = NULL},
};
static const unsigned order[SCHEMES] = {SVIX, WEBHOOK, LINEAR, HUB, GITLAB, V2, V1, BEARER};

static const struct variant variants[] = {{.idempotent = true}};

static const struct judge_rule rules[] = {
    {400, OUTCOME_REFUSED, "cannot parse body", 0},
    {401, OUTCOME_REFUSED, "invalid signature, or the clocks differ", 0},
    {403, OUTCOME_REFUSED, "the route is disabled or has no secret", 0},
    {404, OUTCOME_REFUSED, "unknown route or profile", 0},
    {413, OUTCOME_REFUSED, "payload too large", 0},
    {429, OUTCOME_UNAVAILABLE, "rate limit exceeded", RATE_LIMIT_MS},
    {502, OUTCOME_UNAVAILABLE, "delivery failed", 0},
    {0},
};

static bool secret_fits(const struct secret *secret, struct err *err)
{
    (void)secret;
    (void)err;
    return true;
}

static enum proof verify(const struct request *request, const struct keyring *keyring,
                         int64_t now_ms, struct proven *proven, struct err *err)
{
    for (size_t i = 0; i < SCHEMES; i++) {
        const struct scheme *scheme = &schemes[order[i]];
        if (!proof_accepts(keyring, order[i]) || !scheme_is_present(scheme, request))
            continue;
        struct proven found = {.scheme = order[i]};
        enum proof proof = scheme_check(scheme, request, keyring, now_ms, &found, err);
        if (proof == PROOF_OK)
            *proven = found;
        return proof;
    }
    return proof_refuse(PROOF_MISSING, err, "no header of a scheme that the route accepts");
}

static bool frame(const struct wake *wake, const struct trigger_speech *speech, struct slice key,
                  int64_t now_ms, struct outgoing *out, struct err *err)
{
    if (!payload_write(wake, speech, now_ms, out, err))
        return false;
    if (!scheme_write(&schemes[speech->scheme], out, speech->secret, key, now_ms, err))
        return false;
    outgoing_header(out, "X-Request-ID", key);
    return outgoing_end(out, err);
}

/* A 200 is a duplicate, a wake that the route's filters dropped, or a delivery without an agent;
 * only the body tells. */
static void judge(unsigned status, struct slice body, const struct trigger_speech *speech,
                  struct verdict *verdict)
{
    (void)speech;
    judge_status(status, rules, true, verdict);
    json_t *answer = judge_body(body);
    const char *said = judge_word(answer, "status");
    if (verdict->code == OUTCOME_ACCEPTED) {
        judge_add(verdict, said);
        verdict->duplicate = strcmp(said, "duplicate") == 0;
    }
    if (status == 200 && said[0] == '\0') {
        verdict->code = OUTCOME_REFUSED;
        judge_add(verdict, "with a body that is not of Hermes");
    }
    if (status == 200 && strcmp(said, "ignored") == 0) {
        verdict->code = OUTCOME_REFUSED;
        judge_add(verdict, judge_word(answer, "reason"));
    }
    json_decref(answer);
}

const struct dialect dialect_hermes = {
    .name = "hermes",
    .schemes = names,
    .variants = variants,
    .variant_count = 1,
    .accepted_status = 202,
    .accepted_body = "{\"status\":\"accepted\",\"route\":\"wake\",\"event\":\"agentchat.wake\","
                     "\"delivery_id\":\"%s\"}",
    .secret_fits = secret_fits,
    .verify = verify,
    .decode = payload_decode,
    .frame = frame,
    .judge = judge,
};
