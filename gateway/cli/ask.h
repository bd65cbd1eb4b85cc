/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask: one question to a running gateway over HTTP, and its whole answer. A subcommand is a process
 * of its own, so it simply blocks, name look-up included. Plain HTTP only: a gateway is asked on
 * its own machine or network, or over its unix socket.
 */
#ifndef WAKEGATE_GATEWAY_CLI_ASK_H
#define WAKEGATE_GATEWAY_CLI_ASK_H

#include "gateway/core/buf.h"
#include "gateway/core/err.h"

struct ask_place {                /* where it listens */
    char host[256], port[8];      /* the host is "" for a unix socket */
    struct slice socket;          /* its path, NUL-terminated as it is in the URL */
    struct slice authority, path; /* in the URL; the path may be empty */
};

/* "http://host[:port][/path]", with an IPv6 address in brackets, or "unix:/path". Borrows `url`. */
bool ask_read_url(const char *url, struct ask_place *place, struct err *err);

struct ask_question {
    const char *method;  /* GET, or POST without a body */
    struct slice target; /* path and query */
    struct slice token;  /* empty: none */
};

/* Asks, and reads until the other side closes. `status` and `body`, into which the answer is
 * read, are set where there was an answer, whatever it says. `timeout_s` is for each step; 0: none.
 */
bool ask(const struct ask_place *place, const struct ask_question *question, unsigned timeout_s,
         unsigned *status, struct buf *body, struct err *err);

#endif
