/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_words: an answer written straight to a connection that ends with it, past libmicrohttpd,
 * which takes no answer before a head is complete or while a body comes in.
 */
#ifndef WAKEGATE_NET_LAST_WORDS_H
#define WAKEGATE_NET_LAST_WORDS_H

#include "gateway/net/http_server.h"

/* Status, content type and body of the answer, and `reason` beside the status. Never waits: what
 * the socket does not take at once is lost. */
void last_words(int fd, const struct http_answer *answer, const char *reason);

#endif
