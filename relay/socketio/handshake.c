/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/socketio/handshake.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/digest.h"

struct handshake {
    size_t size, header_count;
    char bytes[]; /* of each header: struct lengths, its name, its value */
};

struct lengths {
    uint16_t name, value;
};

/* All that the HTTP server lets through is. */
static bool is_kept(const struct header *header)
{
    return header->name.len <= UINT16_MAX && header->value.len <= UINT16_MAX;
}

static size_t room_for(const struct header *header)
{
    return sizeof(struct lengths) + header->name.len + header->value.len;
}

static char *put(char *at, const void *bytes, size_t len)
{
    if (len > 0)
        memcpy(at, bytes, len);
    return at + len;
}

static struct slice take(const char **at, size_t len)
{
    struct slice taken = {.data = *at, .len = len};

    *at += len;
    return taken;
}

struct handshake *handshake_new(const struct request *request)
{
    size_t size = sizeof(struct handshake);

    for (size_t i = 0; i < request->header_count; i++)
        size += is_kept(&request->headers[i]) ? room_for(&request->headers[i]) : 0;
    struct handshake *handshake = mem_new(size);
    char *at = handshake->bytes;
    handshake->size = size;
    for (size_t i = 0; i < request->header_count; i++) {
        const struct header *header = &request->headers[i];
        const struct lengths lengths = {(uint16_t)header->name.len, (uint16_t)header->value.len};
        if (!is_kept(header))
            continue;
        at = put(at, &lengths, sizeof(lengths));
        at = put(at, header->name.data, header->name.len);
        at = put(at, header->value.data, header->value.len);
        handshake->header_count++;
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
    const char *at = handshake->bytes;
    struct lengths lengths;

    *request = (struct request){.header_count = handshake->header_count};
    for (size_t i = 0; i < handshake->header_count; i++) {
        memcpy(&lengths, at, sizeof(lengths));
        at += sizeof(lengths);
        request->headers[i].name = take(&at, lengths.name);
        request->headers[i].value = take(&at, lengths.value);
    }
}
