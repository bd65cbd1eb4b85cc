/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A packet is encoded when it is made: its text and each of its attachments are messages of the
 * engine, so that sending it to a socket copies nothing.
 */
#include "relay/socketio/socketio_parts.h"

#include <stdlib.h>

/* More than the bounds on what comes in can make go out. What passes it is not sent. */
enum { PACKET_BYTES_MAX = 64 * 1024 * 1024 };

struct socketio_packet {
    unsigned references;
    size_t count; /* the text, and each attachment */
    struct engine_message *messages[];
};

static enum socket_packet_type binary_type(enum socket_packet_type type)
{
    return type == SOCKET_EVENT ? SOCKET_BINARY_EVENT : SOCKET_BINARY_ACK;
}

struct socketio_packet *socketio_packet_new(struct socket_packet packet,
                                            const struct socketio_arguments *arguments)
{
    size_t attachments = arguments ? arguments->attachment_count : 0;
    struct socketio_packet *encoded =
        mem_new(sizeof(*encoded) + (1 + attachments) * sizeof(struct engine_message *));
    struct buf text = BUF_INIT(PACKET_BYTES_MAX);

    if (attachments > 0)
        packet.type = binary_type(packet.type);
    packet.attachments = (unsigned)attachments;
    encoded->references = 1;
    if (socket_packet_append(&text, &packet)) {
        encoded->messages[encoded->count++] = engine_message_new(buf_slice(&text), false);
        for (size_t i = 0; i < attachments; i++)
            encoded->messages[encoded->count++] =
                engine_message_new(arguments->attachments[i], true);
    }
    buf_release(&text);
    return encoded;
}

struct socketio_packet *socketio_event(const char *namespace_name, const char *name,
                                       const struct socketio_arguments *arguments)
{
    json_t *event = arguments && arguments->json ? json_copy(arguments->json) : json_array();

    json_array_insert_new(event, 0, json_string(name));
    struct socketio_packet *packet = socketio_packet_new(
        (struct socket_packet){
            .type = SOCKET_EVENT, .name_space = slice_from(namespace_name), .json = event},
        arguments);
    json_decref(event);
    return packet;
}

struct socketio_packet *socketio_packet_hold(struct socketio_packet *packet)
{
    packet->references++;
    return packet;
}

void socketio_packet_drop(struct socketio_packet *packet)
{
    if (--packet->references > 0)
        return;
    for (size_t i = 0; i < packet->count; i++)
        engine_message_drop(packet->messages[i]);
    free(packet);
}

void socketio_packet_send(const struct socketio_packet *packet, struct engine_session *session)
{
    for (size_t i = 0; i < packet->count; i++)
        engine_send(session, packet->messages[i]);
}
