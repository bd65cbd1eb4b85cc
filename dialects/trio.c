/* SPDX-License-Identifier: Apache-2.0 */
#include "dialects/trio.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dialects/outgoing.h"
#include "dialects/proof.h"
#include "gateway/core/codec.h"

enum { ID_BYTES = 256, SIGNED_PARTS = 5 };

struct signatures { /* what the list offers, decoded */
    unsigned char mac[LIMIT_SIGNATURES][DIGEST_BYTES];
    size_t mac_count;
    unsigned char ed25519[LIMIT_SIGNATURES][ED25519_SIGNATURE_BYTES];
    size_t ed25519_count;
};

const struct trio_names trio_webhook = {"webhook-id", "webhook-timestamp", "webhook-signature"};
const struct trio_names trio_svix = {"svix-id", "svix-timestamp", "svix-signature"};

enum proof trio_read(const struct request *request, const struct trio_names *names,
                     struct trio *trio, struct err *err)
{
    const char *const name[] = {names->id, names->timestamp, names->signature};
    struct slice *const value[] = {&trio->id, &trio->timestamp, &trio->signature};
    enum proof worst = PROOF_OK;

    *trio = (struct trio){0};
    for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
        struct err why;
        enum proof proof = proof_header(request, name[i], value[i], &why);
        if (proof != PROOF_MISSING)
            trio->present++;
        if (proof > worst)
            worst = proof_refuse(proof, err, "%s", why.text);
    }
    return worst;
}

static void signed_parts(const struct trio *trio, struct slice body,
                         struct slice parts[static SIGNED_PARTS])
{
    parts[0] = trio->id;
    parts[1] = SLICE(".");
    parts[2] = trio->timestamp;
    parts[3] = SLICE(".");
    parts[4] = body;
}

/* One piece of memory with all of it, since Ed25519 signs a whole message. */
static void signed_message(const struct trio *trio, struct slice body, struct buf *message)
{
    struct slice parts[SIGNED_PARTS];

    signed_parts(trio, body, parts);
    for (size_t i = 0; i < SIGNED_PARTS; i++)
        buf_append(message, parts[i]);
}

static size_t message_size(const struct trio *trio, struct slice body)
{
    return trio->id.len + trio->timestamp.len + body.len + 2;
}

/* false: more entries than are looked at. */
static bool signatures_read(struct slice list, unsigned versions, struct signatures *found)
{
    struct slice entry, version, text;
    size_t entries = 0, len;

    while (list.len > 0) {
        slice_cut(list, ' ', &entry, &list);
        if (entry.len == 0)
            continue;
        if (++entries > LIMIT_SIGNATURES)
            return false;
        slice_cut(entry, ',', &version, &text);
        unsigned char *mac = found->mac[found->mac_count];
        unsigned char *ed25519 = found->ed25519[found->ed25519_count];
        if (slice_eq(version, SLICE("v1")) && versions >> TRIO_V1 & 1u &&
            base64_decode(text, mac, DIGEST_BYTES, &len) && len == DIGEST_BYTES)
            found->mac_count++;
        else if (slice_eq(version, SLICE("v1a")) && versions >> TRIO_V1A & 1u &&
                 base64_decode(text, ed25519, ED25519_SIGNATURE_BYTES, &len) &&
                 len == ED25519_SIGNATURE_BYTES)
            found->ed25519_count++;
    }
    return true;
}

static bool ed25519_find(const struct keyring *keyring, struct slice message,
                         const struct signatures *found, unsigned *secret)
{
    for (size_t i = 0; i < keyring->count; i++) {
        const struct ed25519_key *key = keyring->secrets[i].ed25519;
        for (size_t j = 0; key && j < found->ed25519_count; j++) {
            if (!ed25519_verify(key, message, found->ed25519[j]))
                continue;
            *secret = (unsigned)i;
            return true;
        }
    }
    return false;
}

static bool find(const struct trio *trio, struct slice body, const struct keyring *keyring,
                 enum mac_key which, const struct signatures *found, struct proven *proven)
{
    struct slice parts[SIGNED_PARTS];
    unsigned secret = 0;

    signed_parts(trio, body, parts);
    if (mac_find(keyring, which, parts, SIGNED_PARTS,
                 (const unsigned char(*)[DIGEST_BYTES])found->mac, found->mac_count, &secret)) {
        *proven = (struct proven){.secret = secret, .scheme = TRIO_V1};
        return true;
    }
    if (found->ed25519_count == 0)
        return false;
    struct buf message = BUF_INIT(message_size(trio, body));
    signed_message(trio, body, &message);
    bool right = ed25519_find(keyring, buf_slice(&message), found, &secret);
    buf_release(&message);
    if (right)
        *proven = (struct proven){.secret = secret, .scheme = TRIO_V1A};
    return right;
}

enum proof trio_verify(const struct trio *trio, struct slice body, const struct keyring *keyring,
                       enum mac_key which, unsigned versions, int64_t now_ms, struct proven *proven,
                       struct err *err)
{
    struct signatures found = {.mac_count = 0};

    if (trio->id.len > ID_BYTES || !slice_is_visible(trio->id) ||
        memchr(trio->id.data, '.', trio->id.len))
        return proof_refuse(PROOF_MALFORMED, err, "the id is too long, or has a dot or a blank");
    enum proof proof = proof_fresh(trio->timestamp, keyring, now_ms, err);
    if (proof != PROOF_OK)
        return proof;
    if (!signatures_read(trio->signature, versions, &found))
        return proof_refuse(PROOF_MALFORMED, err, "more than %d signatures", LIMIT_SIGNATURES);
    if (found.mac_count + found.ed25519_count == 0)
        return proof_refuse(PROOF_WRONG, err, "no signature of a version that is accepted");
    if (!find(trio, body, keyring, which, &found, proven))
        return proof_refuse(PROOF_WRONG, err, "no secret of the route gives such a signature");
    return PROOF_OK;
}

/* Writes "v1,<base64>" or "v1a,<base64>". false: the secret has no key for it. */
static bool sign(const struct trio *trio, struct slice body, const struct secret *secret,
                 enum mac_key which, char *text, size_t size)
{
    unsigned char signature[ED25519_SIGNATURE_BYTES];
    char base64[BASE64_SIZE(ED25519_SIGNATURE_BYTES)];
    struct slice parts[SIGNED_PARTS];

    if (which == MAC_DECODED && secret->ed25519_private) {
        struct buf message = BUF_INIT(message_size(trio, body));
        signed_message(trio, body, &message);
        ed25519_sign(secret->ed25519, buf_slice(&message), signature);
        buf_release(&message);
        base64_encode(signature, ED25519_SIGNATURE_BYTES, base64);
        snprintf(text, size, "v1a,%s", base64);
        return true;
    }
    struct hmac_key *key = mac_key_of(secret, which);
    if (!key)
        return false;
    signed_parts(trio, body, parts);
    hmac_sha256(key, parts, SIGNED_PARTS, signature);
    base64_encode(signature, DIGEST_BYTES, base64);
    snprintf(text, size, "v1,%s", base64);
    return true;
}

bool trio_write(struct outgoing *out, const struct trio_names *names, struct slice id,
                const struct secret *secret, enum mac_key which, int64_t now_ms, struct err *err)
{
    char timestamp[32], signature[128];

    snprintf(timestamp, sizeof(timestamp), "%" PRId64, now_ms / 1000);
    const struct trio trio = {.id = id, .timestamp = slice_from(timestamp)};
    if (!sign(&trio, buf_slice(&out->body), secret, which, signature, sizeof(signature)))
        return err_set(err, "this secret cannot sign: it is a public key, or not base64");
    outgoing_header(out, names->id, id);
    outgoing_header(out, names->timestamp, trio.timestamp);
    outgoing_header(out, names->signature, slice_from(signature));
    return true;
}
