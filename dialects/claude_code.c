/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claude-code: the fire endpoint of a Claude Code routine: a text under the routine's bearer token.
 *
 * The runtime has no idempotency at all: each accepted request is one more session. Its 200 means
 * that the session was created, not that it did anything.
 */
#include <string.h>

#include "dialects/bearer.h"
#include "dialects/judge.h"
#include "dialects/outgoing.h"
#include "dialects/text.h"

enum { TEXT_CHARACTERS = 65536 };

static const struct variant variants[] = {{.idempotent = false}};
static const struct text_shape shape = {.member = {"text"}};

static const struct judge_rule rules[] = {
    {.status = 400, .code = OUTCOME_REFUSED},     {.status = 401, .code = OUTCOME_REFUSED},
    {.status = 403, .code = OUTCOME_REFUSED},     {.status = 404, .code = OUTCOME_REFUSED},
    {.status = 429, .code = OUTCOME_UNAVAILABLE}, {.status = 500, .code = OUTCOME_UNAVAILABLE},
    {.status = 503, .code = OUTCOME_UNAVAILABLE}, {.status = 0},
};

static bool decode(const struct request *request, struct wake *wake, struct err *err)
{
    return text_decode(request, &shape, wake, err);
}

static bool frame(const struct wake *wake, const struct trigger_speech *speech, struct slice key,
                  int64_t now_ms, struct outgoing *out, struct err *err)
{
    (void)key;
    (void)now_ms;
    json_t *text = text_compose(wake, speech, TEXT_CHARACTERS, err);
    if (!text)
        return false;
    json_t *body = json_object();
    json_object_set_new(body, "text", text);
    outgoing_bearer(out, speech->secret);
    outgoing_header(out, "anthropic-beta", SLICE("experimental-cc-routine-2026-04-01"));
    outgoing_header(out, "anthropic-version", SLICE("2023-06-01"));
    return outgoing_json(out, body, err);
}

static bool says_paused(json_t *error)
{
    const char *message = json_string_value(json_object_get(error, "message"));

    return message && strcasestr(message, "paused");
}

static void judge(unsigned status, struct slice body, const struct trigger_speech *speech,
                  struct verdict *verdict)
{
    (void)speech;
    judge_status(status, rules, false, verdict);
    json_t *answer = judge_body(body);
    json_t *error = json_object_get(answer, "error");
    if (verdict->code == OUTCOME_ACCEPTED)
        judge_run(verdict, judge_word(answer, "claude_code_session_id"));
    else
        judge_add(verdict, judge_word(error, "type"));
    if (status == 400 && says_paused(error))
        judge_add(verdict, "(the routine is paused)");
    json_decref(answer);
}

const struct dialect dialect_claude_code = {
    .name = "claude-code",
    .schemes = bearer_schemes,
    .variants = variants,
    .variant_count = 1,
    .carries_text = true,
    .sends_token = true,
    .accepted_status = 200,
    .accepted_body = "{\"type\":\"routine_fire\",\"claude_code_session_id\":\"%s\"}",
    .secret_fits = bearer_secret_fits,
    .verify = bearer_verify,
    .decode = decode,
    .frame = frame,
    .judge = judge,
};
