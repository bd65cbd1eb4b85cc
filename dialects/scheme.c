/* SPDX-License-Identifier: Apache-2.0 */
#include "dialects/scheme.h"

#include <inttypes.h>
#include <stdio.h>

#include "dialects/bearer.h"
#include "dialects/outgoing.h"
#include "dialects/proof.h"

bool scheme_is_present(const struct scheme *scheme, const struct request *request)
{
    struct slice ignored;
    struct trio trio;

    if (scheme->header)
        return request_header(request, slice_from(scheme->header), &ignored) != HEADER_ABSENT;
    trio_read(request, scheme->trio, &trio, NULL);
    return trio.present > 0;
}

static enum proof check_mac(const struct scheme *scheme, const struct request *request,
                            const struct keyring *keyring, int64_t now_ms, unsigned *secret,
                            struct err *err)
{
    const struct slice prefix = slice_from(scheme->prefix);
    struct slice value, timestamp = {0};

    enum proof proof = proof_header(request, scheme->header, &value, err);
    if (proof == PROOF_OK && scheme->kind == SCHEME_TIMED_MAC)
        proof = proof_header(request, scheme->timestamp, &timestamp, err);
    if (proof == PROOF_OK && scheme->kind == SCHEME_TIMED_MAC)
        proof = proof_fresh(timestamp, keyring, now_ms, err);
    if (proof != PROOF_OK)
        return proof;
    if (!slice_starts(value, prefix))
        return proof_refuse(PROOF_MALFORMED, err, "%s is without %s", scheme->header,
                            scheme->prefix);
    return mac_check(keyring, slice_from_at(value, prefix.len), timestamp, request->body, secret,
                     err);
}

static enum proof check_trio(const struct scheme *scheme, const struct request *request,
                             const struct keyring *keyring, int64_t now_ms, unsigned *secret,
                             struct err *err)
{
    struct proven proven = {.secret = 0};
    struct trio trio;

    enum proof proof = trio_read(request, scheme->trio, &trio, err);
    if (proof == PROOF_OK)
        proof = trio_verify(&trio, request->body, keyring, MAC_PREFIXED, 1u << TRIO_V1, now_ms,
                            &proven, err);
    *secret = proven.secret;
    return proof;
}

static enum proof check_token(const struct scheme *scheme, const struct request *request,
                              const struct keyring *keyring, unsigned *secret, struct err *err)
{
    struct slice token;

    enum proof proof = scheme->kind == SCHEME_BEARER
                           ? bearer_token(request, &token, err)
                           : proof_header(request, scheme->header, &token, err);
    return proof == PROOF_OK ? bearer_check(keyring, token, secret, err) : proof;
}

enum proof scheme_check(const struct scheme *scheme, const struct request *request,
                        const struct keyring *keyring, int64_t now_ms, struct proven *proven,
                        struct err *err)
{
    unsigned secret = 0;
    enum proof proof;

    if (scheme->kind == SCHEME_TRIO)
        proof = check_trio(scheme, request, keyring, now_ms, &secret, err);
    else if (scheme->kind == SCHEME_TOKEN || scheme->kind == SCHEME_BEARER)
        proof = check_token(scheme, request, keyring, &secret, err);
    else
        proof = check_mac(scheme, request, keyring, now_ms, &secret, err);
    if (proof == PROOF_OK) {
        proven->secret = secret;
        proven->replayable = scheme->kind == SCHEME_MAC;
    }
    return proof;
}

static void write_mac(const struct scheme *scheme, struct outgoing *out,
                      const struct secret *secret, int64_t now_ms)
{
    char timestamp[32] = "", hex[MAC_HEX_SIZE], value[128];

    if (scheme->kind == SCHEME_TIMED_MAC) {
        snprintf(timestamp, sizeof(timestamp), "%" PRId64, now_ms / 1000);
        outgoing_header(out, scheme->timestamp, slice_from(timestamp));
    }
    mac_write(secret, slice_from(timestamp), buf_slice(&out->body), hex);
    snprintf(value, sizeof(value), "%s%s", scheme->prefix ? scheme->prefix : "", hex);
    outgoing_header(out, scheme->header, slice_from(value));
}

bool scheme_write(const struct scheme *scheme, struct outgoing *out, const struct secret *secret,
                  struct slice key, int64_t now_ms, struct err *err)
{
    switch (scheme->kind) {
    case SCHEME_TRIO:
        return trio_write(out, scheme->trio, key, secret, MAC_PREFIXED, now_ms, err);
    case SCHEME_TOKEN:
        outgoing_header(out, scheme->header, secret->text);
        return true;
    case SCHEME_BEARER:
        outgoing_bearer(out, secret);
        return true;
    case SCHEME_MAC:
    case SCHEME_TIMED_MAC:
        break;
    }
    write_mac(scheme, out, secret, now_ms);
    return true;
}
