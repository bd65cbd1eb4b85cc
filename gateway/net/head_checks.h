/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head_checks: what is decided about a request when its head is complete, in this order: its shape
 * (400), whatever the `head` handler answers (404, 405), its expectation (417), its length (411,
 * 413).
 */
#ifndef WAKEGATE_NET_HEAD_CHECKS_H
#define WAKEGATE_NET_HEAD_CHECKS_H

#include "gateway/net/head.h"
#include "gateway/net/http_server.h"

/* What the HTTP library gave, see head_read and head_line_is_whole. */
struct head_given {
    struct slice method, path, version;
    size_t target_len;
    const char *peer;
    const char *end;
    bool too_many_headers;
};

/* Fills the exchange in and calls `head`, `fault` or both. Afterwards the exchange is answered, or
 * its body is wanted. */
void receive_head(const struct head_given *given, const struct http_handlers *handlers,
                  struct exchange *exchange, struct head *head);

/* Calls `fault`; the connection is closed after its answer. */
void receive_fault(const struct http_handlers *handlers, struct exchange *exchange,
                   enum http_fault fault);

#endif
