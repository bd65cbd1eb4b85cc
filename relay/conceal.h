/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conceal: keeps what a request carried out of the texts that come back.
 *
 * A runtime may repeat what it was sent, in an error or even as its run id, and libcurl's words
 * name the host. Such texts go into logs and answers, so each piece of them that stands in the
 * secret, in a header or in the URL becomes "***". What the request may show stays: the idempotency
 * key, the trace, and the host of a URL that is no secret.
 */
#ifndef WAKEGATE_RELAY_CONCEAL_H
#define WAKEGATE_RELAY_CONCEAL_H

#include "gateway/core/slice.h"

struct conceal {
    struct slice secret;
    struct slice headers; /* as in struct outgoing */
    struct slice key;     /* the idempotency key */
    const char *url;
    bool host_too; /* the URL is a secret as a whole */
};

/* Makes `text` the same or shorter. */
void conceal(const struct conceal *request, char *text);

#endif
