/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach: what kind of place an IP address is, for requests that go out.
 *
 * A hostname proves nothing (169.254.169.254.sslip.io is a name like any other), so this is asked
 * about the address that is really connected to. An IPv4 address inside an IPv6 one (mapped,
 * compatible, translated, NAT64, 6to4) is judged as itself.
 */
#ifndef WAKEGATE_NET_REACH_H
#define WAKEGATE_NET_REACH_H

#include <sys/socket.h>

#include "gateway/core/slice.h"

/* In rising order of danger. */
enum reach {
    REACH_PUBLIC,
    REACH_PRIVATE,  /* loopback, private, unique local, carrier-grade NAT */
    REACH_FORBIDDEN /* link-local, cloud metadata, multicast, broadcast, reserved, not IP */
};

enum reach reach_of(const struct sockaddr *address);

/* The reach of a URL's host where the host itself says it: an address (in brackets, or in one of
 * the old spellings such as 127.1 and 0x7f000001), localhost and what is below it. false: a name.
 */
bool reach_of_host(struct slice host, enum reach *reach);

#endif
