/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standard-webhooks: payload v1 under the three headers of Standard Webhooks, or of Svix.
 *
 * The key is the base64 after "whsec_", with or without that prefix, or an Ed25519 key ("whpk_"
 * verifies, "whsk_" signs too). Headers of both families may stand there together only if they say
 * the same. The idempotency key goes out as the webhook-id; it stays the same for every try.
 */
#include "dialects/judge.h"
#include "dialects/outgoing.h"
#include "dialects/payload.h"
#include "dialects/proof.h"
#include "dialects/trio.h"

static const char *const schemes[] = {[TRIO_V1] = "v1", [TRIO_V1A] = "v1a", NULL};
static const struct variant variants[] = {{.idempotent = true}};

static bool secret_fits(const struct secret *secret, struct err *err)
{
    if (secret->decoded || secret->ed25519)
        return true;
    return err_set(err, "is no key of Standard Webhooks: base64 of 16 bytes or more, with or "
                        "without \"whsec_\", or a \"whpk_\" or \"whsk_\" key");
}

static bool same(const struct trio *a, const struct trio *b)
{
    return slice_eq(a->id, b->id) && slice_eq(a->timestamp, b->timestamp) &&
           slice_eq(a->signature, b->signature);
}

static enum proof read(const struct request *request, struct trio *trio, struct err *err)
{
    struct err why = {.text = ""};
    struct trio svix;

    const enum proof proof = trio_read(request, &trio_webhook, trio, err);
    const enum proof other = trio_read(request, &trio_svix, &svix, &why);
    if (svix.present == 0)
        return proof;
    if (trio->present > 0 && !same(trio, &svix))
        return proof_refuse(PROOF_MALFORMED, err, "webhook-* and svix-* headers that differ");
    *trio = svix;
    return proof_refuse(other, err, "%s", why.text);
}

static enum proof verify(const struct request *request, const struct keyring *keyring,
                         int64_t now_ms, struct proven *proven, struct err *err)
{
    struct trio trio;

    enum proof proof = read(request, &trio, err);
    if (proof != PROOF_OK)
        return proof;
    return trio_verify(&trio, request->body, keyring, MAC_DECODED, keyring->schemes, now_ms, proven,
                       err);
}

static bool frame(const struct wake *wake, const struct trigger_speech *speech, struct slice key,
                  int64_t now_ms, struct outgoing *out, struct err *err)
{
    if (!payload_write(wake, speech, now_ms, out, err))
        return false;
    if (!trio_write(out, &trio_webhook, key, speech->secret, MAC_DECODED, now_ms, err))
        return false;
    return outgoing_end(out, err);
}

static void judge(unsigned status, struct slice body, const struct trigger_speech *speech,
                  struct verdict *verdict)
{
    (void)speech;
    judge_receiver(status, body, true, verdict);
}

const struct dialect dialect_standard_webhooks = {
    .name = "standard-webhooks",
    .schemes = schemes,
    .variants = variants,
    .variant_count = 1,
    .reads_base64 = true,
    .accepted_status = 202,
    .accepted_body = "{\"status\":\"accepted\",\"run\":\"%s\"}",
    .secret_fits = secret_fits,
    .verify = verify,
    .decode = payload_decode,
    .frame = frame,
    .judge = judge,
};
