/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record: one line in the log and one count for each answered request at /wake/.
 *
 * Neither ever gets a secret, a signature or a body. Strangers choose the path, so only a route
 * that exists is named.
 */
#ifndef WAKEGATE_GATEWAY_RECORD_H
#define WAKEGATE_GATEWAY_RECORD_H

#include "gateway/answer.h"
#include "gateway/route.h"

/* `route` and `wake` may be NULL; so may `outcome`, then `why` says what there is to say. */
void record_answer(const struct exchange *exchange, const struct route *route,
                   enum answer_code code, const struct wake *wake, const struct outcome *outcome,
                   const char *why);

/* Records, and answers the error. `why` goes to the log; `public_why` into the answer too. */
void record_and_refuse(struct exchange *exchange, const struct route *route, enum answer_code code,
                       const char *why, const char *public_why);

#endif
