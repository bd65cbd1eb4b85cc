/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenSSL looks an algorithm up by name at a price above that of the MAC itself, so each is fetched
 * once and kept for the life of the process. A key holds a context whose schedule is done; each use
 * winds it back, which is quicker than copying it. A failure of the library on sound arguments
 * means that it has no memory or no such algorithm: that ends the process.
 */
#include "gateway/core/digest.h"

#include <assert.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>

#include "gateway/core/buf.h"

struct hmac_key {
    EVP_MAC_CTX *context;
};

struct ed25519_key {
    EVP_PKEY *pkey;
};

static void must(bool worked)
{
    if (worked)
        return;
    fputs("wakegate: the cryptographic library failed\n", stderr);
    abort();
}

static const unsigned char *bytes_of(struct slice s)
{
    return (const unsigned char *)s.data;
}

static EVP_MAC *hmac(void)
{
    static EVP_MAC *fetched;

    if (!fetched) {
        fetched = EVP_MAC_fetch(NULL, "HMAC", NULL);
        must(fetched != NULL);
    }
    return fetched;
}

static const EVP_MD *sha256_algorithm(void)
{
    static EVP_MD *fetched;

    if (!fetched) {
        fetched = EVP_MD_fetch(NULL, "SHA256", NULL);
        must(fetched != NULL);
    }
    return fetched;
}

struct hmac_key *hmac_key_new(struct slice secret)
{
    struct hmac_key *key = mem_new(sizeof(*key));
    char digest[] = "SHA256";
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };

    assert(secret.len > 0);
    key->context = EVP_MAC_CTX_new(hmac());
    must(key->context && EVP_MAC_init(key->context, bytes_of(secret), secret.len, params) == 1);
    return key;
}

void hmac_key_free(struct hmac_key *key)
{
    if (!key)
        return;
    EVP_MAC_CTX_free(key->context); /* wipes the key */
    free(key);
}

void hmac_sha256(struct hmac_key *key, const struct slice *parts, size_t count,
                 unsigned char digest[static DIGEST_BYTES])
{
    size_t len = 0;
    bool fine = EVP_MAC_init(key->context, NULL, 0, NULL) == 1;

    for (size_t i = 0; fine && i < count; i++)
        fine = parts[i].len == 0 ||
               EVP_MAC_update(key->context, bytes_of(parts[i]), parts[i].len) == 1;
    must(fine && EVP_MAC_final(key->context, digest, &len, DIGEST_BYTES) == 1 &&
         len == DIGEST_BYTES);
}

static struct ed25519_key *ed25519_key_new(EVP_PKEY *pkey)
{
    struct ed25519_key *key = mem_new(sizeof(*key));

    must(pkey != NULL);
    key->pkey = pkey;
    return key;
}

struct ed25519_key *ed25519_public_new(const unsigned char key[static ED25519_KEY_BYTES])
{
    return ed25519_key_new(
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, ED25519_KEY_BYTES));
}

struct ed25519_key *ed25519_private_new(const unsigned char seed[static ED25519_KEY_BYTES])
{
    return ed25519_key_new(
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, ED25519_KEY_BYTES));
}

void ed25519_key_free(struct ed25519_key *key)
{
    if (!key)
        return;
    EVP_PKEY_free(key->pkey);
    free(key);
}

bool ed25519_verify(const struct ed25519_key *key, struct slice message,
                    const unsigned char signature[static ED25519_SIGNATURE_BYTES])
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();

    must(context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key->pkey) == 1);
    bool right = EVP_DigestVerify(context, signature, ED25519_SIGNATURE_BYTES, bytes_of(message),
                                  message.len) == 1;
    EVP_MD_CTX_free(context);
    return right;
}

void ed25519_sign(const struct ed25519_key *key, struct slice message,
                  unsigned char signature[static ED25519_SIGNATURE_BYTES])
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size_t len = ED25519_SIGNATURE_BYTES;

    must(context && EVP_DigestSignInit(context, NULL, NULL, NULL, key->pkey) == 1);
    must(EVP_DigestSign(context, signature, &len, bytes_of(message), message.len) == 1 &&
         len == ED25519_SIGNATURE_BYTES);
    EVP_MD_CTX_free(context);
}

void sha256(struct slice bytes, unsigned char digest[static DIGEST_BYTES])
{
    must(EVP_Digest(bytes.data, bytes.len, digest, NULL, sha256_algorithm(), NULL) == 1);
}

void sha1(struct slice bytes, unsigned char digest[static SHA1_BYTES])
{
    must(EVP_Digest(bytes.data, bytes.len, digest, NULL, EVP_sha1(), NULL) == 1);
}

void random_bytes(unsigned char *bytes, size_t len)
{
    assert(len <= INT32_MAX);
    must(RAND_bytes(bytes, (int)len) == 1);
}

bool digest_equal(const unsigned char *a, const unsigned char *b, size_t len)
{
    return CRYPTO_memcmp(a, b, len) == 0;
}

bool secret_equal(struct slice a, struct slice b)
{
    unsigned char hash_a[DIGEST_BYTES], hash_b[DIGEST_BYTES];

    sha256(a, hash_a);
    sha256(b, hash_b);
    return digest_equal(hash_a, hash_b, DIGEST_BYTES);
}

void digest_wipe(void *memory, size_t len)
{
    OPENSSL_cleanse(memory, len);
}

const char *digest_library(void)
{
    return OpenSSL_version(OPENSSL_VERSION);
}
