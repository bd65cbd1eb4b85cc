/* SPDX-License-Identifier: Apache-2.0 */
/*
 * public_url: where AgentChat reaches the gateway's routes: the config's `public_url`, in front of
 * /wake/<route>. What AgentChat takes as a webhook's URL: https, at most 2048 characters (contract
 * v1, section 3.5).
 */
#ifndef WAKEGATE_GATEWAY_PUBLIC_URL_H
#define WAKEGATE_GATEWAY_PUBLIC_URL_H

#include "gateway/core/buf.h"
#include "gateway/core/err.h"

enum { PUBLIC_URL_BYTES = 2048 };

/* Can it be registered as it is? */
bool public_url_check(struct slice url, struct err *err);
/* Can routes stand below it: no query, and room for their names? */
bool public_url_check_base(struct slice url, struct err *err);

/* The URL of a route below a base that was checked. */
void public_url_of(struct slice base, struct slice route, struct buf *url);

#endif
