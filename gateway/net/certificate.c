/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/certificate.h"

#include <assert.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <time.h>

#include "gateway/core/buf.h"
#include "gateway/net/tls_context.h"

struct certificate {
    SSL_CTX *context;
    unsigned holders;
    int64_t from_s, until_s;
};

static int64_t seconds(const ASN1_TIME *time)
{
    struct tm parts = {0};

    return ASN1_TIME_to_tm(time, &parts) == 1 ? (int64_t)timegm(&parts) : 0;
}

static X509 *next_certificate(BIO *pem)
{
    bool asked;

    return PEM_read_bio_X509(pem, NULL, tls_context_no_passphrase, &asked);
}

static bool use_own(SSL_CTX *context, BIO *pem, struct err *err)
{
    X509 *own = next_certificate(pem);
    bool ok = own && SSL_CTX_use_certificate(context, own) == 1;

    if (!own)
        err_set(err, "the certificate's file holds no certificate in PEM");
    else if (!ok)
        tls_context_reason(err, "the certificate cannot be used");
    X509_free(own);
    return ok;
}

static bool use_chain(SSL_CTX *context, BIO *pem, struct err *err)
{
    if (!use_own(context, pem, err))
        return false;
    for (X509 *next = next_certificate(pem); next; next = next_certificate(pem)) {
        if (SSL_CTX_add0_chain_cert(context, next) != 1) {
            X509_free(next);
            return tls_context_reason(err, "a certificate of the chain cannot be used");
        }
    }
    return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE ||
           tls_context_reason(err, "a certificate of the chain cannot be read");
}

static bool use_key(SSL_CTX *context, BIO *pem, struct err *err)
{
    bool asked = false;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(pem, NULL, tls_context_no_passphrase, &asked);
    X509 *own = SSL_CTX_get0_certificate(context);
    bool fits = key && X509_check_private_key(own, key) == 1;
    bool ok = fits && SSL_CTX_use_PrivateKey(context, key) == 1;

    if (asked)
        err_set(err, "the key has a passphrase; write it without one");
    else if (!key)
        err_set(err, "the key's file holds no private key in PEM");
    else if (!fits)
        err_set(err, "the key is not the certificate's");
    else if (!ok)
        tls_context_reason(err, "the key cannot be used");
    EVP_PKEY_free(key);
    return ok;
}

static bool use_pem(bool (*use)(SSL_CTX *context, BIO *pem, struct err *err), SSL_CTX *context,
                    struct slice pem, struct err *err)
{
    BIO *bio = BIO_new_mem_buf(pem.data ? pem.data : "", (int)pem.len);

    assert(bio);
    ERR_clear_error();
    bool ok = use(context, bio, err);
    ERR_clear_error();
    BIO_free(bio);
    return ok;
}

/* A client that names protocols must name ours. */
static int choose_protocol(SSL *ssl, const unsigned char **chosen, unsigned char *chosen_len,
                           const unsigned char *offered, unsigned offered_len, void *context)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *found = NULL;

    (void)ssl;
    (void)context;
    if (SSL_select_next_proto(&found, chosen_len, ours, sizeof(ours) - 1, offered, offered_len) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *new_server_context(bool only_1_3)
{
    SSL_CTX *context = tls_context_new(TLS_server_method());

    if (only_1_3)
        SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    if (SSL_CTX_get_security_level(context) < 2)
        SSL_CTX_set_security_level(context, 2);
    /* The slow ones are left out; OpenSSL 3.5 knows the first. */
    if (SSL_CTX_set1_groups_list(context, "X25519MLKEM768:X25519:P-256:P-384") != 1)
        SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384");
    SSL_CTX_set_num_tickets(context, 1);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    return context;
}

struct certificate *certificate_new(struct slice chain, struct slice key, bool only_1_3,
                                    struct err *err)
{
    SSL_CTX *context = new_server_context(only_1_3);

    if (!use_pem(use_chain, context, chain, err) || !use_pem(use_key, context, key, err)) {
        SSL_CTX_free(context);
        return NULL;
    }
    struct certificate *certificate = mem_new(sizeof(*certificate));
    const X509 *own = SSL_CTX_get0_certificate(context);
    *certificate = (struct certificate){.context = context,
                                        .holders = 1,
                                        .from_s = seconds(X509_get0_notBefore(own)),
                                        .until_s = seconds(X509_get0_notAfter(own))};
    return certificate;
}

struct certificate *certificate_keep(struct certificate *certificate)
{
    certificate->holders++;
    return certificate;
}

void certificate_drop(struct certificate *certificate)
{
    if (!certificate || --certificate->holders > 0)
        return;
    SSL_CTX_free(certificate->context);
    free(certificate);
}

struct ssl_ctx_st *certificate_context(const struct certificate *certificate)
{
    return certificate->context;
}

int64_t certificate_from_s(const struct certificate *certificate)
{
    return certificate->from_s;
}

int64_t certificate_until_s(const struct certificate *certificate)
{
    return certificate->until_s;
}
