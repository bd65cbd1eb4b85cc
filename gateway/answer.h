/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer: the response contract. One table makes the status, the code and the text of every answer
 * at /wake/<route> and of the admin API, and of the server's own refusals.
 */
#ifndef WAKEGATE_GATEWAY_ANSWER_H
#define WAKEGATE_GATEWAY_ANSWER_H

#include "gateway/core/outcome.h"
#include "gateway/core/wake.h"
#include "gateway/net/http_server.h"

enum answer_code {
    ANSWER_RELAYED,
    ANSWER_DUPLICATE,
    ANSWER_TESTED,
    ANSWER_IN_FLIGHT,
    ANSWER_HELD,
    ANSWER_RESTING,
    ANSWER_PACED,
    ANSWER_TARGET_REFUSED,
    ANSWER_TARGET_GONE,
    ANSWER_TARGET_UNAVAILABLE,
    ANSWER_TARGET_TIMEOUT,
    ANSWER_STORE_UNAVAILABLE,
    ANSWER_OVERLOADED,
    ANSWER_DRAINING,
    ANSWER_UNAUTHORIZED,
    ANSWER_WRONG_HANDLE,
    ANSWER_INVALID_WAKE,
    ANSWER_UNSUPPORTED_VERSION,
    ANSWER_BAD_REQUEST,
    ANSWER_UNKNOWN_ROUTE,
    ANSWER_METHOD_NOT_ALLOWED,
    ANSWER_UNSUPPORTED_ENCODING,
    ANSWER_TOO_LARGE,
    ANSWER_LENGTH_REQUIRED,
    ANSWER_EXPECTATION_FAILED,
    ANSWER_HEADER_TOO_LARGE,
    ANSWER_INVALID_QUERY,
    ANSWER_NO_JOURNAL,
    ANSWER_UNKNOWN_DELIVERY,
    ANSWER_AMBIGUOUS_DELIVERY,
    ANSWER_UNKNOWN_TARGET,
    ANSWER_WAKE_NOT_KEPT,
    ANSWER_COUNT
};

const char *answer_code_name(enum answer_code code); /* "relayed", ... */
unsigned answer_status(enum answer_code code);
enum answer_code answer_for_outcome(enum outcome_code outcome);
enum answer_code answer_for_fault(enum http_fault fault);

/* What an exchange that was begun gets; each answers it. `why` is added to the message; NULL: the
 * table's text alone. */
void answer_error(struct exchange *exchange, enum answer_code code, const char *why);
void answer_method(struct exchange *exchange, const char *allow); /* 405 */
void answer_tested(struct exchange *exchange, struct slice delivery_id);
/* What became of a wake: 2xx with status, delivery_id, run and generation, or the error of that
 * outcome. */
void answer_outcome(struct exchange *exchange, struct slice delivery_id,
                    const struct outcome *outcome);

#endif
