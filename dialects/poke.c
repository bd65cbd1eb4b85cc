/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poke: Poke's inbound API: a text under an API key or a webhook's own token.
 *
 * Two triggers. `message` takes the text. `webhook` takes any object and shows it to the agent
 * whole, so the payload's fields stand beside the text there. Neither knows idempotency, and each
 * accepted request reaches a person.
 */
#include "dialects/bearer.h"
#include "dialects/judge.h"
#include "dialects/outgoing.h"
#include "dialects/payload.h"
#include "dialects/text.h"

enum entry { ENTRY_MESSAGE, ENTRY_WEBHOOK };

static const struct variant variants[] = {
    [ENTRY_MESSAGE] = {.name = "message", .path = "/inbound/api-message"},
    [ENTRY_WEBHOOK] = {.name = "webhook", .path = "/inbound/webhook"},
};
static const struct text_shape shape = {.member = {"message"}};

/* Keys come in two generations that are valid at different addresses. */
static const struct judge_rule rules[] = {
    {.status = 401,
     .code = OUTCOME_REFUSED,
     .meaning = "the key is not valid here; old pk_ keys and new keys have different addresses"},
    {.status = 403,
     .code = OUTCOME_REFUSED,
     .meaning = "the key may not do this; old pk_ keys and new keys have different addresses"},
    {.status = 429, .code = OUTCOME_UNAVAILABLE, .meaning = "rate limited"},
    {.status = 0},
};

static bool decode(const struct request *request, struct wake *wake, struct err *err)
{
    return text_decode(request, &shape, wake, err);
}

static bool frame(const struct wake *wake, const struct trigger_speech *speech, struct slice key,
                  int64_t now_ms, struct outgoing *out, struct err *err)
{
    (void)key;
    json_t *text = text_compose(wake, speech, LIMIT_OUT_BODY_BYTES, err);
    if (!text)
        return false;
    json_t *body = speech->variant == ENTRY_WEBHOOK ? payload_object(wake, speech, now_ms, err)
                                                    : json_object();
    json_object_set_new(body, "message", text); /* drops the text when there is no body */
    outgoing_merge(body, speech->fields);
    outgoing_bearer(out, speech->secret);
    return outgoing_json(out, body, err);
}

static void judge(unsigned status, struct slice body, const struct trigger_speech *speech,
                  struct verdict *verdict)
{
    (void)speech;
    judge_status(status, rules, false, verdict);
    json_t *answer = judge_body(body);
    if (verdict->code == OUTCOME_ACCEPTED && json_is_false(json_object_get(answer, "success"))) {
        verdict->code = OUTCOME_REFUSED;
        judge_add(verdict, "but success is false");
    }
    json_decref(answer);
}

const struct dialect dialect_poke = {
    .name = "poke",
    .schemes = bearer_schemes,
    .variants = variants,
    .variant_count = sizeof(variants) / sizeof(variants[0]),
    .carries_text = true,
    .sends_token = true,
    .takes_fields = true,
    .accepted_status = 200,
    .accepted_body = "{\"success\":true,\"message\":\"%s\"}",
    .secret_fits = bearer_secret_fits,
    .verify = bearer_verify,
    .decode = decode,
    .frame = frame,
    .judge = judge,
};
