/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit: one line in the log and one count for each answered request at /wake/.
 *
 * Neither ever gets a secret, a signature or a body, nor a path that is no route's: strangers
 * choose it, and it may hold a secret that was pasted into the wrong place.
 */
#ifndef WAKEGATE_GATEWAY_AUDIT_H
#define WAKEGATE_GATEWAY_AUDIT_H

#include "gateway/answer.h"
#include "gateway/route.h"

struct finding { /* what is known of a request that is being answered */
    enum answer_code code;
    const struct route *route;     /* NULL: there is none of that name */
    const struct wake *wake;       /* NULL: not proved, or not decoded */
    const struct outcome *outcome; /* NULL: nothing was relayed */
    const char *why;               /* for the log; NULL: the code says it */
};

void audit(const struct exchange *exchange, const struct finding *finding);

/* Audits, and answers the error. `public_why` is added to the answer; may be NULL. */
void audit_refuse(struct exchange *exchange, const struct finding *finding, const char *public_why);

#endif
