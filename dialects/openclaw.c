/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openclaw: the hooks of an OpenClaw Gateway: a text under the hook token.
 *
 * Two hooks. `agent` starts a run and drops a repeated Idempotency-Key, as long as the body is the
 * same too. `wake` queues a text as a system event, without idempotency. The token comes as a
 * bearer token or in x-openclaw-token; a bearer token that is not empty is the one that counts.
 * A token in the query is not looked at.
 */
#include <string.h>

#include "dialects/bearer.h"
#include "dialects/judge.h"
#include "dialects/outgoing.h"
#include "dialects/proof.h"
#include "dialects/text.h"

enum scheme { BEARER, TOKEN_HEADER };
enum hook { HOOK_AGENT, HOOK_WAKE };
enum { BODY_BYTES = 256 * 1024 };

static const char *const schemes[] = {
    [BEARER] = "bearer", [TOKEN_HEADER] = "x-openclaw-token", NULL};
static const struct variant variants[] = {
    [HOOK_AGENT] = {.name = "agent", .idempotent = true, .path = "/hooks/agent"},
    [HOOK_WAKE] = {.name = "wake", .idempotent = false, .path = "/hooks/wake"},
};
static const struct text_shape shape = {
    .member = {"message", "text"},
    .id_header = {"Idempotency-Key", "X-OpenClaw-Idempotency-Key"},
    .id_member = "idempotencyKey",
};

static const struct judge_rule rules[] = {
    {.status = 204, .code = OUTCOME_REFUSED, .meaning = "the mapping starts nothing"},
    {.status = 400, .code = OUTCOME_REFUSED, .meaning = "bad hook request"},
    {.status = 401, .code = OUTCOME_REFUSED, .meaning = "wrong hook token"},
    {.status = 404, .code = OUTCOME_REFUSED, .meaning = "no such hook, or hooks are off"},
    {.status = 408, .code = OUTCOME_UNAVAILABLE, .meaning = "request body timeout"},
    {.status = 409,
     .code = OUTCOME_UNAVAILABLE,
     .meaning = "hook configuration or session conflict"},
    {.status = 413, .code = OUTCOME_REFUSED, .meaning = "payload too large"},
    {.status = 429, .code = OUTCOME_REFUSED, .meaning = "too many wrong hook tokens"},
    {.status = 500, .code = OUTCOME_UNAVAILABLE, .meaning = "hook mapping failed"},
    {.status = 503, .code = OUTCOME_UNAVAILABLE, .meaning = "not admitted"},
    {.status = 0},
};

static enum proof verify(const struct request *request, const struct keyring *keyring,
                         int64_t now_ms, struct proven *proven, struct err *err)
{
    enum proof proof = proof_refuse(PROOF_MISSING, err, "the route accepts no scheme");
    enum scheme scheme = BEARER;
    struct slice token;
    unsigned secret;

    (void)now_ms;
    if (proof_accepts(keyring, BEARER))
        proof = bearer_token(request, &token, err);
    if (proof == PROOF_MISSING && proof_accepts(keyring, TOKEN_HEADER)) {
        scheme = TOKEN_HEADER;
        proof = proof_header(request, "x-openclaw-token", &token, err);
    }
    if (proof == PROOF_OK)
        proof = bearer_check(keyring, token, &secret, err);
    if (proof == PROOF_OK)
        *proven = (struct proven){.secret = secret, .scheme = scheme};
    return proof;
}

static bool decode(const struct request *request, struct wake *wake, struct err *err)
{
    return text_decode(request, &shape, wake, err);
}

/* What the config adds comes before our own defaults, so that it wins over them, but never over
 * the text. */
static json_t *hook_body(const struct trigger_speech *speech, json_t *text)
{
    const bool agent = speech->variant == HOOK_AGENT;
    json_t *body = json_object();
    json_t *defaults = agent ? json_pack("{s:s, s:b}", "name", "AgentChat", "deliver", 0)
                             : json_pack("{s:s}", "mode", "now");

    json_object_set_new(body, agent ? "message" : "text", text);
    outgoing_merge(body, speech->fields);
    outgoing_merge(body, defaults);
    json_decref(defaults);
    return body;
}

static bool frame(const struct wake *wake, const struct trigger_speech *speech, struct slice key,
                  int64_t now_ms, struct outgoing *out, struct err *err)
{
    (void)now_ms;
    json_t *text = text_compose(wake, speech, BODY_BYTES, err);
    if (!text)
        return false;
    if (speech->scheme == TOKEN_HEADER)
        outgoing_header(out, "x-openclaw-token", speech->secret->text);
    else
        outgoing_bearer(out, speech->secret);
    if (speech->variant == HOOK_AGENT)
        outgoing_header(out, "Idempotency-Key", key);
    if (!outgoing_json(out, hook_body(speech, text), err))
        return false;
    if (out->body.len > BODY_BYTES)
        return err_set(err, "the body is longer than OpenClaw's %d bytes", BODY_BYTES);
    return true;
}

/* A 502 of its own says {"ok":false,...} and came before the run was admitted. */
static void judge(unsigned status, struct slice body, const struct trigger_speech *speech,
                  struct verdict *verdict)
{
    judge_status(status, rules, variants[speech->variant].idempotent, verdict);
    json_t *answer = judge_body(body);
    const bool denied = json_is_false(json_object_get(answer, "ok"));
    if (status == 502 && denied)
        verdict->code = OUTCOME_UNAVAILABLE;
    if (verdict->code == OUTCOME_ACCEPTED && denied) {
        verdict->code = OUTCOME_REFUSED;
        judge_add(verdict, "but ok is false");
    }
    if (verdict->code == OUTCOME_ACCEPTED) {
        judge_run(verdict, judge_word(answer, "runId"));
        verdict->duplicate = strcmp(judge_word(answer, "eventOutcome"), "coalesced") == 0;
    }
    json_decref(answer);
}

const struct dialect dialect_openclaw = {
    .name = "openclaw",
    .schemes = schemes,
    .variants = variants,
    .variant_count = sizeof(variants) / sizeof(variants[0]),
    .carries_text = true,
    .sends_token = true,
    .takes_fields = true,
    .accepted_status = 200,
    .accepted_body = "{\"ok\":true,\"runId\":\"%s\"}",
    .secret_fits = bearer_secret_fits,
    .verify = verify,
    .decode = decode,
    .frame = frame,
    .judge = judge,
};
