/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bearer-json: payload v1 under a bearer token, for triggers that take any JSON object and whose
 * vendors document no more than that (Grok Bot and Cursor automations among them).
 *
 * Nothing is known of their idempotency, so none is assumed.
 */
#include "dialects/bearer.h"
#include "dialects/judge.h"
#include "dialects/outgoing.h"
#include "dialects/payload.h"

static const struct variant variants[] = {{.idempotent = false}};

static bool frame(const struct wake *wake, const struct trigger_speech *speech, struct slice key,
                  int64_t now_ms, struct outgoing *out, struct err *err)
{
    (void)key;
    outgoing_bearer(out, speech->secret);
    if (json_object_size(speech->fields) == 0)
        return payload_write(wake, speech, now_ms, out, err);
    json_t *body = payload_object(wake, speech, now_ms, err);
    outgoing_merge(body, speech->fields);
    return outgoing_json(out, body, err);
}

static void judge(unsigned status, struct slice body, const struct trigger_speech *speech,
                  struct verdict *verdict)
{
    (void)speech;
    judge_receiver(status, body, false, verdict);
}

const struct dialect dialect_bearer_json = {
    .name = "bearer-json",
    .schemes = bearer_schemes,
    .variants = variants,
    .variant_count = 1,
    .sends_token = true,
    .takes_fields = true,
    .accepted_status = 200,
    .accepted_body = "{\"status\":\"started\",\"run\":\"%s\"}",
    .secret_fits = bearer_secret_fits,
    .verify = bearer_verify,
    .decode = payload_decode,
    .frame = frame,
    .judge = judge,
};
