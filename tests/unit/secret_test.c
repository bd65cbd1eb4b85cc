/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <string.h>

#include "gateway/core/codec.h"
#include "gateway/core/limits.h"
#include "gateway/core/secret.h"

/* A key pair whose seed is the bytes 00 to 1f. */
#define SEED   "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
#define PUBLIC "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="
#define BOTH                                                                                       \
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8DoQe/884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuA=="

static void assert_mac(struct hmac_key *key, struct slice message, const char *expected)
{
    unsigned char digest[DIGEST_BYTES];
    char text[BASE64_SIZE(DIGEST_BYTES)];

    assert_non_null(key);
    hmac_sha256(key, &message, 1, digest);
    base64_encode(digest, sizeof(digest), text);
    assert_string_equal(text, expected);
}

/* The example of the Standard Webhooks libraries. */
static void test_decoded(void **state)
{
    const struct slice message =
        SLICE("msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{\"test\": 2432232314}");
    const char *const texts[] = {"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                                 "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct secret secret = {0};
        assert_true(secret_init(&secret, slice_from(texts[i]), NULL));
        assert_true(secret.prefixed == (i == 0));
        assert_mac(secret.decoded, message, "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_string_equal(secret.text.data, texts[i]);
        assert_null(secret.ed25519);
        secret_release(&secret);
        assert_null(secret.text.data);
    }
}

static void test_raw(void **state)
{
    struct secret secret = {0};

    (void)state;
    assert_true(secret_init(&secret, SLICE("Jefe"), NULL));
    assert_mac(secret.raw, SLICE("what do ya want for nothing?"),
               "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=");
    assert_null(secret.decoded); /* base64, but of 3 bytes */
    assert_false(secret.prefixed);
    secret_release(&secret);
    secret_release(&secret); /* once more is fine */
    secret_release(NULL);
}

static void test_ed25519(void **state)
{
    const char *const privates[] = {"whsk_" SEED, "whsk_" BOTH};
    unsigned char signature[ED25519_SIGNATURE_BYTES];
    struct secret public = {0};

    (void)state;
    assert_true(secret_init(&public, SLICE("whpk_" PUBLIC), NULL));
    assert_non_null(public.ed25519);
    assert_false(public.ed25519_private);
    assert_non_null(public.raw);
    assert_null(public.decoded);
    for (int i = 0; i < 2; i++) {
        struct secret private = {0};
        assert_true(secret_init(&private, slice_from(privates[i]), NULL));
        assert_true(private.ed25519_private);
        ed25519_sign(private.ed25519, SLICE("message"), signature);
        assert_true(ed25519_verify(public.ed25519, SLICE("message"), signature));
        secret_release(&private);
    }
    secret_release(&public);
}

static void test_refusals(void **state)
{
    const struct {
        struct slice text;
        const char *because;
    } wrong[] = {
        {SLICE(""), "empty"},
        {SLICE("   "), "blank"},
        {SLICE(" hunter2"), "begins or ends with a blank"},
        {SLICE("hunter2 "), "begins or ends with a blank"},
        {SLICE("hunter2\n"), "control"},
        {SLICE("hunter2\r"), "control"},
        {SLICE("hun\0ter2"), "control"},
        {SLICE("hunter2\x7f"), "control"},
        {SLICE("whsec_"), "whsec_"},
        {SLICE("whsec_hunter2"), "whsec_"},
        {SLICE("whsec_MfKQ9r8GKYqrTwjUPD8I"), "whsec_"},             /* 15 bytes */
        {SLICE("whsec_MfKQ9r8GKYqrTwjUPD8ILA"), "whsec_"},           /* 16, not padded */
        {SLICE("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS-"), "whsec_"}, /* URL alphabet */
        {SLICE("whpk_"), "whpk_"},
        {SLICE("whpk_hunter2"), "whpk_"},
        {SLICE("whpk_" BOTH), "whpk_"},
        {SLICE("whsk_"), "whsk_"},
        {SLICE("whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "whsk_"}, /* 24 bytes */
        {SLICE("whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8DoQe/"
               "884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuQ=="),
         "whsk_"}, /* the halves are of two pairs */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct secret secret = {0};
        struct err err = {0};
        if (secret_init(&secret, wrong[i].text, &err))
            fail_msg("took case %zu", i);
        assert_null(secret.text.data); /* untouched */
        assert_non_null(strstr(err.text, wrong[i].because));
        assert_null(strstr(err.text, "hunter2")); /* the rule, never the secret */
        assert_null(strstr(err.text, "MfKQ"));
    }
}

static void test_length(void **state)
{
    char text[LIMIT_SECRET_BYTES + 1];
    struct secret secret = {0};

    (void)state;
    memset(text, '-', sizeof(text));
    assert_true(secret_init(&secret, (struct slice){text, LIMIT_SECRET_BYTES}, NULL));
    secret_release(&secret);
    assert_false(secret_init(&secret, (struct slice){text, sizeof(text)}, NULL));
    assert_true(secret_init(&secret, SLICE("x"), NULL)); /* AgentChat takes one character */
    secret_release(&secret);
    assert_true(secret_init(&secret, SLICE("schl\xc3\xbcssel mit Leerzeichen"), NULL));
    secret_release(&secret);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoded), cmocka_unit_test(test_raw),
        cmocka_unit_test(test_ed25519), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
