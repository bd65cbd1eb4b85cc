/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream of WebSocket frames: however it is cut, it says the same; messages are no longer than
 * allowed, texts are UTF-8. The same bytes as a payload, sent in fragments, arrive as they were.
 *
 * The first byte chooses the longest message and the pieces.
 */
#include "tests/fuzz/fuzz.h"

#include "relay/socketio/websocket.h"

enum { STORY_BYTES = 1024 * 1024 };

struct story { /* what a reader gave out, in order */
    struct buf told;
    bool over;
};

static void check_payload(enum websocket_got got, struct slice payload, size_t max, unsigned status)
{
    const bool control = got >= WEBSOCKET_GOT_PING && got <= WEBSOCKET_GOT_CLOSE;

    assert(payload.len <= (control ? WEBSOCKET_CONTROL_MAX : max));
    assert((got != WEBSOCKET_GOT_TEXT && got != WEBSOCKET_GOT_CLOSE) || slice_is_utf8(payload));
    assert(got != WEBSOCKET_GOT_FAULT || status == WEBSOCKET_PROTOCOL_ERROR ||
           status == WEBSOCKET_BAD_TEXT || status == WEBSOCKET_TOO_BIG);
    assert(got != WEBSOCKET_GOT_CLOSE || (status >= 1000 && status <= 4999 && status != 1006));
}

static void listen(struct websocket_reader *reader, struct slice bytes, struct story *story)
{
    const size_t max = reader->message.max;

    for (;;) {
        struct slice payload = {0};
        enum websocket_got got = websocket_read(reader, &bytes, &payload);
        if (got == WEBSOCKET_GOT_NOTHING)
            break;
        check_payload(got, payload, max, reader->status);
        assert(!story->over);
        story->over = got == WEBSOCKET_GOT_CLOSE || got == WEBSOCKET_GOT_FAULT;
        buf_appendf(&story->told, "%d %u %zu ", (int)got, story->over ? reader->status : 0,
                    payload.len);
        buf_append(&story->told, payload);
    }
    assert(bytes.len == 0);
}

/* In pieces of `piece` bytes, each in memory of its own; 0: all at once. */
static struct buf read_in_pieces(struct slice bytes, size_t max, size_t piece)
{
    struct story story = {.told = BUF_INIT(STORY_BYTES)};
    struct websocket_reader reader;

    websocket_reader_init(&reader, max);
    while (bytes.len > 0) {
        const struct slice part = slice_first(bytes, piece ? piece : bytes.len);
        char *copy = fuzz_copy(part);
        listen(&reader, (struct slice){.data = copy, .len = part.len}, &story);
        free(copy);
        bytes = slice_from_at(bytes, part.len);
    }
    websocket_reader_release(&reader);
    return story.told;
}

static void append_masked(struct buf *out, unsigned first, struct slice payload)
{
    static const char mask[4] = {0x12, (char)0x80, 0, (char)0xff};
    unsigned char head[WEBSOCKET_HEAD_MAX];
    const size_t len = websocket_head(head, WEBSOCKET_BINARY, payload.len);

    head[0] = (unsigned char)first;
    head[1] |= 0x80;
    buf_append(out, (struct slice){.data = (const char *)head, .len = len});
    buf_append(out, (struct slice){.data = mask, .len = sizeof(mask)});
    for (size_t i = 0; i < payload.len; i++)
        buf_append_char(out, (char)(payload.data[i] ^ mask[i % 4]));
}

/* As a client would send it: fragments of `piece` bytes, with a ping between them. */
static void check_fragments(struct slice payload, size_t piece)
{
    struct buf sent = BUF_INIT(STORY_BYTES);
    struct buf want = BUF_INIT(STORY_BYTES);
    struct slice rest = payload;
    unsigned opcode = WEBSOCKET_BINARY;

    while (rest.len > piece) {
        append_masked(&sent, opcode, slice_first(rest, piece));
        append_masked(&sent, 0x80 | WEBSOCKET_PING, SLICE("?"));
        buf_appendf(&want, "%d 0 1 ?", (int)WEBSOCKET_GOT_PING);
        rest = slice_from_at(rest, piece);
        opcode = WEBSOCKET_CONTINUATION;
    }
    append_masked(&sent, 0x80 | opcode, rest);
    buf_appendf(&want, "%d 0 %zu ", (int)WEBSOCKET_GOT_BINARY, payload.len);
    buf_append(&want, payload);
    struct buf told = read_in_pieces(buf_slice(&sent), payload.len + 1, piece);
    assert(slice_eq(buf_slice(&told), buf_slice(&want)));
    buf_release(&told);
    buf_release(&want);
    buf_release(&sent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = fuzz_slice(data, size);
    const unsigned choice = fuzz_byte(&input);
    const size_t max = choice & 1 ? 70000 : 1 + choice / 2, piece = 1 + choice / 16;

    struct buf whole = read_in_pieces(input, max, 0);
    struct buf bytes = read_in_pieces(input, max, 1);
    struct buf parts = read_in_pieces(input, max, piece + 1);
    assert(slice_eq(buf_slice(&whole), buf_slice(&bytes)));
    assert(slice_eq(buf_slice(&whole), buf_slice(&parts)));
    buf_release(&whole);
    buf_release(&bytes);
    buf_release(&parts);
    check_fragments(input, 3 * piece);
    return 0;
}
