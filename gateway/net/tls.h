/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls: one TLS session between two byte buffers; it knows no socket. What came from the peer is fed
 * in, what must go to the peer is taken out, by whoever has the connection.
 *
 * TLS 1.2 (RFC 5246) or later. A client always verifies the peer's certificate, its name or address
 * too; only tls_probe_new, which asks a question that anybody may answer, does not. A server asks
 * for no certificate, speaks HTTP/1.1 (ALPN, RFC 7301) and gives OpenSSL nothing that does not
 * begin as a ClientHello of a sensible size. With digest.c, the only file that knows OpenSSL.
 */
#ifndef WAKEGATE_NET_TLS_H
#define WAKEGATE_NET_TLS_H

#include "gateway/core/err.h"
#include "gateway/core/slice.h"
#include "gateway/net/certificate.h"

/* Of a ClientHello: those of browsers have up to 2 KB. OpenSSL itself takes 128 KB, and makes room
 * for as many as are announced. */
enum { TLS_HELLO_BYTES = 16 * 1024 };

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
/* The same to whoever answers, unverified: nothing secret may be said. */
struct tls *tls_probe_new(void);
/* A server's session. */
struct tls *tls_server_new(struct certificate *certificate);
void tls_free(struct tls *tls);

/* Bytes from the peer; copied. */
void tls_feed(struct tls *tls, struct slice bytes);
/* Goes on with the handshake; the first call makes the first bytes for the peer. */
enum tls_answer tls_shake(struct tls *tls, struct err *err);
/* Why a server's handshake failed, in one word of a few, for metrics. */
const char *tls_fault(const struct tls *tls);
/* Only after the handshake: when the peer's certificate ends, in milliseconds since 1970. */
int64_t tls_certificate_end(const struct tls *tls);
/* Only after the handshake. Reads at most `size` bytes of what the peer said. */
enum tls_answer tls_read(struct tls *tls, char *bytes, size_t size, size_t *len, struct err *err);
bool tls_write(struct tls *tls, struct slice bytes, struct err *err);
/* Says that no more will be sent. */
void tls_end(struct tls *tls);

/* The bytes that wait for the peer; they stay until they are taken, the first `len` of them. */
struct slice tls_output(struct tls *tls);
void tls_taken(struct tls *tls, size_t len);

#endif
