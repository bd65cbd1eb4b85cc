/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls: one TLS session between two byte buffers; it knows no socket. What came from the peer is fed
 * in, what must go to the peer is taken out, by whoever has the connection.
 *
 * TLS 1.2 or later, the peer's certificate always verified, its name or address too. There is no
 * way to switch that off. With digest.c, the only file that knows OpenSSL.
 */
#ifndef WAKEGATE_NET_TLS_H
#define WAKEGATE_NET_TLS_H

#include "gateway/core/err.h"
#include "gateway/core/slice.h"

/* PEM files, read at each connection: one that was renewed is used then. */
struct tls_files {
    const char *ca_file;   /* whom to trust; NULL: the system's certificates */
    const char *cert_file; /* the client's own certificate, its chain after it; NULL: none */
    const char *key_file;  /* its key, which has no passphrase */
};

/* Can they be used? The text begins with the file's name. */
bool tls_check_files(const struct tls_files *files, struct err *err);

struct tls;

enum tls_answer {
    TLS_DONE,  /* the handshake is over; or: `*len` bytes were read */
    TLS_MORE,  /* nothing until the peer sends more */
    TLS_ENDED, /* the peer said that it sends no more */
    TLS_FAILED /* `err` says why; take the alert out, then close */
};

/* A client session to `host`, a name or an address. NULL when a file cannot be used. */
struct tls *tls_client_new(const char *host, const struct tls_files *files, struct err *err);
void tls_free(struct tls *tls);

/* Bytes from the peer; copied. */
void tls_feed(struct tls *tls, struct slice bytes);
/* Goes on with the handshake; the first call makes the first bytes for the peer. */
enum tls_answer tls_shake(struct tls *tls, struct err *err);
/* Only after the handshake: when the peer's certificate ends, in milliseconds since 1970. */
int64_t tls_certificate_end(const struct tls *tls);
/* Only after the handshake. Reads at most `size` bytes of what the peer said. */
enum tls_answer tls_read(struct tls *tls, char *bytes, size_t size, size_t *len, struct err *err);
bool tls_write(struct tls *tls, struct slice bytes, struct err *err);
/* Says that no more will be sent. */
void tls_end(struct tls *tls);

/* The bytes that wait for the peer; they stay until tls_taken. */
struct slice tls_output(struct tls *tls);
void tls_taken(struct tls *tls);

#endif
