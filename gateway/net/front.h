/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front: the listening sockets, and the connections until they are handed to the HTTP server.
 *
 * It counts connections per address, keeps a spare descriptor and stops accepting for a moment when
 * there are none left, and holds the deadlines that the HTTP library does not know: a total time
 * for each head and for each body, however slowly the bytes drip in.
 */
#ifndef WAKEGATE_NET_FRONT_H
#define WAKEGATE_NET_FRONT_H

#include "gateway/core/err.h"
#include "gateway/core/op.h"
#include "gateway/core/slice.h"
#include "gateway/net/http_server.h"

enum { FRONT_LISTENERS = 8, FRONT_PROXIES = 16 };

struct front_settings {
    struct slice
        listen[FRONT_LISTENERS]; /* "[::]:8080", "127.0.0.1:8080", "unix:/run/wakegate.sock" */
    size_t listen_count;
    struct slice proxies[FRONT_PROXIES]; /* addresses or CIDR blocks not counted per address */
    size_t proxy_count;
    unsigned connections; /* in all */
    unsigned connections_per_address;
    size_t body_memory; /* bytes, of all bodies that come in */
    int64_t head_ms, body_ms, idle_ms;
    bool held_back; /* whoever connects before front_accept waits */
};

struct front;

/* Opens every listener, or none: false says which one failed and why. "[::]" listens on both
 * families and falls back to 0.0.0.0 where the machine has no IPv6. Port 0 takes a free one. */
bool front_open(const struct front_settings *settings, struct turn *turn,
                const struct http_handlers *handlers, struct front **front, struct err *err);

/* For one that is held back; before it drains. */
void front_accept(struct front *front);

/* "http://127.0.0.1:34567": where listener `index` listens. The text is the front's. */
const char *front_address(const struct front *front, size_t index);
size_t front_listener_count(const struct front *front);

/* No more connections are accepted; every answer from now on closes its connection. */
void front_drain(struct front *front);
/* No exchange may be parked. */
void front_close(struct front *front, void (*closed)(void *context), void *context);

/* Checks one listen address without opening it, for `check`. */
bool front_check_address(struct slice address, struct err *err);
bool front_check_proxy(struct slice block, struct err *err);

#endif
