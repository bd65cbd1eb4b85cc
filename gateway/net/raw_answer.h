/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw_answer: an answer written straight to a connection that ends with it, past libmicrohttpd,
 * which takes no answer before a head is complete or while a body comes in.
 */
#ifndef WAKEGATE_NET_RAW_ANSWER_H
#define WAKEGATE_NET_RAW_ANSWER_H

#include "gateway/net/http_server.h"

/* Status, content type and body of the answer, and `reason` beside the status. Never waits: what
 * the socket does not take at once is lost. */
void raw_answer(int fd, const struct http_answer *answer, const char *reason);

#endif
