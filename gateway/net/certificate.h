/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate: a server's certificate with its chain and key, and how TLS sessions with it are
 * made: 1.2 or later, or 1.3 alone; OpenSSL's ciphers at security level 2; HTTP/1.1 for whoever
 * asks (ALPN, RFC 7301); no renegotiation, no compression; tickets that end with the certificate.
 *
 * Counted: sessions that began with one keep what they need of it.
 */
#ifndef WAKEGATE_NET_CERTIFICATE_H
#define WAKEGATE_NET_CERTIFICATE_H

#include <stdint.h>

#include "gateway/core/err.h"
#include "gateway/core/slice.h"

struct certificate;
struct ssl_ctx_st; /* OpenSSL's, for tls.c alone */

/* PEM: the certificate with its chain after it, and its key, which has no passphrase. NULL when
 * they cannot be used, or do not belong together. */
struct certificate *certificate_new(struct slice chain, struct slice key, bool only_1_3,
                                    struct err *err);
struct certificate *certificate_keep(struct certificate *certificate);
void certificate_drop(struct certificate *certificate); /* NULL is fine */

/* When it is valid, in seconds since 1970. */
int64_t certificate_from_s(const struct certificate *certificate);
int64_t certificate_until_s(const struct certificate *certificate);

struct ssl_ctx_st *certificate_context(const struct certificate *certificate);

#endif
