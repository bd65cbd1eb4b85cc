/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_packet: the packets of Engine.IO v4. Pure.
 *
 * A text packet is a digit and a text. Over WebSocket each is one text frame, and a binary message
 * is one binary frame without a digit. A body of long polling carries any number of packets with
 * the byte 0x1e between them; there a binary message is a `b` and base64.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_ENGINE_PACKET_H
#define WAKEGATE_RELAY_SOCKETIO_ENGINE_PACKET_H

#include "gateway/core/buf.h"

enum engine_packet_type {
    ENGINE_OPEN,
    ENGINE_CLOSE,
    ENGINE_PING,
    ENGINE_PONG,
    ENGINE_MESSAGE,
    ENGINE_UPGRADE,
    ENGINE_NOOP
};

struct engine_packet {
    enum engine_packet_type type;
    bool binary; /* only of a message */
    struct slice data;
};

/* A text frame; `data` points into it. false: no packet. Whether the text is UTF-8 is for the frame
 * to know. */
bool engine_packet_parse(struct slice text, struct engine_packet *packet);

/* Takes the next packet off a polling body, `*rest`, which is empty after the last. `data` points
 * into the body or into `bytes`, which is overwritten. false: not a packet, not UTF-8, or binary of
 * more than `bytes` may hold. An empty body is no packet. */
bool engine_payload_next(struct slice *rest, struct buf *bytes, struct engine_packet *packet);

/* Adds a packet to a body, after a separator where one is due. false: the body would pass its
 * limit; then it is as it was, but for `overflow`. */
bool engine_payload_append(struct buf *body, const struct engine_packet *packet);

#endif
