/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request: what a dialect reads of one HTTP request. All of it is borrowed from whoever holds the
 * connection (the HTTP server, `wakegate verify`) and valid until that request is answered.
 */
#ifndef WAKEGATE_CORE_REQUEST_H
#define WAKEGATE_CORE_REQUEST_H

#include "gateway/core/limits.h"
#include "gateway/core/slice.h"

struct header {
    struct slice name, value; /* the value without blanks around it */
};

struct request {
    struct header headers[LIMIT_HEADERS];
    size_t header_count;
    struct slice body; /* the raw bytes, as received after chunked coding */
};

/* false: there are LIMIT_HEADERS already. */
bool request_add_header(struct request *request, struct slice name, struct slice value);

enum header_found { HEADER_ABSENT, HEADER_FOUND, HEADER_REPEATED };

/* Looks a header up, whatever the case of its name. A header that stands there more than once is
 * HEADER_REPEATED, whatever its values; `*value` is set only for HEADER_FOUND. */
enum header_found request_header(const struct request *request, struct slice name,
                                 struct slice *value);
/* The same for the parameters of a query, whose names have one case. */
enum header_found request_parameter(const struct request *query, struct slice name,
                                    struct slice *value);

#endif
