/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guests: the open connections of the front: how many there are, and by when each must have sent
 * its head or its body. Who does not is told 408 and shut out.
 */
#ifndef WAKEGATE_NET_GUESTS_H
#define WAKEGATE_NET_GUESTS_H

#include "gateway/net/address.h"
#include "gateway/net/front.h"

struct guests;

/* false: a proxy in `settings` cannot be read. */
bool guests_open(struct guests **guests, struct turn *turn, const struct front_settings *settings,
                 const struct http_limits *limits, struct err *err);
/* The connections must be gone: http_server_close ends them. `closed` may be NULL. */
void guests_close(struct guests *guests, void (*closed)(void *context), void *context);

/* Hands an accepted descriptor to the server, or closes it when there are too many. */
void guests_admit(struct guests *guests, struct http_server *server, int fd,
                  const union address *peer, socklen_t peer_len);

/* What the server must be opened with. */
extern const struct http_watch guests_watch;

#endif
