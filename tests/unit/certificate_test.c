/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <string.h>
#include <time.h>

#include "tests/fakes/pem.h"

static void assert_refused(struct slice chain, struct slice key, const char *why)
{
    struct err err = {""};

    assert_null(certificate_new(chain, key, false, &err));
    if (!strstr(err.text, why))
        fail_msg("\"%s\" says nothing of \"%s\"", err.text, why);
}

static void test_kinds_of_keys(void **state)
{
    static const char *const kinds[] = {PEM_EC, "rsa:2048", "ed25519"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct certificate *one = pem_certificate(kinds[i]);
        certificate_drop(certificate_keep(one));
        certificate_drop(one);
    }
    certificate_drop(NULL);
}

static void test_dates(void **state)
{
    const int64_t now = time(NULL), day = 24 * 3600;
    struct certificate *one = pem_certificate(PEM_EC);

    (void)state;
    assert_true(certificate_from_s(one) <= now && certificate_from_s(one) > now - day);
    assert_int_equal(certificate_until_s(one), certificate_from_s(one) + 2 * day);
    certificate_drop(one);
}

static void test_what_cannot_be_used(void **state)
{
    struct buf one = pem_make(PEM_EC, ""), other = pem_make(PEM_EC, ""),
               rsa = pem_make("rsa:2048", ""), weak = pem_make("rsa:1024", "");

    (void)state;
    assert_refused(SLICE(""), buf_slice(&one), "no certificate");
    assert_refused((struct slice){0}, buf_slice(&one), "no certificate");
    assert_refused(SLICE("nonsense"), buf_slice(&one), "no certificate");
    assert_refused(buf_slice(&one), SLICE(""), "no private key");
    assert_refused(buf_slice(&one), buf_slice(&other), "not the certificate's");
    assert_refused(buf_slice(&one), buf_slice(&rsa), "not the certificate's");
    assert_refused(buf_slice(&weak), buf_slice(&weak), "too small");
    buf_release(&one);
    buf_release(&other);
    buf_release(&rsa);
    buf_release(&weak);
}

static void test_passphrase(void **state)
{
    struct buf plain = pem_make(PEM_EC, "");
    static const char locked[] = "-----BEGIN EC PRIVATE KEY-----\n"
                                 "Proc-Type: 4,ENCRYPTED\n"
                                 "DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\n"
                                 "AAECAwQFBgcICQoLDA0ODwABAgMEBQYHCAkKCwwNDg8=\n"
                                 "-----END EC PRIVATE KEY-----\n";

    (void)state;
    assert_refused(buf_slice(&plain), slice_from(locked), "passphrase");
    buf_release(&plain);
}

static void test_broken_chain(void **state)
{
    struct buf pem = pem_make(PEM_EC, "");
    struct buf chain = BUF_INIT(100000);

    (void)state;
    buf_append(&chain, buf_slice(&pem));
    buf_append(&chain, SLICE("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
    assert_refused(buf_slice(&chain), buf_slice(&pem), "of the chain");
    buf_release(&chain);
    buf_release(&pem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_of_keys),       cmocka_unit_test(test_dates),
        cmocka_unit_test(test_what_cannot_be_used), cmocka_unit_test(test_passphrase),
        cmocka_unit_test(test_broken_chain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
