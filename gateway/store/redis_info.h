/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_info: what the answer to INFO says of a server: can it be used at all, and does it keep
 * what it is told. Servers that speak like Redis (Valkey, KeyDB, Dragonfly) answer in the same
 * form, with a redis_version that they are compatible with.
 */
#ifndef WAKEGATE_STORE_REDIS_INFO_H
#define WAKEGATE_STORE_REDIS_INFO_H

#include "gateway/core/err.h"
#include "gateway/core/slice.h"

/* The value of a field; empty when the answer has none of that name. */
struct slice redis_info_field(struct slice info, const char *name);

/* false: not with this server. What the answer does not say is no reason. */
bool redis_info_fits(struct slice info, struct err *why);

/* What somebody should know of how it forgets; empty: nothing. `info` empty: it was not told. */
struct err redis_info_warning(struct slice info);

#endif
