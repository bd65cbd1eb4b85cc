/* SPDX-License-Identifier: Apache-2.0 */
/* redis_store: what the threads use of the store on a Redis. */
#ifndef WAKEGATE_STORE_REDIS_STORE_H
#define WAKEGATE_STORE_REDIS_STORE_H

#include "gateway/store/redis_link.h"

struct redis_link *redis_store_link(struct store *store);

#endif
