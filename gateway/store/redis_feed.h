/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_feed: a second connection that waits for threads to grow, on any instance.
 *
 * It reads one stream, to which every script that appends adds the name of its thread, with a read
 * that the server answers when there is something. The names are hints and no more: how much of
 * the stream is kept, and what was missed while the connection was away, does not matter, since all
 * that is followed is looked at whenever the connection is up again.
 */
#ifndef WAKEGATE_STORE_REDIS_FEED_H
#define WAKEGATE_STORE_REDIS_FEED_H

#include "gateway/store/follow.h"
#include "gateway/store/redis_link.h"

struct redis_feed;

struct redis_feed *redis_feed_open(const struct redis_link *beside, struct follow *follow);
/* `follow` is not used any more. */
void redis_feed_close(struct redis_feed *feed, void (*closed)(void *context), void *context);

#endif
