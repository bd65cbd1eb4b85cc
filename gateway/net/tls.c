/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each client session has a context of its own: a client connects rarely, and a certificate file
 * that was renewed is then read anew. Server sessions share the context of their certificate, which
 * OpenSSL counts. The session owns both memory BIOs; what they grew to is given back when they are
 * empty, since most connections are idle most of the time.
 */
#include "gateway/net/tls.h"

#include <assert.h>
#include <openssl/buffer.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gateway/core/buf.h"
#include "gateway/net/tls_context.h"

enum { KEPT_BYTES = 1024, HEADS_BYTES = 9 /* of a record and of the message in it */ };

struct tls {
    SSL *ssl;
    BIO *in;           /* from the peer; the session's */
    BIO *out;          /* for the peer; the session's */
    size_t taken;      /* of `out` */
    bool unseen;       /* a server's, and the ClientHello was not looked at */
    const char *fault; /* see tls_fault */
};

static bool use_own(SSL_CTX *context, const struct tls_files *files, struct err *err)
{
    bool asked = false;

    if (SSL_CTX_use_certificate_chain_file(context, files->cert_file) != 1)
        return tls_context_reason(err, files->cert_file);
    SSL_CTX_set_default_passwd_cb(context, tls_context_no_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(context, &asked);
    int ok = SSL_CTX_use_PrivateKey_file(context, files->key_file, SSL_FILETYPE_PEM);
    SSL_CTX_set_default_passwd_cb_userdata(context, NULL);
    if (asked)
        return err_set(err, "%s: the key has a passphrase; write it without one", files->key_file);
    return ok == 1 || tls_context_reason(err, files->key_file);
}

static bool use_files(SSL_CTX *context, const struct tls_files *files, struct err *err)
{
    int ok = files->ca_file ? SSL_CTX_load_verify_file(context, files->ca_file)
                            : SSL_CTX_set_default_verify_paths(context);
    if (ok != 1)
        return tls_context_reason(err,
                                  files->ca_file ? files->ca_file : "the system's certificates");
    return !files->cert_file || use_own(context, files, err);
}

static SSL_CTX *new_context(const struct tls_files *files, struct err *err)
{
    SSL_CTX *context = tls_context_new(TLS_client_method());

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

/* The session keeps the context. */
static struct tls *new_session(SSL_CTX *context)
{
    struct tls *tls = mem_new(sizeof(*tls));

    *tls = (struct tls){
        .ssl = SSL_new(context), .in = BIO_new(BIO_s_mem()), .out = BIO_new(BIO_s_mem())};
    assert(tls->ssl && tls->in && tls->out);
    SSL_set_bio(tls->ssl, tls->in, tls->out);
    return tls;
}

struct tls *tls_client_new(const char *host, const struct tls_files *files, struct err *err)
{
    ERR_clear_error();
    assert(host && host[0]);
    SSL_CTX *context = new_context(files, err);
    if (!context)
        return NULL;
    struct tls *tls = new_session(context);
    SSL_CTX_free(context);
    SSL_set_connect_state(tls->ssl);
    expect_host(tls->ssl, host);
    return tls;
}

struct tls *tls_probe_new(void)
{
    SSL_CTX *context = tls_context_new(TLS_client_method());
    struct tls *tls = new_session(context);

    SSL_CTX_free(context);
    SSL_set_connect_state(tls->ssl);
    return tls;
}

struct tls *tls_server_new(struct certificate *certificate)
{
    struct tls *tls = new_session(certificate_context(certificate));

    tls->unseen = true;
    SSL_set_accept_state(tls->ssl);
    return tls;
}

void tls_free(struct tls *tls)
{
    if (!tls)
        return;
    SSL_free(tls->ssl);
    free(tls);
}

void tls_feed(struct tls *tls, struct slice bytes)
{
    size_t written = 0;
    int ok = bytes.len == 0 || BIO_write_ex(tls->in, bytes.data, bytes.len, &written);

    assert(ok == 1 && written == bytes.len);
    (void)ok;
}

/* An empty BIO does not keep what it grew to. */
static void shrink(BIO *bio)
{
    BUF_MEM *memory = NULL;

    BIO_get_mem_ptr(bio, &memory);
    if (BIO_pending(bio) > 0 || memory->max <= KEPT_BYTES)
        return;
    BUF_MEM *fresh = BUF_MEM_new();
    assert(fresh);
    BIO_set_mem_buf(bio, fresh, BIO_CLOSE);
}

/* What the peer did not like about us comes as an alert of its own. */
static const char *name_fault(unsigned long code)
{
    switch (ERR_GET_REASON(code)) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_UNKNOWN_PROTOCOL:
    case SSL_R_WRONG_VERSION_NUMBER:
        return "version";
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_SUITABLE_KEY_SHARE:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
        return "cipher";
    case SSL_R_NO_APPLICATION_PROTOCOL:
        return "application_protocol";
    default:
        return ERR_GET_REASON(code) >= SSL_AD_REASON_OFFSET ? "refused" : "malformed";
    }
}

static enum tls_answer explain(struct tls *tls, int result, struct err *err)
{
    long verified = SSL_get_verify_result(tls->ssl);

    switch (SSL_get_error(tls->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        shrink(tls->in);
        return TLS_MORE;
    case SSL_ERROR_ZERO_RETURN:
        return TLS_ENDED;
    default:
        tls->fault = name_fault(ERR_peek_error());
        if (verified != X509_V_OK)
            err_set(err, "TLS: the certificate is not good: %s",
                    X509_verify_cert_error_string(verified));
        else
            tls_context_reason(err, "TLS");
        return TLS_FAILED;
    }
}

static enum tls_answer refuse(struct tls *tls, const char *fault, const char *why, struct err *err)
{
    tls->fault = fault;
    err_set(err, "%s", why);
    return TLS_FAILED;
}

/* RFC 8446, sections 5.1 and 4: record type 22, version 3.x, length; message type 1, length. */
static enum tls_answer look_at_hello(struct tls *tls, struct err *err)
{
    const unsigned char *bytes = NULL;
    long len = BIO_get_mem_data(tls->in, &bytes);

    if (len == 0)
        return TLS_MORE;
    if (bytes[0] >= 'A' && bytes[0] <= 'Z')
        return refuse(tls, "plain_http", "plain HTTP came where TLS is spoken; use https://", err);
    if (bytes[0] != 22 || (len > 1 && bytes[1] != 3) || (len > 5 && bytes[5] != 1))
        return refuse(tls, "not_tls", "what came is no TLS", err);
    if (len < HEADS_BYTES)
        return TLS_MORE;
    unsigned record = bytes[3] * 256U + bytes[4];
    unsigned hello = (bytes[6] * 256U + bytes[7]) * 256U + bytes[8];
    if (record < HEADS_BYTES - 5 || hello > TLS_HELLO_BYTES)
        return refuse(tls, "malformed", "the ClientHello has no sensible length", err);
    tls->unseen = false;
    return TLS_DONE;
}

enum tls_answer tls_shake(struct tls *tls, struct err *err)
{
    enum tls_answer seen = tls->unseen ? look_at_hello(tls, err) : TLS_DONE;

    if (seen != TLS_DONE)
        return seen;
    ERR_clear_error();
    int result = SSL_do_handshake(tls->ssl);
    if (result == 1)
        return TLS_DONE;
    return explain(tls, result, err);
}

const char *tls_fault(const struct tls *tls)
{
    return tls->fault;
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
    return tls_context_reason(err, "TLS");
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

    return slice_from_at((struct slice){.data = data, .len = len > 0 ? (size_t)len : 0},
                         tls->taken);
}

void tls_taken(struct tls *tls, size_t len)
{
    tls->taken += len;
    if (tls_output(tls).len > 0)
        return;
    tls->taken = 0;
    (void)BIO_reset(tls->out);
    shrink(tls->out);
}
