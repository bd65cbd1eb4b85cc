/* SPDX-License-Identifier: Apache-2.0 */
/* Known answers of RFC 4231, RFC 8032 and FIPS 180, and what the wrappers add. */
#include "tests/check.h"

#include <string.h>

#include "gateway/core/codec.h"
#include "gateway/core/digest.h"

static struct slice repeated(char *room, char byte, size_t count)
{
    memset(room, byte, count);
    return (struct slice){.data = room, .len = count};
}

static void assert_hex(const unsigned char *bytes, size_t len, const char *expected)
{
    char text[2 * ED25519_SIGNATURE_BYTES + 1];

    hex_encode(bytes, len, text);
    assert_string_equal(text, expected);
}

static void check_hmac(struct slice secret, struct slice message, const char *expected)
{
    unsigned char digest[DIGEST_BYTES];
    struct hmac_key *key = hmac_key_new(secret);

    for (size_t cut = 0; cut <= message.len; cut++) { /* the same key again and again */
        const struct slice parts[] = {slice_first(message, cut), slice_from_at(message, cut)};
        hmac_sha256(key, parts, 2, digest);
        assert_hex(digest, sizeof(digest), expected);
    }
    hmac_key_free(key);
}

static void test_hmac(void **state)
{
    char key[131], data[50];

    (void)state;
    check_hmac(repeated(key, 0x0b, 20), SLICE("Hi There"),
               "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    check_hmac(SLICE("Jefe"), SLICE("what do ya want for nothing?"),
               "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    check_hmac(repeated(key, (char)0xaa, 20), repeated(data, (char)0xdd, 50),
               "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    check_hmac(repeated(key, (char)0xaa, 131),
               SLICE("Test Using Larger Than Block-Size Key - Hash Key First"),
               "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void test_hmac_keys_are_apart(void **state)
{
    unsigned char first[DIGEST_BYTES], second[DIGEST_BYTES], again[DIGEST_BYTES];
    struct hmac_key *a = hmac_key_new(SLICE("a")), *b = hmac_key_new(SLICE("b"));
    const struct slice message = SLICE("same");

    (void)state;
    hmac_sha256(a, &message, 1, first);
    hmac_sha256(b, &message, 1, second);
    hmac_sha256(a, &message, 1, again);
    assert_memory_equal(first, again, DIGEST_BYTES);
    assert_memory_not_equal(first, second, DIGEST_BYTES);
    hmac_sha256(a, NULL, 0, first); /* nothing at all is a message too */
    hmac_sha256(a, &(struct slice){0}, 1, again);
    assert_memory_equal(first, again, DIGEST_BYTES);
    hmac_key_free(a);
    hmac_key_free(b);
    hmac_key_free(NULL);
}

static void test_sha256(void **state)
{
    unsigned char digest[DIGEST_BYTES];

    (void)state;
    sha256(SLICE("abc"), digest);
    assert_hex(digest, sizeof(digest),
               "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256((struct slice){0}, digest);
    assert_hex(digest, sizeof(digest),
               "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void test_sha1(void **state)
{
    unsigned char digest[SHA1_BYTES];

    (void)state;
    sha1(SLICE("abc"), digest);
    assert_hex(digest, sizeof(digest), "a9993e364706816aba3e25717850c26c9cd0d89d");
    sha1((struct slice){0}, digest);
    assert_hex(digest, sizeof(digest), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

static void check_ed25519(const char *seed_hex, const char *public_hex, struct slice message,
                          const char *signature_hex)
{
    unsigned char seed[ED25519_KEY_BYTES], point[ED25519_KEY_BYTES];
    unsigned char signature[ED25519_SIGNATURE_BYTES];

    assert_true(hex_decode(slice_from(seed_hex), seed, sizeof(seed)));
    assert_true(hex_decode(slice_from(public_hex), point, sizeof(point)));
    struct ed25519_key *private = ed25519_private_new(seed), *public = ed25519_public_new(point);
    ed25519_sign(private, message, signature);
    assert_hex(signature, sizeof(signature), signature_hex);
    assert_true(ed25519_verify(public, message, signature));
    assert_true(ed25519_verify(private, message, signature));
    assert_false(ed25519_verify(public, SLICE("another"), signature));
    signature[40] ^= 1;
    assert_false(ed25519_verify(public, message, signature));
    ed25519_key_free(private);
    ed25519_key_free(public);
}

static void test_ed25519(void **state)
{
    (void)state;
    check_ed25519("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                  "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
                  (struct slice){0},
                  "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                  "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b");
    check_ed25519("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                  "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", SLICE("\x72"),
                  "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                  "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
}

static void test_ed25519_odd_keys(void **state)
{
    unsigned char point[ED25519_KEY_BYTES], signature[ED25519_SIGNATURE_BYTES] = {0};

    (void)state;
    memset(point, 0xff, sizeof(point)); /* no point of the curve */
    struct ed25519_key *key = ed25519_public_new(point);
    assert_false(ed25519_verify(key, SLICE("x"), signature));
    ed25519_key_free(key);
    ed25519_key_free(NULL);
}

static void test_equal(void **state)
{
    const unsigned char a[] = {1, 2, 3}, b[] = {1, 2, 4};

    (void)state;
    assert_true(digest_equal(a, a, 3));
    assert_true(digest_equal(a, b, 2));
    assert_false(digest_equal(a, b, 3));
    assert_true(secret_equal(SLICE("token"), SLICE("token")));
    assert_false(secret_equal(SLICE("token"), SLICE("Token")));
    assert_false(secret_equal(SLICE("token"), SLICE("token2")));
    assert_false(secret_equal(SLICE("token"), SLICE("token\0")));
    assert_false(secret_equal(SLICE("token"), (struct slice){0}));
}

static void test_random_and_wipe(void **state)
{
    unsigned char a[32] = {0}, b[32] = {0}, zero[32] = {0};

    (void)state;
    random_bytes(a, sizeof(a));
    random_bytes(b, sizeof(b));
    assert_memory_not_equal(a, b, sizeof(a));
    assert_memory_not_equal(a, zero, sizeof(a));
    digest_wipe(a, sizeof(a));
    assert_memory_equal(a, zero, sizeof(a));
    assert_memory_equal(digest_library(), "OpenSSL 3", 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hmac),    cmocka_unit_test(test_hmac_keys_are_apart),
        cmocka_unit_test(test_sha256),  cmocka_unit_test(test_sha1),
        cmocka_unit_test(test_ed25519), cmocka_unit_test(test_ed25519_odd_keys),
        cmocka_unit_test(test_equal),   cmocka_unit_test(test_random_and_wipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
