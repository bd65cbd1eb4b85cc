/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address: socket addresses as text, and blocks of them. Numeric only: nothing here resolves names.
 */
#ifndef WAKEGATE_NET_ADDRESS_H
#define WAKEGATE_NET_ADDRESS_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "gateway/core/err.h"
#include "gateway/core/slice.h"

enum { ADDRESS_TEXT_SIZE = 64, ADDRESS_URL_SIZE = 128 };

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_un local;
    struct sockaddr_storage room;
};

/* "[::]:8080", "127.0.0.1:8080" or "unix:/path". */
bool address_parse(struct slice text, union address *address, struct err *err);
/* "fe80::1", "fe80::1%eth0": what may stand in the brackets of a URL. */
bool address_is_ipv6(struct slice text);
/* Can only one of two sockets listen, since both want the same port or path? */
bool address_clash(const union address *a, const union address *b);
socklen_t address_len(const union address *address);

/* The host alone, for logs: "203.0.113.7", also where it came in as ::ffff:203.0.113.7; "unix". */
void address_text(const struct sockaddr *address, char text[static ADDRESS_TEXT_SIZE]);

/* Where a client on this machine reaches it: "http://127.0.0.1:8080", "unix:/path". `scheme` is
 * "http" or "https". */
void address_url(const union address *address, const char *scheme,
                 char url[static ADDRESS_URL_SIZE]);

struct address_key { /* of a host: IPv4 ones as ::ffff:a.b.c.d */
    unsigned char bytes[16];
};

/* false: neither IPv4 nor IPv6. */
bool address_key(const struct sockaddr *address, struct address_key *key);

struct address_block {
    struct address_key key;
    unsigned bits; /* of `key` that count */
};

/* "10.0.0.0/8", "fd00::/8", or one address. */
bool address_block_parse(struct slice text, struct address_block *block, struct err *err);
bool address_block_has(const struct address_block *block, const struct address_key *key);

#endif
