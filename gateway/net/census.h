/* SPDX-License-Identifier: Apache-2.0 */
/*
 * census: how many connections each address has, and whether it may have one more. An IPv6 client
 * owns a whole /64, so such a block counts as one address. Unix sockets and the configured proxies
 * are not counted.
 */
#ifndef WAKEGATE_NET_CENSUS_H
#define WAKEGATE_NET_CENSUS_H

#include "gateway/net/address.h"

struct census;
struct tally; /* of one address */

/* `exempt` is copied. */
struct census *census_new(unsigned most, const struct address_block *exempt, size_t exempt_count);
void census_free(struct census *census);

/* false: this address has as many as it may. Else `*tally` is to be given back when the connection
 * ends; NULL: one that is not counted. */
bool census_enter(struct census *census, const struct sockaddr *peer, struct tally **tally);
void census_leave(struct census *census, struct tally *tally); /* NULL is fine */

#endif
