/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/socketio/handshake.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/digest.h"

struct handshake {
    size_t size, header_count;
    struct header headers[]; /* and behind them what they point at */
};

static struct slice keep(struct slice text, char **room)
{
    struct slice kept = {.data = *room, .len = text.len};

    if (text.len > 0)
        memcpy(*room, text.data, text.len);
    *room += text.len;
    return kept;
}

struct handshake *handshake_new(const struct request *request)
{
    size_t count = request->header_count;
    size_t size = sizeof(struct handshake) + count * sizeof(struct header);

    for (size_t i = 0; i < count; i++)
        size += request->headers[i].name.len + request->headers[i].value.len;
    struct handshake *handshake = mem_new(size);
    char *room = (char *)&handshake->headers[count];
    handshake->size = size;
    handshake->header_count = count;
    for (size_t i = 0; i < count; i++) {
        handshake->headers[i].name = keep(request->headers[i].name, &room);
        handshake->headers[i].value = keep(request->headers[i].value, &room);
    }
    return handshake;
}

void handshake_free(struct handshake *handshake)
{
    if (!handshake)
        return;
    digest_wipe(handshake, handshake->size);
    free(handshake);
}

void handshake_request(const struct handshake *handshake, struct request *request)
{
    *request = (struct request){.header_count = handshake->header_count};
    memcpy(request->headers, handshake->headers,
           handshake->header_count * sizeof(request->headers[0]));
}
