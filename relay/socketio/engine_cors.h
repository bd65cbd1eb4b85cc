/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_cors: which pages of other origins a browser lets read the answers of long polling (the
 * CORS protocol of the Fetch standard). It keeps nobody else out: what a client may do is decided
 * by its credentials.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_ENGINE_CORS_H
#define WAKEGATE_RELAY_SOCKETIO_ENGINE_CORS_H

#include "gateway/net/http_server.h"

struct cors {
    char **origins;
    size_t count;
    bool any;
};

void cors_init(struct cors *cors, const char *const *origins);
void cors_release(struct cors *cors);

enum { CORS_FIELDS = 5 };

/* false: a web page asks that is none of those listed, where some are, nor of this server itself.
 * For WebSocket: the answers of HTTP are kept from such a page by the browser. */
bool cors_admits(const struct cors *cors, const struct request *request);

/* What an answer to this request says about origins. The values are borrowed from both. */
size_t cors_fields(const struct cors *cors, const struct request *request,
                   struct http_field fields[static CORS_FIELDS]);

/* The same for an answer to OPTIONS; false: it is no preflight of an origin that may in. */
bool cors_preflight(const struct cors *cors, const struct request *request,
                    struct http_field fields[static CORS_FIELDS], size_t *count);

#endif
