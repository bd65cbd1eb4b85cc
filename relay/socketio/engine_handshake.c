/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/socketio/engine_handshake.h"

static bool has_token(struct slice list, struct slice token)
{
    struct slice one;
    bool more = true;

    while (more) {
        more = slice_cut(list, ',', &one, &list);
        if (slice_eq_nocase(slice_trim(one), token))
            return true;
    }
    return false;
}

bool handshake_is_meant(const struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    struct slice connection, upgrade;

    return !exchange->http_1_0 && slice_eq(exchange->method, SLICE("GET")) &&
           request_header(request, SLICE("Connection"), &connection) == HEADER_FOUND &&
           has_token(connection, SLICE("upgrade")) &&
           request_header(request, SLICE("Upgrade"), &upgrade) == HEADER_FOUND &&
           has_token(upgrade, SLICE("websocket"));
}

static bool is_well_formed(const struct request *request, char accept[static WEBSOCKET_ACCEPT_SIZE])
{
    struct slice key, version;

    return request_header(request, SLICE("Sec-WebSocket-Version"), &version) == HEADER_FOUND &&
           slice_eq(version, SLICE("13")) &&
           request_header(request, SLICE("Sec-WebSocket-Key"), &key) == HEADER_FOUND &&
           websocket_accept(key, accept);
}

bool handshake_read(struct exchange *exchange, char accept[static WEBSOCKET_ACCEPT_SIZE])
{
    static const struct http_field version = {"Sec-WebSocket-Version", SLICE("13")};

    if (is_well_formed(&exchange->request, accept))
        return true;
    exchange_answer(exchange, &(struct http_answer){.status = 400,
                                                    .content_type = "text/html",
                                                    .close = true,
                                                    .body = SLICE("Bad request"),
                                                    .fields = &version,
                                                    .field_count = 1});
    return false;
}

void handshake_answer(struct exchange *exchange, const char *accept, struct link *link)
{
    const struct http_field fields[] = {{"Upgrade", SLICE("websocket")},
                                        {"Sec-WebSocket-Accept", slice_from(accept)}};

    exchange_upgrade(exchange,
                     &(struct http_upgrade){
                         .fields = fields, .field_count = 2, .taken = link_taken, .context = link});
}
