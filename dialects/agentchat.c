/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agentchat: AgentChat's own framing: payload v1 under an HMAC of the route's secret.
 *
 * The signature stands under either of two header names, and in either of two forms:
 *
 *     t=<unix seconds>,v1=<hex of HMAC-SHA256(secret, "<t>." body)>
 *     <hex of HMAC-SHA256(secret, body)>
 *
 * Both names with one value are one signature; with two values they are nobody's. The first form
 * has exactly one t and one v1, and other members count for nothing. The second form never grows
 * old, so it is marked replayable.
 */
#include "dialects/judge.h"
#include "dialects/mac.h"
#include "dialects/outgoing.h"
#include "dialects/payload.h"
#include "dialects/proof.h"

#include <inttypes.h>
#include <stdio.h>

enum scheme { TIMESTAMPED, BARE };

static const char *const schemes[] = {[TIMESTAMPED] = "timestamped", [BARE] = "bare", NULL};
static const struct variant variants[] = {{.idempotent = true}};
static const char *const names[] = {"Agentchat-Signature", "X-AgentChat-Signature"};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

static bool secret_fits(const struct secret *secret, struct err *err)
{
    (void)secret;
    (void)err;
    return true;
}

static enum proof signature(const struct request *request, struct slice *value, struct err *err)
{
    struct slice found[NAMES] = {{0}};

    for (size_t i = 0; i < NAMES; i++)
        if (proof_header(request, names[i], &found[i], err) == PROOF_MALFORMED)
            return PROOF_MALFORMED;
    if (found[0].len == 0 && found[1].len == 0)
        return proof_refuse(PROOF_MISSING, err, "no %s", names[0]);
    if (found[0].len > 0 && found[1].len > 0 && !slice_eq(found[0], found[1]))
        return proof_refuse(PROOF_MALFORMED, err, "%s and %s differ", names[0], names[1]);
    *value = found[0].len > 0 ? found[0] : found[1];
    return PROOF_OK;
}

/* Takes "t=...,v1=..." apart. false: not that, or a member twice. */
static bool members(struct slice value, struct slice *timestamp, struct slice *hex)
{
    struct slice member, name, text;
    size_t count = 0;

    *timestamp = *hex = (struct slice){0};
    while (value.len > 0) {
        slice_cut(value, ',', &member, &value);
        if (++count > LIMIT_SIGNATURES || !slice_cut(slice_trim(member), '=', &name, &text))
            return false;
        struct slice *place = slice_eq(name, SLICE("t"))    ? timestamp
                              : slice_eq(name, SLICE("v1")) ? hex
                                                            : NULL;
        if (place && (place->len > 0 || text.len == 0))
            return false;
        if (place)
            *place = text;
    }
    return timestamp->len > 0 && hex->len > 0;
}

static enum proof verify(const struct request *request, const struct keyring *keyring,
                         int64_t now_ms, struct proven *proven, struct err *err)
{
    struct slice value, timestamp = {0}, hex, ignored;
    unsigned secret;

    enum proof proof = signature(request, &value, err);
    if (proof != PROOF_OK)
        return proof;
    const enum scheme scheme = slice_cut(value, '=', &hex, &ignored) ? TIMESTAMPED : BARE;
    if (!proof_accepts(keyring, scheme))
        return proof_refuse(PROOF_MISSING, err, "the route does not accept %s signatures",
                            schemes[scheme]);
    if (scheme == TIMESTAMPED && !members(value, &timestamp, &hex))
        return proof_refuse(PROOF_MALFORMED, err, "the signature is not one t= and one v1=");
    if (scheme == TIMESTAMPED)
        proof = proof_fresh(timestamp, keyring, now_ms, err);
    if (proof == PROOF_OK)
        proof = mac_check(keyring, hex, timestamp, request->body, &secret, err);
    if (proof == PROOF_OK)
        *proven = (struct proven){.secret = secret, .scheme = scheme, .replayable = scheme == BARE};
    return proof;
}

static bool frame(const struct wake *wake, const struct trigger_speech *speech, struct slice key,
                  int64_t now_ms, struct outgoing *out, struct err *err)
{
    char timestamp[32], hex[MAC_HEX_SIZE], value[128];

    (void)key; /* the receiver dedupes on the payload's delivery_id */
    if (!payload_write(wake, speech, now_ms, out, err))
        return false;
    const struct slice body = buf_slice(&out->body);
    if (speech->scheme == BARE) {
        mac_write(speech->secret, (struct slice){0}, body, hex);
        snprintf(value, sizeof(value), "%s", hex);
    } else {
        snprintf(timestamp, sizeof(timestamp), "%" PRId64, now_ms / 1000);
        mac_write(speech->secret, slice_from(timestamp), body, hex);
        snprintf(value, sizeof(value), "t=%s,v1=%s", timestamp, hex);
    }
    for (size_t i = 0; i < NAMES; i++)
        outgoing_header(out, names[i], slice_from(value));
    return outgoing_end(out, err);
}

static void judge(unsigned status, struct slice body, const struct trigger_speech *speech,
                  struct verdict *verdict)
{
    (void)speech;
    judge_receiver(status, body, true, verdict);
}

const struct dialect dialect_agentchat = {
    .name = "agentchat",
    .schemes = schemes,
    .variants = variants,
    .variant_count = 1,
    .accepted_status = 200,
    .accepted_body = "{\"status\":\"relayed\",\"run\":\"%s\"}",
    .secret_fits = secret_fits,
    .verify = verify,
    .decode = payload_decode,
    .frame = frame,
    .judge = judge,
};
