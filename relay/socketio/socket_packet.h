/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_packet: the packets of Socket.IO v5, both ways. Pure.
 *
 * A packet is a type digit, for the binary types the count of its attachments and a dash, the
 * namespace and a comma unless it is "/", an acknowledgement id, and JSON. Its attachments follow
 * as binary messages; in the JSON each stands as {"_placeholder": true, "num": i}. What is refused
 * here has no meaning in the protocol; whether a packet may come now is not asked.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_SOCKET_PACKET_H
#define WAKEGATE_RELAY_SOCKETIO_SOCKET_PACKET_H

#include <jansson.h>

#include "gateway/core/buf.h"
#include "gateway/core/err.h"

enum socket_packet_type {
    SOCKET_CONNECT,
    SOCKET_DISCONNECT,
    SOCKET_EVENT,
    SOCKET_ACK,
    SOCKET_CONNECT_ERROR,
    SOCKET_BINARY_EVENT,
    SOCKET_BINARY_ACK
};

enum { SOCKET_ATTACHMENTS_MAX = 10, SOCKET_NAMESPACE_MAX = 128 };

/* An id that every peer can count to: JavaScript's numbers are exact up to here. */
#define SOCKET_ID_MAX ((uint64_t)1 << 53)

struct socket_packet {
    enum socket_packet_type type;
    struct slice name_space; /* "/" when the packet names none; borrowed from the text */
    bool has_id;             /* of an event: an acknowledgement is wanted */
    uint64_t id;
    unsigned attachments; /* that follow */
    json_t *json;         /* owned; NULL: none. Of an event an array that begins with its name */
};

/* Refuses: an unknown type; a namespace or an id that is too long; a count of attachments outside 1
 * to 10; JSON that packet_json.h refuses; a payload that the type does not allow; an event without
 * a name, with a NUL in it, or with a name that the protocol keeps for itself; an acknowledgement
 * without an id, an id elsewhere than in events and acknowledgements; placeholders
 * that do not name each attachment once. */
bool socket_packet_parse(struct slice text, struct socket_packet *packet, struct err *err);
void socket_packet_release(struct socket_packet *packet);

/* false: `out` would pass its limit. */
bool socket_packet_append(struct buf *out, const struct socket_packet *packet);

bool socket_packet_is_binary(const struct socket_packet *packet);

#endif
