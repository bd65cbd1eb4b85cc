/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connections: the open connections of the front: how many there are, and by when each must have
 * sent its head or its body. Who does not is told 408 and shut out. The time of a first head begins
 * with the connection, so a TLS handshake has its share of it.
 */
#ifndef WAKEGATE_NET_CONNECTIONS_H
#define WAKEGATE_NET_CONNECTIONS_H

#include "gateway/net/address.h"
#include "gateway/net/front.h"
#include "gateway/net/tunnel.h"

struct connections;

/* false: a proxy in `settings` cannot be read. */
bool connections_open(struct connections **connections, struct turn *turn,
                      const struct front_settings *settings, const struct http_limits *limits,
                      struct err *err);
/* The server must be closed, which ends its connections. What was answered over TLS is still sent,
 * for a short time. `closed` may be NULL. */
void connections_close(struct connections *connections, void (*closed)(void *context),
                       void *context);

/* Hands an accepted descriptor to the server, or closes it when there are too many. `certificate`
 * NULL: plain; else the server gets it once the TLS handshake is done. */
void connections_admit(struct connections *connections, struct http_server *server,
                       const struct tunnel_guest *guest, struct certificate *certificate);

/* What the server must be opened with. */
extern const struct http_watch connections_watch;

#endif
