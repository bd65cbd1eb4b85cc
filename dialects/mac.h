/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mac: HMAC-SHA256 over the raw body, alone or with what stands before it, as hex.
 *
 * Which key of a secret is used is the dialect's rule. The digest of a request is decoded to bytes
 * and compared in constant time. The secrets are tried in order; which of them matched is no
 * secret.
 */
#ifndef WAKEGATE_DIALECTS_MAC_H
#define WAKEGATE_DIALECTS_MAC_H

#include "dialects/dialect.h"

enum mac_key {
    MAC_RAW,      /* the text's own bytes */
    MAC_DECODED,  /* the decoded key; a secret without one proves nothing */
    MAC_PREFIXED, /* the decoded key of a "whsec_" secret, the text's own bytes of any other */
};

enum { MAC_HEX_SIZE = 2 * DIGEST_BYTES + 1 };

/* NULL: this secret has no such key. */
struct hmac_key *mac_key_of(const struct secret *secret, enum mac_key which);

/* Does one of the digests prove `parts` under one of the secrets? Then `*secret` is its index. */
bool mac_find(const struct keyring *keyring, enum mac_key which, const struct slice *parts,
              size_t part_count, const unsigned char (*digests)[DIGEST_BYTES], size_t digest_count,
              unsigned *secret);

/* Checks a digest in hex over the body, or, where `timestamp` is not empty, over
 * "<timestamp>.<body>". PROOF_OK with `*secret`, PROOF_MALFORMED or PROOF_WRONG. */
enum proof mac_check(const struct keyring *keyring, struct slice hex, struct slice timestamp,
                     struct slice body, unsigned *secret, struct err *err);

/* The same, spoken: with the raw key. */
void mac_write(const struct secret *secret, struct slice timestamp, struct slice body,
               char hex[static MAC_HEX_SIZE]);

#endif
