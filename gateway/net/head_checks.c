/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/head_checks.h"

#include <assert.h>
#include <stdio.h>

#include "gateway/core/clock.h"

void receive_fault(const struct http_handlers *handlers, struct exchange *exchange,
                   enum http_fault fault)
{
    exchange->close = true;
    handlers->fault(handlers->context, exchange, fault);
    assert(exchange->answered);
}

static bool is_refused(const struct exchange *exchange, const struct head *head,
                       enum http_fault *fault)
{
    if (head->expectation == EXPECT_UNKNOWN) {
        *fault = FAULT_EXPECTATION;
        return true;
    }
    if (slice_eq(exchange->method, SLICE("POST")) && !head->has_length && !head->chunked) {
        *fault = FAULT_NO_LENGTH;
        return true;
    }
    *fault = FAULT_TOO_LARGE;
    return head->length > exchange->max_body || (head->chunked && exchange->max_body == 0);
}

void receive_head(const struct head_given *given, const struct http_handlers *handlers,
                  struct exchange *exchange, struct head *head)
{
    enum http_fault fault;

    exchange->method = given->method;
    exchange->path = given->path;
    exchange->http_1_0 = slice_eq(given->version, SLICE("HTTP/1.0"));
    exchange->began_us = clock_steady_us();
    snprintf(exchange->peer, sizeof(exchange->peer), "%s", given->peer);
    if (given->too_many_headers) {
        receive_fault(handlers, exchange, FAULT_TOO_MANY_HEADERS);
        return;
    }
    bool whole = head_line_is_whole(given->method, given->path, given->target_len, given->version);
    if (!whole || !head_read(&exchange->request, given->version, given->end, head)) {
        receive_fault(handlers, exchange, FAULT_BAD_REQUEST);
        return;
    }
    handlers->head(handlers->context, exchange);
    if (!exchange->answered && is_refused(exchange, head, &fault))
        receive_fault(handlers, exchange, fault);
}
