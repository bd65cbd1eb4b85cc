/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_link: one connection to one Redis, kept up, on which operations of the store are pipelined.
 *
 * The operations of each turn go out in one write; answers end them in the order in which they were
 * sent. While there is no usable connection every operation ends at once with the reason; when it
 * is lost, all that were sent do. It is made anew after a wait that grows, with the name looked up
 * again. Usable means: the server took the password and the scripts and wrote one key.
 *
 * Needs Redis 6 or later, or what speaks like it, not as a cluster. The user needs EVAL, EVALSHA,
 * SCRIPT LOAD, SELECT, the commands in the scripts, and the keys wakegate:*; INFO may be refused.
 */
#ifndef WAKEGATE_STORE_REDIS_LINK_H
#define WAKEGATE_STORE_REDIS_LINK_H

#include "gateway/store/redis_url.h"
#include "gateway/store/store.h"

struct redis_link;

/* Takes what `url` owns. */
struct redis_link *redis_link_open(struct redis_url *url, int64_t window_ms, struct turn *turn);
void redis_link_send(struct redis_link *link, struct store_op *op);
/* No operation may be running. */
void redis_link_close(struct redis_link *link, void (*closed)(void *context), void *context);

#endif
