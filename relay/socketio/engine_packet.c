/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/socketio/engine_packet.h"

#include "gateway/core/codec.h"

enum { SEPARATOR = 0x1e };

bool engine_packet_parse(struct slice text, struct engine_packet *packet)
{
    if (text.len == 0 || text.data[0] < '0' || text.data[0] > '0' + ENGINE_NOOP)
        return false;
    *packet = (struct engine_packet){
        .type = (enum engine_packet_type)(text.data[0] - '0'),
        .data = slice_from_at(text, 1),
    };
    return true;
}

static bool parse_binary(struct slice base64, struct buf *bytes, struct engine_packet *packet)
{
    size_t room = base64.len / 4 * 3, len = 0;

    buf_clear(bytes);
    if (room > bytes->max) /* by as much as the padding */
        room = bytes->max;
    char *at = buf_reserve(bytes, room);
    if (!at || !base64_decode(base64, (unsigned char *)at, room, &len))
        return false;
    bytes->len = len;
    *packet =
        (struct engine_packet){.type = ENGINE_MESSAGE, .binary = true, .data = buf_slice(bytes)};
    return true;
}

bool engine_payload_next(struct slice *rest, struct buf *bytes, struct engine_packet *packet)
{
    struct slice text;
    bool more = slice_cut(*rest, SEPARATOR, &text, rest);

    if (more && rest->len == 0) /* a separator with nothing behind it */
        return false;
    if (slice_starts(text, SLICE("b")))
        return parse_binary(slice_from_at(text, 1), bytes, packet);
    return slice_is_utf8(text) && engine_packet_parse(text, packet);
}

static void append_binary(struct buf *body, struct slice data)
{
    size_t size = BASE64_SIZE(data.len); /* with a NUL, for which a buf has room anyway */
    char *at = buf_reserve(body, size - 1);

    if (!at)
        return;
    base64_encode((const unsigned char *)data.data, data.len, at);
    body->len += size - 1;
}

bool engine_payload_append(struct buf *body, const struct engine_packet *packet)
{
    size_t before = body->len;

    if (before > 0)
        buf_append_char(body, SEPARATOR);
    buf_append_char(body, packet->binary ? 'b' : (char)('0' + packet->type));
    if (packet->binary)
        append_binary(body, packet->data);
    else
        buf_append(body, packet->data);
    if (!body->overflow)
        return true;
    body->len = before;
    if (body->data)
        body->data[before] = '\0';
    return false;
}
