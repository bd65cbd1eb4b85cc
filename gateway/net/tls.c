/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each session has a context of its own: a client connects rarely, and a certificate file that was
 * renewed is then read anew. The session owns both memory BIOs.
 */
#include "gateway/net/tls.h"

#include <assert.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gateway/core/buf.h"

struct tls {
    SSL_CTX *context;
    SSL *ssl;
    BIO *in;  /* from the peer; the session's */
    BIO *out; /* for the peer; the session's */
};

/* The queue of OpenSSL is per thread: it is emptied before each call that is asked about. */
static bool set_reason(struct err *err, const char *what)
{
    unsigned long code = ERR_peek_error();
    const char *reason =
        ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);

    return err_set(err, "%s: %s", what, reason ? reason : "no reason given");
}

/* Nobody can be asked: a key with a passphrase is of no use. */
static int no_passphrase(char *buf, int size, int writing, void *context)
{
    (void)buf;
    (void)size;
    (void)writing;
    *(bool *)context = true;
    return -1;
}

static bool use_own(SSL_CTX *context, const struct tls_files *files, struct err *err)
{
    bool asked = false;

    if (SSL_CTX_use_certificate_chain_file(context, files->cert_file) != 1)
        return set_reason(err, files->cert_file);
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(context, &asked);
    int ok = SSL_CTX_use_PrivateKey_file(context, files->key_file, SSL_FILETYPE_PEM);
    SSL_CTX_set_default_passwd_cb_userdata(context, NULL);
    if (asked)
        return err_set(err, "%s: the key has a passphrase; write it without one", files->key_file);
    return ok == 1 || set_reason(err, files->key_file);
}

static bool use_files(SSL_CTX *context, const struct tls_files *files, struct err *err)
{
    int ok = files->ca_file ? SSL_CTX_load_verify_file(context, files->ca_file)
                            : SSL_CTX_set_default_verify_paths(context);
    if (ok != 1)
        return set_reason(err, files->ca_file ? files->ca_file : "the system's certificates");
    return !files->cert_file || use_own(context, files, err);
}

static SSL_CTX *new_context(const struct tls_files *files, struct err *err)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());

    assert(context);
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    if (use_files(context, files, err))
        return context;
    SSL_CTX_free(context);
    return NULL;
}

bool tls_check_files(const struct tls_files *files, struct err *err)
{
    ERR_clear_error();
    SSL_CTX *context = new_context(files, err);
    SSL_CTX_free(context);
    return context != NULL;
}

/* Whom the certificate must name. Only names are sent as SNI (RFC 6066, section 3). */
static void expect_host(SSL *ssl, const char *host)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);

    if (X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1)
        return;
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    int ok = X509_VERIFY_PARAM_set1_host(param, host, 0);
    assert(ok == 1);
    (void)ok;
    SSL_set_tlsext_host_name(ssl, host);
}

struct tls *tls_client_new(const char *host, const struct tls_files *files, struct err *err)
{
    ERR_clear_error();
    assert(host && host[0]);
    SSL_CTX *context = new_context(files, err);
    if (!context)
        return NULL;
    struct tls *tls = mem_new(sizeof(*tls));
    *tls = (struct tls){
        .context = context,
        .ssl = SSL_new(context),
        .in = BIO_new(BIO_s_mem()),
        .out = BIO_new(BIO_s_mem()),
    };
    assert(tls->ssl && tls->in && tls->out);
    SSL_set_bio(tls->ssl, tls->in, tls->out);
    SSL_set_connect_state(tls->ssl);
    expect_host(tls->ssl, host);
    return tls;
}

void tls_free(struct tls *tls)
{
    if (!tls)
        return;
    SSL_free(tls->ssl);
    SSL_CTX_free(tls->context);
    free(tls);
}

void tls_feed(struct tls *tls, struct slice bytes)
{
    size_t written = 0;
    int ok = bytes.len == 0 || BIO_write_ex(tls->in, bytes.data, bytes.len, &written);

    assert(ok == 1 && written == bytes.len);
    (void)ok;
}

static enum tls_answer explain(struct tls *tls, int result, struct err *err)
{
    long verified = SSL_get_verify_result(tls->ssl);

    switch (SSL_get_error(tls->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return TLS_MORE;
    case SSL_ERROR_ZERO_RETURN:
        return TLS_ENDED;
    default:
        if (verified != X509_V_OK)
            err_set(err, "TLS: the certificate is not good: %s",
                    X509_verify_cert_error_string(verified));
        else
            set_reason(err, "TLS");
        return TLS_FAILED;
    }
}

enum tls_answer tls_shake(struct tls *tls, struct err *err)
{
    ERR_clear_error();
    int result = SSL_do_handshake(tls->ssl);
    if (result == 1)
        return TLS_DONE;
    return explain(tls, result, err);
}

int64_t tls_certificate_end(const struct tls *tls)
{
    const X509 *certificate = SSL_get0_peer_certificate(tls->ssl);
    const ASN1_TIME *end = certificate ? X509_get0_notAfter(certificate) : NULL;
    struct tm parts;

    return end && ASN1_TIME_to_tm(end, &parts) == 1 ? (int64_t)timegm(&parts) * 1000 : 0;
}

enum tls_answer tls_read(struct tls *tls, char *bytes, size_t size, size_t *len, struct err *err)
{
    ERR_clear_error();
    int result = SSL_read_ex(tls->ssl, bytes, size, len);
    if (result == 1)
        return TLS_DONE;
    return explain(tls, result, err);
}

bool tls_write(struct tls *tls, struct slice bytes, struct err *err)
{
    size_t written = 0;

    ERR_clear_error();
    /* The output is memory, so a write takes everything or has failed. */
    if (bytes.len == 0 || SSL_write_ex(tls->ssl, bytes.data, bytes.len, &written) == 1)
        return true;
    return set_reason(err, "TLS");
}

void tls_end(struct tls *tls)
{
    ERR_clear_error();
    SSL_shutdown(tls->ssl);
    ERR_clear_error();
}

struct slice tls_output(struct tls *tls)
{
    char *data = NULL;
    long len = BIO_get_mem_data(tls->out, &data);

    return (struct slice){.data = data, .len = len > 0 ? (size_t)len : 0};
}

void tls_taken(struct tls *tls)
{
    (void)BIO_reset(tls->out);
}
