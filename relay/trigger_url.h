/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trigger_url: the parts of an http or https URL that say where it leads. What libcurl could read
 * in another way is refused. The URL may be a secret, so no text from here repeats any of it.
 */
#ifndef WAKEGATE_RELAY_TRIGGER_URL_H
#define WAKEGATE_RELAY_TRIGGER_URL_H

#include "gateway/core/err.h"
#include "gateway/core/slice.h"

struct trigger_url {
    bool tls;
    struct slice host; /* with the brackets of an IPv6 address */
    struct slice port; /* as it stands there; empty: the scheme's own */
};

/* The parts borrow from `url`. */
bool trigger_url_split(struct slice url, struct trigger_url *parts, struct err *err);

#endif
