/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frame's head is gathered in the reader and judged once it is complete; its payload is unmasked
 * while it is copied into the message (or the control frame) it belongs to. A status is a fault as
 * soon as it is not 0.
 */
#include "relay/socketio/websocket.h"

#include <assert.h>
#include <string.h>

#include "gateway/core/codec.h"
#include "gateway/core/digest.h"

enum { FINAL = 0x80, RESERVED = 0x70, MASKED = 0x80, KEY_BYTES = 16 };

void websocket_reader_init(struct websocket_reader *reader, size_t max)
{
    assert(max > 0);
    *reader = (struct websocket_reader){.message = BUF_INIT(max),
                                        .control = BUF_INIT(WEBSOCKET_CONTROL_MAX)};
}

void websocket_reader_release(struct websocket_reader *reader)
{
    buf_release(&reader->message);
    buf_release(&reader->control);
}

/* ---- the head */

static unsigned opcode_of(const struct websocket_reader *reader)
{
    return reader->head[0] & 0x0f;
}

static bool is_final(const struct websocket_reader *reader)
{
    return (reader->head[0] & FINAL) != 0;
}

static bool is_control(const struct websocket_reader *reader)
{
    return (opcode_of(reader) & 8) != 0;
}

/* Bytes of the length that follow the second byte. */
static size_t length_bytes(const struct websocket_reader *reader)
{
    unsigned short_length = reader->head[1] & 0x7f;

    return short_length == 126 ? 2 : short_length == 127 ? 8 : 0;
}

static const unsigned char *mask_of(const struct websocket_reader *reader)
{
    return reader->head + 2 + length_bytes(reader);
}

/* true: the head is complete. */
static bool take_head(struct websocket_reader *reader, struct slice *bytes)
{
    while (bytes->len > 0) {
        reader->head[reader->head_len++] = (unsigned char)bytes->data[0];
        *bytes = slice_from_at(*bytes, 1);
        if (reader->head_len < 2)
            continue;
        /* An unmasked frame ends here, so that it is refused before it is waited for. */
        size_t tail = reader->head[1] & MASKED ? length_bytes(reader) + 4 : 0;
        if (reader->head_len == 2 + tail)
            return true;
    }
    return false;
}

/* The shortest form that can hold a length is the only one. */
static bool read_length(struct websocket_reader *reader)
{
    size_t count = length_bytes(reader);
    uint64_t length = count == 0 ? reader->head[1] & 0x7f : 0;

    for (size_t i = 0; i < count; i++)
        length = length << 8 | reader->head[2 + i];
    reader->left = length;
    if (count == 2)
        return length >= 126;
    return count == 0 || (length > UINT16_MAX && length <= INT64_MAX);
}

static unsigned judge_control(const struct websocket_reader *reader)
{
    if (opcode_of(reader) > WEBSOCKET_PONG || !is_final(reader) ||
        reader->left > WEBSOCKET_CONTROL_MAX)
        return WEBSOCKET_PROTOCOL_ERROR;
    return 0;
}

static unsigned judge_data(const struct websocket_reader *reader)
{
    bool continues = opcode_of(reader) == WEBSOCKET_CONTINUATION;

    if (opcode_of(reader) > WEBSOCKET_BINARY || continues != (reader->opcode != 0))
        return WEBSOCKET_PROTOCOL_ERROR;
    if (reader->left > reader->message.max - reader->message.len)
        return WEBSOCKET_TOO_BIG;
    return 0;
}

/* The status of the fault that a complete head is; 0: none. */
static unsigned judge_head(struct websocket_reader *reader)
{
    if ((reader->head[0] & RESERVED) || !(reader->head[1] & MASKED) || !read_length(reader))
        return WEBSOCKET_PROTOCOL_ERROR;
    return is_control(reader) ? judge_control(reader) : judge_data(reader);
}

static void begin_frame(struct websocket_reader *reader)
{
    reader->in_frame = true;
    reader->mask_at = 0;
    if (!is_control(reader) && reader->opcode == 0)
        reader->opcode = (unsigned char)opcode_of(reader);
}

/* ---- the payload */

static void take_payload(struct websocket_reader *reader, struct slice *bytes)
{
    struct buf *buf = is_control(reader) ? &reader->control : &reader->message;
    size_t len = bytes->len < reader->left ? bytes->len : (size_t)reader->left;
    const unsigned char *mask = mask_of(reader);
    char *room = buf_reserve(buf, len);

    assert(room); /* the head was judged */
    for (size_t i = 0; i < len; i++)
        room[i] = (char)((unsigned char)bytes->data[i] ^ mask[(reader->mask_at + i) & 3]);
    buf->len += len;
    reader->mask_at = (unsigned char)((reader->mask_at + len) & 3);
    reader->left -= len;
    *bytes = slice_from_at(*bytes, len);
}

/* Can the beginning of a character become one? Every first byte that may stand takes either 0x80 or
 * 0xa0 as its second, and every further one may be 0x80. */
static bool may_become_character(struct slice part)
{
    char with_80[4] = {(char)0x80, (char)0x80, (char)0x80, (char)0x80}, with_a0[4];

    if (part.len >= sizeof(with_80))
        return false;
    memcpy(with_80, part.data, part.len);
    memcpy(with_a0, with_80, sizeof(with_a0));
    with_a0[part.len] = (char)0xa0;
    return slice_utf8_sequence((struct slice){with_80, sizeof(with_80)}) > part.len ||
           slice_utf8_sequence((struct slice){with_a0, sizeof(with_a0)}) > part.len;
}

/* What has come of a text is characters, the last one perhaps not complete. */
static bool check_text(struct websocket_reader *reader)
{
    struct slice rest = slice_from_at(buf_slice(&reader->message), reader->checked);

    while (rest.len > 0) {
        size_t len = slice_utf8_sequence(rest);
        if (len == 0)
            return may_become_character(rest);
        reader->checked += len;
        rest = slice_from_at(rest, len);
    }
    return true;
}

/* ---- what is complete */

static enum websocket_got fault(struct websocket_reader *reader, unsigned status)
{
    websocket_reader_release(reader);
    reader->over = true;
    reader->status = status;
    return WEBSOCKET_GOT_FAULT;
}

/* RFC 6455, section 7.4, and the registry that it opened. */
static bool may_be_sent(unsigned status)
{
    if (status >= 3000)
        return status <= 4999;
    return status >= 1000 && status <= 1014 && (status < 1004 || status > 1006);
}

static enum websocket_got finish_close(struct websocket_reader *reader, struct slice *payload)
{
    struct slice body = buf_slice(&reader->control);
    unsigned status = WEBSOCKET_NO_STATUS;

    if (body.len == 1)
        return fault(reader, WEBSOCKET_PROTOCOL_ERROR);
    if (body.len > 1)
        status = (unsigned)(unsigned char)body.data[0] << 8 | (unsigned char)body.data[1];
    if (body.len > 1 && !may_be_sent(status))
        return fault(reader, WEBSOCKET_PROTOCOL_ERROR);
    if (!slice_is_utf8(slice_from_at(body, 2)))
        return fault(reader, WEBSOCKET_BAD_TEXT);
    reader->over = true;
    reader->status = status;
    *payload = slice_from_at(body, 2);
    return WEBSOCKET_GOT_CLOSE;
}

static enum websocket_got finish_message(struct websocket_reader *reader, struct slice *payload)
{
    bool text = reader->opcode == WEBSOCKET_TEXT;

    if (!is_final(reader))
        return WEBSOCKET_GOT_NOTHING;
    if (text && reader->checked < reader->message.len)
        return fault(reader, WEBSOCKET_BAD_TEXT);
    *payload = buf_slice(&reader->message);
    reader->whole = true;
    return text ? WEBSOCKET_GOT_TEXT : WEBSOCKET_GOT_BINARY;
}

static enum websocket_got finish_frame(struct websocket_reader *reader, struct slice *payload)
{
    reader->in_frame = false;
    reader->head_len = 0;
    if (!is_control(reader))
        return finish_message(reader, payload);
    if (opcode_of(reader) == WEBSOCKET_CLOSE)
        return finish_close(reader, payload);
    *payload = buf_slice(&reader->control);
    return opcode_of(reader) == WEBSOCKET_PING ? WEBSOCKET_GOT_PING : WEBSOCKET_GOT_PONG;
}

/* Of what the last call gave out. */
static void forget(struct websocket_reader *reader)
{
    if (!reader->in_frame || !is_control(reader))
        buf_release(&reader->control);
    if (!reader->whole)
        return;
    buf_release(&reader->message);
    reader->whole = false;
    reader->opcode = 0;
    reader->checked = 0;
}

enum websocket_got websocket_read(struct websocket_reader *reader, struct slice *bytes,
                                  struct slice *payload)
{
    enum websocket_got got = WEBSOCKET_GOT_NOTHING;

    forget(reader);
    if (reader->over)
        *bytes = (struct slice){0};
    while (got == WEBSOCKET_GOT_NOTHING && !reader->over) {
        if (!reader->in_frame) {
            if (!take_head(reader, bytes))
                break;
            unsigned wrong = judge_head(reader);
            if (wrong)
                return fault(reader, wrong);
            begin_frame(reader);
        }
        take_payload(reader, bytes);
        if (!is_control(reader) && reader->opcode == WEBSOCKET_TEXT && !check_text(reader))
            return fault(reader, WEBSOCKET_BAD_TEXT);
        if (reader->left > 0)
            break;
        got = finish_frame(reader, payload);
    }
    return got;
}

/* ---- writing */

size_t websocket_head(unsigned char head[static WEBSOCKET_HEAD_MAX], enum websocket_opcode opcode,
                      size_t len)
{
    size_t count = len < 126 ? 0 : len <= UINT16_MAX ? 2 : 8;

    head[0] = (unsigned char)(FINAL | (unsigned)opcode);
    head[1] = count == 0 ? (unsigned char)len : count == 2 ? 126 : 127;
    for (size_t i = 0; i < count; i++)
        head[2 + i] = (unsigned char)(len >> 8 * (count - 1 - i) & 0xff);
    return 2 + count;
}

bool websocket_append(struct buf *out, enum websocket_opcode opcode, struct slice payload)
{
    unsigned char head[WEBSOCKET_HEAD_MAX];
    size_t len = websocket_head(head, opcode, payload.len);

    return buf_append(out, (struct slice){.data = (const char *)head, .len = len}) &&
           buf_append(out, payload);
}

bool websocket_append_close(struct buf *out, enum websocket_status status)
{
    const char code[] = {(char)(status >> 8), (char)(status & 0xff)};
    bool none = status == WEBSOCKET_NO_STATUS;

    return websocket_append(out, WEBSOCKET_CLOSE,
                            (struct slice){.data = code, .len = none ? 0 : sizeof(code)});
}

bool websocket_accept(struct slice key, char accept[static WEBSOCKET_ACCEPT_SIZE])
{
    struct buf text = BUF_INIT(128);
    unsigned char bytes[KEY_BYTES], digest[SHA1_BYTES];
    size_t len = 0;

    if (!base64_decode(key, bytes, sizeof(bytes), &len) || len != sizeof(bytes))
        return false;
    buf_append(&text, key);
    buf_append(&text, SLICE("258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
    sha1(buf_slice(&text), digest);
    buf_release(&text);
    base64_encode(digest, sizeof(digest), accept);
    return true;
}
