/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit: one line in the log and one count for each answered request at /wake/.
 *
 * Neither ever gets a secret, a signature or a body. Strangers choose the path, so only a route
 * that exists is named.
 */
#ifndef WAKEGATE_GATEWAY_AUDIT_H
#define WAKEGATE_GATEWAY_AUDIT_H

#include "gateway/answer.h"
#include "gateway/route.h"

/* `route` and `wake` may be NULL; so may `outcome`, then `why` says what there is to say. */
void audit_answer(const struct exchange *exchange, const struct route *route, enum answer_code code,
                  const struct wake *wake, const struct outcome *outcome, const char *why);

/* Audits, and answers the error. `why` goes to the log; `public_why` into the answer too. */
void audit_refuse(struct exchange *exchange, const struct route *route, enum answer_code code,
                  const char *why, const char *public_why);

#endif
