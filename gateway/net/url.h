/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url: an http or https URL taken apart, for checks before anything is asked of it. It is stricter
 * than what would be asked: no user name, no fragment.
 */
#ifndef WAKEGATE_NET_URL_H
#define WAKEGATE_NET_URL_H

#include "gateway/core/err.h"
#include "gateway/core/slice.h"

struct url_parts { /* slices of the URL */
    bool tls;
    struct slice host; /* with the brackets of an IPv6 address */
    struct slice port; /* empty: the scheme's own */
    struct slice path; /* what follows the authority, query included; may be empty */
};

/* `err` says what is wrong and repeats none of the URL, which may be a secret. */
bool url_split(struct slice url, struct url_parts *parts, struct err *err);

#endif
