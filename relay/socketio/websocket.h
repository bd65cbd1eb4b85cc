/* SPDX-License-Identifier: Apache-2.0 */
/*
 * websocket: the frames of RFC 6455, the server's side. Pure: no socket, no clock.
 *
 * A reader takes bytes in whatever pieces they come and gives out whole messages and control
 * frames, one a call. Between messages it holds no memory but its own struct, and while one arrives
 * only what has arrived: never what a head announces. Text is checked as UTF-8 while it comes. No
 * extension is spoken, so reserved bits and opcodes are faults. What must be answered (a pong, a
 * close) is the caller's part.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_WEBSOCKET_H
#define WAKEGATE_RELAY_SOCKETIO_WEBSOCKET_H

#include "gateway/core/buf.h"

enum websocket_opcode {
    WEBSOCKET_CONTINUATION = 0,
    WEBSOCKET_TEXT = 1,
    WEBSOCKET_BINARY = 2,
    WEBSOCKET_CLOSE = 8,
    WEBSOCKET_PING = 9,
    WEBSOCKET_PONG = 10
};

enum websocket_status {
    WEBSOCKET_NORMAL = 1000,
    WEBSOCKET_GOING_AWAY = 1001,
    WEBSOCKET_PROTOCOL_ERROR = 1002,
    WEBSOCKET_NO_STATUS = 1005, /* a close frame without one; never on the wire */
    WEBSOCKET_BAD_TEXT = 1007,
    WEBSOCKET_TOO_BIG = 1009
};

enum websocket_got {
    WEBSOCKET_GOT_NOTHING, /* all bytes are taken; more are needed */
    WEBSOCKET_GOT_TEXT,
    WEBSOCKET_GOT_BINARY,
    WEBSOCKET_GOT_PING,
    WEBSOCKET_GOT_PONG,
    WEBSOCKET_GOT_CLOSE, /* `status` and, as payload, the reason; what follows is ignored */
    WEBSOCKET_GOT_FAULT  /* close with `status`; what follows is ignored */
};

enum { WEBSOCKET_HEAD_MAX = 14, WEBSOCKET_CONTROL_MAX = 125, WEBSOCKET_ACCEPT_SIZE = 29 };

struct websocket_reader {
    struct buf message; /* of the message that is arriving or was given out last */
    struct buf control; /* the same of a control frame, which may stand between fragments */
    size_t checked;     /* bytes of a text that are whole characters */
    uint64_t left;      /* payload of this frame that is still to come */
    unsigned status;    /* after a close or a fault */
    unsigned char head[WEBSOCKET_HEAD_MAX], head_len;
    unsigned char mask_at;      /* which byte of the mask comes next */
    unsigned char opcode;       /* of the message; 0: none has begun */
    bool in_frame, whole, over; /* `whole`: the message was given out: forget it */
};

/* `max`: of one message, however many fragments it has; not 0. */
void websocket_reader_init(struct websocket_reader *reader, size_t max);
void websocket_reader_release(struct websocket_reader *reader);

/* Takes what it used off `*bytes`. Call it again until it says WEBSOCKET_GOT_NOTHING. `*payload` is
 * valid until the next call. */
enum websocket_got websocket_read(struct websocket_reader *reader, struct slice *bytes,
                                  struct slice *payload);

/* The head of an unfragmented, unmasked frame whose payload has `len` bytes; returns its length. */
size_t websocket_head(unsigned char head[static WEBSOCKET_HEAD_MAX], enum websocket_opcode opcode,
                      size_t len);
/* A whole frame. */
bool websocket_append(struct buf *out, enum websocket_opcode opcode, struct slice payload);
bool websocket_append_close(struct buf *out, enum websocket_status status);

/* The Sec-WebSocket-Accept that answers a Sec-WebSocket-Key, with a NUL. false: it is no key. */
bool websocket_accept(struct slice key, char accept[static WEBSOCKET_ACCEPT_SIZE]);

#endif
