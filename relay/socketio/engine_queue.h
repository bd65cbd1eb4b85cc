/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_queue: what waits to be sent: packets that were encoded once, by reference.
 *
 * A message holds its WebSocket frame, in which the text of a polling packet stands as well. A
 * queue without messages has no memory.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_ENGINE_QUEUE_H
#define WAKEGATE_RELAY_SOCKETIO_ENGINE_QUEUE_H

#include "relay/socketio/engine.h"
#include "relay/socketio/engine_packet.h"
#include "relay/socketio/websocket.h"

/* Beside engine_message_new: a text packet of any type, and a bare frame. */
struct engine_message *engine_message_packet(enum engine_packet_type type, struct slice text);
struct engine_message *engine_message_frame(enum websocket_opcode opcode, struct slice payload);

struct queue {
    struct queued *first, *last;
    size_t bytes; /* of whole frames, and the memory around them */
    size_t sent;  /* of the first frame */
};

void queue_add(struct queue *queue, struct engine_message *message); /* holds it */
/* Bytes that are no packet, before all others; nothing may be sent yet. */
void queue_add_head(struct queue *queue, struct slice bytes);
void queue_append(struct queue *queue, struct queue *more); /* empties `more` */
void queue_clear(struct queue *queue);

enum queue_written { QUEUE_ALL, QUEUE_PART, QUEUE_FAILED };

/* Writes frames to a socket as long as it takes them. */
enum queue_written queue_write(struct queue *queue, int fd);

/* Moves all packets to the end of a polling body. */
void queue_take(struct queue *queue, struct buf *body);
/* How long that body may become. */
size_t queue_body_max(const struct queue *queue);

#endif
