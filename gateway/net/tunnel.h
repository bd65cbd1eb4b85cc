/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tunnel: one TLS connection of the front, from its first byte until its socket is closed.
 *
 * When the handshake is done, one end of a socket pair is handed out, on which the client speaks in
 * the clear; until then a connection has one descriptor, from then on three. Neither side is read
 * further than the other takes: of each direction at most one record waits here, the rest in the
 * kernel. The client's close_notify becomes an end of stream there, and the other way round; where
 * the client's connection ends without one, both directions are over.
 */
#ifndef WAKEGATE_NET_TUNNEL_H
#define WAKEGATE_NET_TUNNEL_H

#include "gateway/net/address.h"
#include "gateway/net/lingering.h"
#include "gateway/net/tls.h"

struct tunnel;

struct tunnel_events {
    /* The handshake is done; `fd` belongs to the taker. Not when it failed. */
    void (*opened)(void *context, int fd, const union address *peer, socklen_t peer_len);
    void (*closed)(void *context); /* the tunnel is gone and freed; once, from the loop */
};

struct tunnels { /* what they share; the caller fills in the first three */
    uv_loop_t *loop;
    const struct tunnel_events *events;
    struct lingering *lingering; /* of clients that are still sending when the server is done */
    uint64_t tick;               /* loop time of the last handshake */
    unsigned shakes;             /* in that tick */
};

struct tunnel_guest {
    int fd; /* connected; the tunnel's from then on */
    union address peer;
    socklen_t peer_len;
};

/* NULL: the loop cannot watch it; the descriptor is closed. */
struct tunnel *tunnel_open(struct tunnels *all, const struct tunnel_guest *guest,
                           struct certificate *certificate, void *context);

/* Did the client say anything yet, beyond the handshake? */
bool tunnel_has_spoken(const struct tunnel *tunnel);

/* Its time is over: closes at once, without what still waits. Fine to call more than once. */
void tunnel_cut(struct tunnel *tunnel);

#endif
