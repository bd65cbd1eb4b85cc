/* SPDX-License-Identifier: Apache-2.0 */
/* tls_context: what all TLS sessions have in common, and OpenSSL's reasons as text. */
#ifndef WAKEGATE_NET_TLS_CONTEXT_H
#define WAKEGATE_NET_TLS_CONTEXT_H

#include <openssl/ssl.h>

#include "gateway/core/err.h"

/* TLS 1.2 or later, nothing renegotiated, compressed or remembered. Never NULL. */
SSL_CTX *tls_context_new(const SSL_METHOD *method);

/* "<what>: <why the last call failed>". OpenSSL's queue is per thread: it is emptied before each
 * call that is asked about. Always false. */
bool tls_context_reason(struct err *err, const char *what);

/* For OpenSSL, as its pem_password_cb: nobody can be asked, a key with a passphrase is of no use.
 * `*asked` (a bool) is set. */
int tls_context_no_passphrase(char *text, int size, int writing, void *asked);

#endif
