/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire: the connections of http_server apart from HTTP: each one from being added until it is
 * closed, or until somebody takes it over for another protocol. The owner of a connection is told
 * of its end once, whoever had it then.
 */
#ifndef WAKEGATE_NET_WIRE_H
#define WAKEGATE_NET_WIRE_H

#include "gateway/core/buf.h"
#include "gateway/net/address.h"
#include "gateway/net/http_server.h"
#include "gateway/net/lingering.h"

struct wires {
    struct http_watch watch;
    struct lingering lingering;
    struct wire *pending; /* added, not announced yet */
    unsigned taken;       /* sockets that are open */
};

struct wire { /* one connection that speaks HTTP */
    struct wires *all;
    struct wire *next; /* pending too */
    void *owner;       /* what http_server_add was given */
    int fd;
    void *request;        /* http_server's, of the request that is under way */
    size_t target_len;    /* of the request line that was read last; see head_line_is_whole */
    bool unread;          /* answered before the whole request was read */
    bool taken;           /* `owner` belongs to a socket now */
    struct buf switching; /* a 101 that is not sent yet */
    char peer[ADDRESS_TEXT_SIZE];
};

void wires_open(struct wires *wires, uv_loop_t *loop, const struct http_watch *watch);
/* None may be pending or taken. The loop must run once more. */
void wires_close(struct wires *wires);

void wire_add(struct wires *wires, int fd, const struct sockaddr *peer, void *owner);
/* Takes it off the pending ones; NULL: none has this descriptor. */
struct wire *wire_announced(struct wires *wires, int fd);
/* It failed: its descriptor is closed. Fine when it was announced. */
void wire_drop_pending(struct wires *wires, int fd);
/* Those that are still pending failed without a notice. */
void wires_drop_pending(struct wires *wires);

/* Has the peer closed its side? */
bool wire_is_deserted(const struct wire *wire);

/* The descriptor is about to be closed by whoever holds it. */
void wire_close(struct wire *wire);

/* true: a handshake of so many bytes is all that ever came, so nobody has read more, and the 101 is
 * for whoever takes the connection over to send. */
bool wire_switch(struct wire *wire, size_t len, const struct http_upgrade *upgrade);
/* Gives `upgrade` a socket with a descriptor of its own for the same connection, and empties its
 * `taken`; does nothing when there are no descriptors left. */
void wire_hand_over(struct wire *wire, struct http_upgrade *upgrade, struct slice early);

#endif
