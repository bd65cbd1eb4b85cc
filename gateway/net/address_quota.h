/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_quota: how many connections each address has, and whether it may have one more. An IPv6
 * client owns a whole /64, so such a block counts as one address. Unix sockets and the configured
 * proxies are not counted.
 */
#ifndef WAKEGATE_NET_ADDRESS_QUOTA_H
#define WAKEGATE_NET_ADDRESS_QUOTA_H

#include "gateway/net/address.h"

struct address_quota;
struct tally; /* of one address */

/* `exempt` is copied. */
struct address_quota *address_quota_new(unsigned most, const struct address_block *exempt,
                                        size_t exempt_count);
void address_quota_free(struct address_quota *quota);

/* false: this address has as many as it may. Else `*tally` is to be given back when the connection
 * ends; NULL: one that is not counted. */
bool address_quota_enter(struct address_quota *quota, const struct sockaddr *peer,
                         struct tally **tally);
void address_quota_leave(struct address_quota *quota, struct tally *tally); /* NULL is fine */

#endif
