/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture: an HTTP request that somebody wrote down: request line, headers, a blank line, the body,
 * with CRLF or LF at the ends of lines.
 *
 * The body is what a signature covers, so nothing about it is guessed: a chunked one is put
 * together, a compressed one is refused, and one that is shorter or longer than its Content-Length
 * is refused too, except for one line end that an editor may have put behind it.
 */
#ifndef WAKEGATE_CLI_CAPTURE_H
#define WAKEGATE_CLI_CAPTURE_H

#include "gateway/core/buf.h"
#include "gateway/core/err.h"
#include "gateway/core/request.h"

enum { CAPTURE_BYTES = 4 * 1024 * 1024 };

struct capture {
    struct request request; /* borrows from the bytes, or from `joined` */
    struct buf joined;      /* owned: a chunked body put together */
};

/* `bytes` must outlive the capture. After false there is nothing to release. */
bool capture_parse(struct capture *capture, struct slice bytes, struct err *err);
void capture_release(struct capture *capture);

/* Reads a whole file, or standard input for NULL and "-", up to `into->max`. */
bool capture_read(const char *path, struct buf *into, struct err *err);

#endif
