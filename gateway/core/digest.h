/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest: the cryptography of the dialects: HMAC-SHA256, Ed25519, hashes, random bytes, and the
 * only comparisons of secrets. With the stream, the only file that knows OpenSSL.
 */
#ifndef WAKEGATE_CORE_DIGEST_H
#define WAKEGATE_CORE_DIGEST_H

#include "gateway/core/slice.h"

enum { DIGEST_BYTES = 32, SHA1_BYTES = 20, ED25519_KEY_BYTES = 32, ED25519_SIGNATURE_BYTES = 64 };

/* A key whose schedule was computed once; each use starts from a copy of it. Not empty. */
struct hmac_key;
struct hmac_key *hmac_key_new(struct slice secret);
void hmac_key_free(struct hmac_key *key);
/* Over the concatenation of `parts`. */
void hmac_sha256(struct hmac_key *key, const struct slice *parts, size_t count,
                 unsigned char digest[static DIGEST_BYTES]);

/* Ed25519 (RFC 8032). A private key is the 32-byte seed; it can verify too. */
struct ed25519_key;
struct ed25519_key *ed25519_public_new(const unsigned char key[static ED25519_KEY_BYTES]);
struct ed25519_key *ed25519_private_new(const unsigned char seed[static ED25519_KEY_BYTES]);
void ed25519_key_free(struct ed25519_key *key);
bool ed25519_verify(const struct ed25519_key *key, struct slice message,
                    const unsigned char signature[static ED25519_SIGNATURE_BYTES]);
void ed25519_sign(const struct ed25519_key *key, struct slice message,
                  unsigned char signature[static ED25519_SIGNATURE_BYTES]);

void sha256(struct slice bytes, unsigned char digest[static DIGEST_BYTES]);
/* Proves nothing any more; the WebSocket handshake wants it. */
void sha1(struct slice bytes, unsigned char digest[static SHA1_BYTES]);
void random_bytes(unsigned char *bytes, size_t len);

/* Constant time in the contents; the second also in the lengths (both sides are hashed first). */
bool digest_equal(const unsigned char *a, const unsigned char *b, size_t len);
bool secret_equal(struct slice a, struct slice b);

/* Overwrites memory that held a secret. */
void digest_wipe(void *memory, size_t len);

/* "OpenSSL 3.0.19 ..." */
const char *digest_library(void);

#endif
