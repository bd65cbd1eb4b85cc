/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_head: what counts of an answer's head, line by line: is it whole, is it short enough, is
 * there a transfer coding that nobody asked for, and which of the headers that somebody wants.
 *
 * libcurl undoes transfer codings whether they were asked for or not, up to five on top of each
 * other. A body that is coded so can keep the loop busy for hours without one byte coming out, so
 * it is not read: the answer counts by its status.
 */
#ifndef WAKEGATE_RELAY_HTTP_HEAD_H
#define WAKEGATE_RELAY_HTTP_HEAD_H

#include "gateway/core/buf.h"
#include "gateway/core/err.h"

struct http_head {
    size_t bytes; /* of all heads of one answer, the interim ones and the trailer too */
    bool whole;   /* libcurl is content when a connection ends inside a head */
    bool coded;   /* a transfer coding other than chunked */
    const char *const *wanted; /* names of headers, NULL-terminated; NULL: none */
    struct buf *kept;          /* those of the last head, "Name: value" lines ended by NUL each */
};

/* `line` with its end. false: nothing more may be read. */
bool http_head_take(struct http_head *head, struct slice line);

/* Says why nothing more may be read; false: not because of the head. */
bool http_head_explain(const struct http_head *head, struct err *err);

#endif
