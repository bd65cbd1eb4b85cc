/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/socketio/engine_queue.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { FRAMES_PER_WRITE = 64 };

struct engine_message {
    unsigned holders;
    bool binary;
    unsigned char head_len;
    size_t len; /* of the frame */
    char frame[];
};

struct queued {
    struct queued *next;
    struct engine_message *message;
};

/* What a message weighs in a queue: small ones are mostly what stands around them. */
static size_t weight(const struct engine_message *message)
{
    enum { ALLOCATOR = 16 };

    return message->len + sizeof(*message) + sizeof(struct queued) + 2 * (size_t)ALLOCATOR;
}

/* ---- messages ---- */

static struct engine_message *new_message(size_t head_len, size_t len)
{
    struct engine_message *message = mem_grow(NULL, sizeof(*message) + len);

    *message =
        (struct engine_message){.holders = 1, .head_len = (unsigned char)head_len, .len = len};
    return message;
}

static struct engine_message *new_frame(enum websocket_opcode opcode, struct slice prefix,
                                        struct slice bytes)
{
    unsigned char head[WEBSOCKET_HEAD_MAX];
    size_t head_len = websocket_head(head, opcode, prefix.len + bytes.len);
    struct engine_message *message = new_message(head_len, head_len + prefix.len + bytes.len);

    message->binary = opcode == WEBSOCKET_BINARY;
    memcpy(message->frame, head, head_len);
    if (prefix.len > 0)
        memcpy(message->frame + head_len, prefix.data, prefix.len);
    if (bytes.len > 0)
        memcpy(message->frame + head_len + prefix.len, bytes.data, bytes.len);
    return message;
}

struct engine_message *engine_message_packet(enum engine_packet_type type, struct slice text)
{
    const char digit = (char)('0' + type);

    return new_frame(WEBSOCKET_TEXT, (struct slice){.data = &digit, .len = 1}, text);
}

struct engine_message *engine_message_frame(enum websocket_opcode opcode, struct slice payload)
{
    return new_frame(opcode, (struct slice){0}, payload);
}

struct engine_message *engine_message_new(struct slice bytes, bool binary)
{
    return binary ? engine_message_frame(WEBSOCKET_BINARY, bytes)
                  : engine_message_packet(ENGINE_MESSAGE, bytes);
}

struct engine_message *engine_message_hold(struct engine_message *message)
{
    message->holders++;
    return message;
}

void engine_message_drop(struct engine_message *message)
{
    assert(message->holders > 0);
    message->holders--;
    if (message->holders == 0)
        free(message);
}

/* ---- queues ---- */

void queue_add(struct queue *queue, struct engine_message *message)
{
    struct queued *one = mem_new(sizeof(*one));

    one->message = engine_message_hold(message);
    if (queue->last)
        queue->last->next = one;
    else
        queue->first = one;
    queue->last = one;
    queue->bytes += weight(message);
}

void queue_add_head(struct queue *queue, struct slice bytes)
{
    struct queued *one = mem_new(sizeof(*one));

    assert(queue->sent == 0 && bytes.len > 0);
    one->message = new_message(0, bytes.len);
    memcpy(one->message->frame, bytes.data, bytes.len);
    one->next = queue->first;
    queue->first = one;
    if (!queue->last)
        queue->last = one;
    queue->bytes += weight(one->message);
}

void queue_append(struct queue *queue, struct queue *more)
{
    if (!more->first)
        return;
    assert(more->sent == 0);
    if (queue->last)
        queue->last->next = more->first;
    else
        queue->first = more->first;
    queue->last = more->last;
    queue->bytes += more->bytes;
    *more = (struct queue){0};
}

static void drop_first(struct queue *queue)
{
    struct queued *one = queue->first;

    queue->first = one->next;
    if (!queue->first)
        queue->last = NULL;
    queue->bytes -= weight(one->message);
    queue->sent = 0;
    engine_message_drop(one->message);
    free(one);
}

void queue_clear(struct queue *queue)
{
    while (queue->first)
        drop_first(queue);
}

static size_t gather(const struct queue *queue, struct iovec frames[static FRAMES_PER_WRITE])
{
    size_t count = 0, sent = queue->sent;

    for (struct queued *one = queue->first; one && count < FRAMES_PER_WRITE; one = one->next) {
        frames[count++] = (struct iovec){.iov_base = one->message->frame + sent,
                                         .iov_len = one->message->len - sent};
        sent = 0;
    }
    return count;
}

static void forget(struct queue *queue, size_t written)
{
    while (queue->first && written >= queue->first->message->len - queue->sent) {
        written -= queue->first->message->len - queue->sent;
        drop_first(queue);
    }
    queue->sent += written;
}

enum queue_written queue_write(struct queue *queue, int fd)
{
    struct iovec frames[FRAMES_PER_WRITE];

    while (queue->first) {
        const struct msghdr message = {.msg_iov = frames, .msg_iovlen = gather(queue, frames)};
        ssize_t written = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (written >= 0)
            forget(queue, (size_t)written);
        else if (errno == EAGAIN || errno == ENOBUFS)
            return QUEUE_PART;
        else if (errno != EINTR)
            return QUEUE_FAILED;
    }
    return QUEUE_ALL;
}

static struct engine_packet packet_of(const struct engine_message *message)
{
    struct slice payload = {.data = message->frame + message->head_len,
                            .len = message->len - message->head_len};

    if (message->binary)
        return (struct engine_packet){.type = ENGINE_MESSAGE, .binary = true, .data = payload};
    return (struct engine_packet){.type = (enum engine_packet_type)(payload.data[0] - '0'),
                                  .data = slice_from_at(payload, 1)};
}

void queue_take(struct queue *queue, struct buf *body)
{
    while (queue->first) {
        struct engine_packet packet = packet_of(queue->first->message);
        engine_payload_append(body, &packet);
        drop_first(queue);
    }
}

/* A frame's head has at least two bytes, so a text packet and its separator are no longer than its
 * frame; base64 is less than twice as long. */
size_t queue_body_max(const struct queue *queue)
{
    return 2 * queue->bytes;
}
