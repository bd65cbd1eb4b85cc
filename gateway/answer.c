/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/answer.h"

#include <assert.h>

#include "gateway/core/quote.h"
#include "gateway/core/retry_after.h"

struct row {
    unsigned status;
    const char *code;
    const char *message;
    int64_t retry_after_ms; /* where nobody named a time; 0: the row has no Retry-After */
    bool close;             /* the connection cannot go on after it */
};

static const struct row rows[ANSWER_COUNT] = {
    [ANSWER_RELAYED] = {200, "relayed", "The target accepted the wake.", 0, false},
    [ANSWER_DUPLICATE] = {200, "duplicate", "This wake was relayed before.", 0, false},
    [ANSWER_TESTED] = {200, "tested", "The test wake is genuine; this route relays none.", 0,
                       false},
    [ANSWER_IN_FLIGHT] = {503, "in_flight", "This wake is being relayed.", 10000, false},
    [ANSWER_HELD] = {503, "held",
                     "Nobody knows whether the target took this wake; it is held for a while.",
                     60000, false},
    [ANSWER_RESTING] = {503, "resting", "The target rests after a wake whose outcome nobody knows.",
                        60000, false},
    [ANSWER_PACED] = {503, "paced", "The target has had its wakes for now.", 60000, false},
    [ANSWER_TARGET_REFUSED] = {502, "target_refused", "The target refused the wake.", 0, false},
    [ANSWER_TARGET_GONE] = {502, "target_gone", "The target wants no more wakes.", 0, false},
    [ANSWER_TARGET_UNAVAILABLE] = {503, "target_unavailable", "The target cannot take a wake now.",
                                   60000, false},
    [ANSWER_TARGET_TIMEOUT] = {504, "target_timeout",
                               "The wake was sent, and the target did not answer in time.", 0,
                               false},
    [ANSWER_STORE_UNAVAILABLE] = {503, "store_unavailable",
                                  "The store that remembers wakes cannot be asked.", 10000, false},
    [ANSWER_OVERLOADED] = {503, "overloaded", "Too much is under way here.", 10000, false},
    [ANSWER_DRAINING] = {503, "draining", "This gateway is shutting down.", 10000, true},
    [ANSWER_UNAUTHORIZED] = {401, "unauthorized", "The request does not prove where it comes from.",
                             0, false},
    [ANSWER_WRONG_HANDLE] = {403, "wrong_handle", "The wake is for another agent.", 0, false},
    [ANSWER_INVALID_WAKE] = {400, "invalid_wake", "The body is not a wake", 0, false},
    [ANSWER_UNSUPPORTED_VERSION] = {400, "unsupported_version",
                                    "Only version 1 of the wake payload is understood.", 0, false},
    [ANSWER_BAD_REQUEST] = {400, "bad_request", "The request's header is not well-formed.", 0,
                            true},
    [ANSWER_UNKNOWN_ROUTE] = {404, "unknown_route", "Nothing is here.", 0, false},
    [ANSWER_METHOD_NOT_ALLOWED] = {405, "method_not_allowed", "This path takes another method.", 0,
                                   false},
    [ANSWER_UNSUPPORTED_ENCODING] = {415, "unsupported_encoding",
                                     "The body must be sent as it is, without a content coding.", 0,
                                     true},
    [ANSWER_TOO_LARGE] = {413, "too_large", "The body is too large.", 0, true},
    [ANSWER_LENGTH_REQUIRED] = {411, "length_required", "The request says no length of its body.",
                                0, true},
    [ANSWER_EXPECTATION_FAILED] = {417, "expectation_failed",
                                   "No expectation but 100-continue can be met.", 0, true},
    [ANSWER_HEADER_TOO_LARGE] = {431, "header_too_large", "The request's header is too large.", 0,
                                 true},
    [ANSWER_INVALID_QUERY] = {400, "invalid_query", "The query cannot be answered", 0, false},
    [ANSWER_NO_JOURNAL] = {404, "no_journal", "The config turns the journal off.", 0, false},
    [ANSWER_UNKNOWN_DELIVERY] = {404, "unknown_delivery",
                                 "The journal has no delivery of this id, route and target.", 0,
                                 false},
    [ANSWER_AMBIGUOUS_DELIVERY] = {409, "ambiguous_delivery",
                                   "The id was delivered to several targets; name one of them", 0,
                                   false},
    [ANSWER_UNKNOWN_TARGET] = {409, "unknown_target",
                               "The config has no such route and target any more", 0, false},
    [ANSWER_WAKE_NOT_KEPT] = {409, "wake_not_kept", "The wake cannot be delivered again", 0, false},
};

const char *answer_code_name(enum answer_code code)
{
    return rows[code].code;
}

unsigned answer_status(enum answer_code code)
{
    return rows[code].status;
}

enum answer_code answer_for_outcome(enum outcome_code outcome)
{
    static const enum answer_code codes[OUTCOME_COUNT] = {
        [OUTCOME_ACCEPTED] = ANSWER_RELAYED,
        [OUTCOME_REFUSED] = ANSWER_TARGET_REFUSED,
        [OUTCOME_GONE] = ANSWER_TARGET_GONE,
        [OUTCOME_UNAVAILABLE] = ANSWER_TARGET_UNAVAILABLE,
        [OUTCOME_AMBIGUOUS] = ANSWER_TARGET_TIMEOUT,
        [OUTCOME_DUPLICATE] = ANSWER_DUPLICATE,
        [OUTCOME_IN_FLIGHT] = ANSWER_IN_FLIGHT,
        [OUTCOME_HELD] = ANSWER_HELD,
        [OUTCOME_RESTING] = ANSWER_RESTING,
        [OUTCOME_PACED] = ANSWER_PACED,
        [OUTCOME_STORE_UNAVAILABLE] = ANSWER_STORE_UNAVAILABLE,
        [OUTCOME_DRAINING] = ANSWER_DRAINING,
    };

    return codes[outcome];
}

/* The body of one answer. None is longer: messages and codes are ours, ids and runs bounded, and
 * what is said of a mistake fits a struct err. */
enum { BODY_BYTES = 4096 };

static void put(struct buf *body, const char *key, struct slice text)
{
    buf_append(body, body->len > 0 ? SLICE(",\"") : SLICE("{\""));
    buf_append(body, slice_from(key));
    buf_append(body, SLICE("\":\""));
    quote_append(body, text);
    buf_append_char(body, '"');
}

static void put_row(struct buf *body, const struct row *row)
{
    put(body, "code", slice_from(row->code));
    put(body, "message", slice_from(row->message));
}

/* Sends the body, which lacks its end, and releases it. */
static void send_row(struct exchange *exchange, const struct row *row, const char *allow,
                     int64_t retry_after_ms, struct buf *body)
{
    buf_append_char(body, '}');
    assert(!body->overflow);
    struct http_answer answer = {
        .status = row->status,
        .content_type = "application/json",
        .allow = allow,
        .close = row->close,
        .body = buf_slice(body),
    };

    if (row->retry_after_ms > 0)
        answer.retry_after_s =
            retry_after_seconds(retry_after_ms > 0 ? retry_after_ms : row->retry_after_ms);
    exchange_answer(exchange, &answer);
    buf_release(body);
}

void answer_error(struct exchange *exchange, enum answer_code code, const char *why)
{
    const struct row *row = &rows[code];
    struct buf body = BUF_INIT(BODY_BYTES), message = BUF_INIT(BODY_BYTES);

    if (why) {
        buf_appendf(&message, "%s: %s.", row->message, why);
        put(&body, "code", slice_from(row->code));
        put(&body, "message", buf_slice(&message));
        buf_release(&message);
    } else {
        put_row(&body, row);
    }
    send_row(exchange, row, NULL, 0, &body);
}

void answer_method(struct exchange *exchange, const char *allow)
{
    const struct row *row = &rows[ANSWER_METHOD_NOT_ALLOWED];
    struct buf body = BUF_INIT(BODY_BYTES);

    put_row(&body, row);
    send_row(exchange, row, allow, 0, &body);
}

static void answer_success(struct exchange *exchange, enum answer_code code,
                           struct slice delivery_id, const char *run, int64_t generation)
{
    const struct row *row = &rows[code];
    struct buf body = BUF_INIT(BODY_BYTES);

    put(&body, "status", slice_from(row->code));
    put(&body, "delivery_id", delivery_id);
    if (run[0])
        put(&body, "run", slice_from(run));
    if (generation > 0) {
        buf_append(&body, SLICE(",\"generation\":"));
        buf_append_number(&body, (uint64_t)generation, 1);
    }
    send_row(exchange, row, NULL, 0, &body);
}

void answer_tested(struct exchange *exchange, struct slice delivery_id)
{
    answer_success(exchange, ANSWER_TESTED, delivery_id, "", 0);
}

void answer_outcome(struct exchange *exchange, struct slice delivery_id,
                    const struct outcome *outcome)
{
    enum answer_code code = answer_for_outcome(outcome->code);
    const struct row *row = &rows[code];

    if (row->status == 200) {
        answer_success(exchange, code, delivery_id, outcome->run, outcome->generation);
        return;
    }
    struct buf body = BUF_INIT(BODY_BYTES);
    put_row(&body, row);
    put(&body, "delivery_id", delivery_id);
    send_row(exchange, row, NULL, outcome->retry_after_ms, &body);
}

enum answer_code answer_for_fault(enum http_fault fault)
{
    static const enum answer_code codes[] = {
        [FAULT_BAD_REQUEST] = ANSWER_BAD_REQUEST,
        [FAULT_TOO_LARGE] = ANSWER_TOO_LARGE,
        [FAULT_NO_LENGTH] = ANSWER_LENGTH_REQUIRED,
        [FAULT_EXPECTATION] = ANSWER_EXPECTATION_FAILED,
        [FAULT_TOO_MANY_HEADERS] = ANSWER_HEADER_TOO_LARGE,
        [FAULT_NO_ROOM] = ANSWER_OVERLOADED,
    };

    return codes[fault];
}
