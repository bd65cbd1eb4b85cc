/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/tls_context.h"

#include <assert.h>
#include <openssl/err.h>
#include <string.h>

bool tls_context_reason(struct err *err, const char *what)
{
    unsigned long code = ERR_peek_error();
    const char *reason =
        ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);

    return err_set(err, "%s: %s", what, reason ? reason : "no reason given");
}

SSL_CTX *tls_context_new(const SSL_METHOD *method)
{
    SSL_CTX *context = SSL_CTX_new(method);

    assert(context);
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    return context;
}

int tls_context_no_passphrase(char *text, int size, int writing, void *asked)
{
    (void)text;
    (void)size;
    (void)writing;
    *(bool *)asked = true;
    return -1;
}
