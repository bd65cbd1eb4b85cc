/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What anybody may send to a server's TLS session, and what may stand in a certificate's file. The
 * first byte chooses:
 *
 *   'h'  bytes instead of a handshake, fed in steps of the second byte: it is never over
 *   'r'  bytes instead of records, after a handshake: nothing is read from them
 *   'c'  a chain and its key in one file of PEM: used or refused, with a reason
 */
#include "tests/fuzz/fuzz.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "gateway/net/tls.h"

enum { OUTPUT_MOST = 4096, DAY_S = 24 * 3600 };

static struct certificate *certificate;

static struct certificate *make_certificate(void)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *own = X509_new();
    BIO *pem = BIO_new(BIO_s_mem());
    char *data = NULL;
    struct err err;

    ASN1_INTEGER_set(X509_get_serialNumber(own), 1);
    X509_gmtime_adj(X509_getm_notBefore(own), 0);
    X509_gmtime_adj(X509_getm_notAfter(own), DAY_S);
    X509_set_pubkey(own, key);
    assert(X509_sign(own, key, EVP_sha256()) > 0);
    PEM_write_bio_X509(pem, own);
    PEM_write_bio_PrivateKey(pem, key, NULL, NULL, 0, NULL, NULL);
    const long len = BIO_get_mem_data(pem, &data);
    const struct slice text = {.data = data, .len = (size_t)len};
    struct certificate *made = certificate_new(text, text, false, &err);
    assert(made);
    BIO_free(pem);
    X509_free(own);
    EVP_PKEY_free(key);
    return made;
}

static void carry(struct tls *from, struct tls *to)
{
    struct slice output = tls_output(from);

    tls_feed(to, output);
    tls_taken(from, output.len);
}

static void shake_with(struct slice input)
{
    struct tls *server = tls_server_new(certificate);
    size_t step = fuzz_byte(&input) + 1;
    enum tls_answer answer = TLS_MORE;
    struct err err = {""};

    while (input.len > 0 && answer == TLS_MORE) {
        char *copy = fuzz_copy(slice_first(input, step));
        tls_feed(server, (struct slice){.data = copy, .len = slice_first(input, step).len});
        free(copy);
        input = slice_from_at(input, step);
        answer = tls_shake(server, &err);
        assert(tls_output(server).len <= OUTPUT_MOST);
    }
    assert(answer != TLS_DONE);
    assert(answer != TLS_FAILED || (tls_fault(server) && err.text[0]));
    tls_free(server);
}

static void read_from(struct slice input)
{
    struct tls *server = tls_server_new(certificate), *client = tls_probe_new();
    char bytes[64];
    size_t len = 0;
    struct err err;

    tls_shake(client, &err);
    carry(client, server);
    tls_shake(server, &err);
    carry(server, client);
    tls_shake(client, &err);
    carry(client, server);
    enum tls_answer answer = tls_shake(server, &err);
    assert(answer == TLS_DONE);
    tls_feed(server, input);
    answer = tls_read(server, bytes, sizeof(bytes), &len, &err);
    assert(answer != TLS_DONE && answer != TLS_ENDED);
    tls_end(server);
    assert(tls_output(server).len <= OUTPUT_MOST);
    tls_free(server);
    tls_free(client);
}

static void use_as_certificate(struct slice input)
{
    struct err err = {""};
    char *copy = fuzz_copy(input);
    const struct slice pem = {.data = copy, .len = input.len};
    struct certificate *made = certificate_new(pem, pem, false, &err);

    assert(made || err.text[0]);
    certificate_drop(made);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = fuzz_slice(data, size);
    unsigned kind = fuzz_byte(&input);

    if (!certificate)
        certificate = make_certificate();
    if (kind == 'h')
        shake_with(input);
    else if (kind == 'r')
        read_from(input);
    else if (kind == 'c')
        use_as_certificate(input);
    return 0;
}
