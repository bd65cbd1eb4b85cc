/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw_answer: answers past libmicrohttpd: one written straight to a connection that ends with it,
 * since libmicrohttpd takes none before a head is complete or while a body comes in; and the 101 of
 * a connection that leaves HTTP.
 */
#ifndef WAKEGATE_NET_RAW_ANSWER_H
#define WAKEGATE_NET_RAW_ANSWER_H

#include "gateway/core/buf.h"
#include "gateway/net/http_server.h"

/* Status, content type and body of the answer, and `reason` beside the status. Never waits: what
 * the socket does not take at once is lost. */
void raw_answer(int fd, const struct http_answer *answer, const char *reason);

/* Makes `text` the head of a 101. */
void raw_switching(struct buf *text, const struct http_field *fields, size_t count);

#endif
