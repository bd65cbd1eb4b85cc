/* SPDX-License-Identifier: Apache-2.0 */
#include "dialects/mac.h"

#include "dialects/proof.h"
#include "gateway/core/codec.h"

struct hmac_key *mac_key_of(const struct secret *secret, enum mac_key which)
{
    switch (which) {
    case MAC_RAW:
        return secret->raw;
    case MAC_DECODED:
        return secret->decoded;
    case MAC_PREFIXED:
        return secret->prefixed ? secret->decoded : secret->raw;
    }
    return NULL;
}

bool mac_find(const struct keyring *keyring, enum mac_key which, const struct slice *parts,
              size_t part_count, const unsigned char (*digests)[DIGEST_BYTES], size_t digest_count,
              unsigned *secret)
{
    unsigned char expected[DIGEST_BYTES];

    for (size_t i = 0; i < keyring->count && digest_count > 0; i++) {
        struct hmac_key *key = mac_key_of(&keyring->secrets[i], which);
        if (!key)
            continue;
        hmac_sha256(key, parts, part_count, expected);
        for (size_t j = 0; j < digest_count; j++) {
            if (!digest_equal(expected, digests[j], DIGEST_BYTES))
                continue;
            *secret = (unsigned)i;
            return true;
        }
    }
    return false;
}

/* What is signed: the body, or timestamp, dot and body. `parts` has room for three. */
static size_t signed_parts(struct slice timestamp, struct slice body, struct slice *parts)
{
    size_t count = 0;

    if (timestamp.len > 0) {
        parts[count++] = timestamp;
        parts[count++] = SLICE(".");
    }
    parts[count++] = body;
    return count;
}

enum proof mac_check(const struct keyring *keyring, struct slice hex, struct slice timestamp,
                     struct slice body, unsigned *secret, struct err *err)
{
    unsigned char digest[1][DIGEST_BYTES];
    struct slice parts[3];

    if (!hex_decode(hex, digest[0], DIGEST_BYTES))
        return proof_refuse(PROOF_MALFORMED, err, "the signature is not 64 hex digits");
    size_t count = signed_parts(timestamp, body, parts);
    if (!mac_find(keyring, MAC_RAW, parts, count, (const unsigned char(*)[DIGEST_BYTES])digest, 1,
                  secret))
        return proof_refuse(PROOF_WRONG, err, "no secret of the route gives this signature");
    return PROOF_OK;
}

void mac_write(const struct secret *secret, struct slice timestamp, struct slice body,
               char hex[static MAC_HEX_SIZE])
{
    unsigned char digest[DIGEST_BYTES];
    struct slice parts[3];

    hmac_sha256(secret->raw, parts, signed_parts(timestamp, body, parts), digest);
    hex_encode(digest, DIGEST_BYTES, hex);
}
