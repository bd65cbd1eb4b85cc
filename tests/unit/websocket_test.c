/* SPDX-License-Identifier: Apache-2.0 */
/* Each case is a stream of frames and the story that the reader must tell of it, whole and in
 * pieces of every small size. */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

#include "relay/socketio/websocket.h"

enum { LIMIT = 300 };

/* ---- frames as a client sends them */

struct frame {
    unsigned first; /* FIN, reserved bits, opcode */
    const char *payload;
    size_t len; /* 0: as long as the text */
    bool unmasked;
};

enum { FIN = 0x80, MORE = 0 };

static char many[70000];

#define F(first, text)                                                                             \
    {                                                                                              \
        first, text, 0, false                                                                      \
    }
#define LONG(first, len)                                                                           \
    {                                                                                              \
        first, many, len, false                                                                    \
    }
#define UNMASKED(first, text)                                                                      \
    {                                                                                              \
        first, text, 0, true                                                                       \
    }

static void append_frame(struct buf *out, const struct frame *frame)
{
    static const unsigned char mask[4] = {0x37, 0xfa, 0x21, 0x3d};
    size_t len = frame->len ? frame->len : strlen(frame->payload);
    unsigned char head[WEBSOCKET_HEAD_MAX];
    size_t head_len = websocket_head(head, WEBSOCKET_TEXT, len);

    head[0] = (unsigned char)frame->first;
    if (!frame->unmasked)
        head[1] |= 0x80;
    buf_append(out, (struct slice){(const char *)head, head_len});
    if (!frame->unmasked)
        buf_append(out, (struct slice){(const char *)mask, sizeof(mask)});
    for (size_t i = 0; i < len; i++)
        buf_append_char(out, frame->unmasked
                                 ? frame->payload[i]
                                 : (char)((unsigned char)frame->payload[i] ^ mask[i & 3]));
}

/* ---- the story */

static void tell(struct buf *story, struct websocket_reader *reader, enum websocket_got got,
                 struct slice payload)
{
    static const char *const names[] = {"", "text", "binary", "ping", "pong", "close", "fault"};

    buf_appendf(story, "%s%s", story->len > 0 ? " " : "", names[got]);
    if (got == WEBSOCKET_GOT_CLOSE || got == WEBSOCKET_GOT_FAULT)
        buf_appendf(story, " %u", reader->status);
    if (got == WEBSOCKET_GOT_FAULT)
        return;
    if (payload.len > 40)
        buf_appendf(story, ":%zu bytes", payload.len);
    else
        buf_appendf(story, ":%.*s", SLICE_ARG(payload));
}

static void read_piece(struct websocket_reader *reader, struct slice piece, struct buf *story)
{
    char *copy = malloc(piece.len); /* so that a sanitizer sees what is read beyond it */
    struct slice rest = {.data = copy, .len = piece.len}, payload = {0};
    enum websocket_got got = WEBSOCKET_GOT_NOTHING;

    memcpy(copy, piece.data, piece.len);
    do {
        got = websocket_read(reader, &rest, &payload);
        if (got != WEBSOCKET_GOT_NOTHING)
            tell(story, reader, got, payload);
    } while (got != WEBSOCKET_GOT_NOTHING);
    assert_int_equal(rest.len, 0);
    free(copy);
}

/* 1 to 9, and all at once. */
static size_t next_size(size_t size, size_t len)
{
    return size < 9 || size >= len ? size + 1 : len;
}

static void check_stream(struct slice stream, const char *expected)
{
    for (size_t size = 1; size <= stream.len; size = next_size(size, stream.len)) {
        struct websocket_reader reader;
        struct buf story = BUF_INIT(4096);

        websocket_reader_init(&reader, LIMIT);
        for (size_t at = 0; at < stream.len; at += size)
            read_piece(&reader, slice_first(slice_from_at(stream, at), size), &story);
        assert_string_equal(buf_text(&story), expected);
        websocket_reader_release(&reader);
        buf_release(&story);
    }
}

static const struct {
    const char *story;
    struct frame frames[6];
} frames[] = {
    {"text:Hello", {F(FIN | 1, "Hello")}},
    {"text:", {F(FIN | 1, "")}},
    {"binary:\xff\xfe", {F(FIN | 2, "\xff\xfe")}},
    {"text:a binary:b text:c", {F(FIN | 1, "a"), F(FIN | 2, "b"), F(FIN | 1, "c")}},
    {"text:125 bytes", {LONG(FIN | 1, 125)}},
    {"text:126 bytes", {LONG(FIN | 1, 126)}},
    {"text:300 bytes", {LONG(FIN | 1, LIMIT)}},
    /* fragments, control frames in between */
    {"text:abc", {F(MORE | 1, "a"), F(MORE, "b"), F(FIN, "c")}},
    {"text:", {F(MORE | 1, ""), F(MORE, ""), F(FIN, "")}},
    {"ping:p pong:q binary:ab", {F(MORE | 2, "a"), F(FIN | 9, "p"), F(FIN | 10, "q"), F(FIN, "b")}},
    {"text:ab text:c", {F(MORE | 1, "a"), F(FIN, "b"), F(FIN | 1, "c")}},
    {"text:300 bytes", {LONG(MORE | 1, 150), LONG(FIN, 150)}},
    {"ping:125 bytes", {LONG(FIN | 9, 125)}},
    {"ping: pong:", {F(FIN | 9, ""), F(FIN | 10, "")}},
    /* characters across fragments */
    {"text:\xc3\xa9", {F(MORE | 1, "\xc3"), F(FIN, "\xa9")}},
    {"ping:x text:\xf0\x9f\x98\x80",
     {F(MORE | 1, "\xf0\x9f"), F(FIN | 9, "x"), F(MORE, "\x98"), F(FIN, "\x80")}},
    {"text:\xe0\xa0\x80\xed\x9f\xbf\xf4\x8f\xbf\xbf",
     {F(MORE | 1, "\xe0"), F(MORE, "\xa0\x80\xed"), F(MORE, "\x9f\xbf\xf4"),
      F(FIN, "\x8f\xbf\xbf")}},
    {"fault 1007", {F(FIN | 1, "\xc3")}},
    {"fault 1007", {F(MORE | 1, "a\xc3"), F(FIN, "")}},
    {"fault 1007", {F(MORE | 1, "\xc3"), F(MORE, "(")}},
    {"fault 1007", {F(MORE | 1, "\xed\xa0")}}, /* at once: no character begins so */
    {"fault 1007", {F(MORE | 1, "\xc0")}},
    {"fault 1007", {F(MORE | 1, "\xf4\x90")}},
    {"fault 1007", {F(MORE | 1, "\xf5")}},
    {"fault 1007", {F(MORE | 1, "\x80")}},
    {"fault 1007", {F(MORE | 1, "\xe0\x80")}},
    {"ping:\xff binary:\xc3", {F(FIN | 9, "\xff"), F(FIN | 2, "\xc3")}}, /* only text is text */
    /* closing */
    {"close 1005:", {F(FIN | 8, ""), F(FIN | 1, "ignored")}},
    {"close 1000:", {F(FIN | 8, "\x03\xe8")}},
    {"close 1001:bye",
     {F(FIN | 8, "\x03\xe9"
                 "bye")}},
    {"close 4999:", {F(FIN | 8, "\x13\x87")}},
    {"fault 1002", {F(FIN | 8, "\x03")}},
    {"fault 1007", {F(FIN | 8, "\x03\xe8\xc3")}},
    {"close 1000:", {F(MORE | 1, "a"), F(FIN | 8, "\x03\xe8")}},
    /* what is no frame */
    {"fault 1002", {UNMASKED(FIN | 1, "Hello")}},
    {"text:a fault 1002", {F(FIN | 1, "a"), UNMASKED(FIN | 1, "")}},
    {"fault 1002", {F(FIN | 0x40 | 1, "a"), F(FIN | 1, "ignored")}},
    {"fault 1002", {F(FIN | 0x20 | 1, "a")}},
    {"fault 1002", {F(FIN | 0x10 | 8, "")}},
    {"fault 1002", {F(FIN | 3, "a")}},
    {"fault 1002", {F(FIN | 7, "a")}},
    {"fault 1002", {F(FIN | 11, "a")}},
    {"fault 1002", {F(FIN | 15, "a")}},
    {"fault 1002", {F(MORE | 9, "a")}},
    {"fault 1002", {F(MORE | 8, "")}},
    {"fault 1002", {LONG(FIN | 9, 126)}},
    {"fault 1002", {F(FIN, "a")}},
    {"fault 1002", {F(MORE | 1, "a"), F(FIN | 1, "b")}},
    {"fault 1002", {F(MORE | 1, "a"), F(MORE | 2, "b")}},
    {"text:ab fault 1002", {F(MORE | 1, "a"), F(FIN, "b"), F(FIN, "c")}},
    /* too much */
    {"fault 1009", {LONG(FIN | 1, LIMIT + 1)}},
    {"fault 1009", {LONG(FIN | 2, 70000)}},
    {"fault 1009", {LONG(MORE | 1, LIMIT), F(FIN, "a")}},
    {"text:300 bytes text:a", {LONG(MORE | 1, LIMIT), F(FIN, ""), F(FIN | 1, "a")}},
};

static void test_frames(void **state)
{
    (void)state;
    memset(many, 'x', sizeof(many));
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        struct buf stream = BUF_INIT(1 << 20);
        for (const struct frame *frame = frames[i].frames; frame->payload; frame++)
            append_frame(&stream, frame);
        check_stream(buf_slice(&stream), frames[i].story);
        buf_release(&stream);
    }
}

/* Every status that a close frame can carry. */
static void test_close_statuses(void **state)
{
    (void)state;
    for (unsigned status = 0; status <= UINT16_MAX; status++) {
        const char payload[] = {(char)(status >> 8), (char)(status & 0xff)};
        const struct frame frame = {FIN | 8, payload, 2, false};
        struct websocket_reader reader;
        struct buf stream = BUF_INIT(100);
        bool right = (status >= 1000 && status <= 1003) || (status >= 1007 && status <= 1014) ||
                     (status >= 3000 && status <= 4999);

        append_frame(&stream, &frame);
        websocket_reader_init(&reader, LIMIT);
        struct slice rest = buf_slice(&stream), reason;
        enum websocket_got got = websocket_read(&reader, &rest, &reason);
        assert_int_equal(got, right ? WEBSOCKET_GOT_CLOSE : WEBSOCKET_GOT_FAULT);
        assert_int_equal(reader.status, right ? status : WEBSOCKET_PROTOCOL_ERROR);
        websocket_reader_release(&reader);
        buf_release(&stream);
    }
}

/* Of a close that is refused nothing is given out. */
static void test_bad_reason(void **state)
{
    const struct frame frame = {FIN | 8, "\x03\xe8\xff", 3, false};
    struct websocket_reader reader;
    struct buf stream = BUF_INIT(100);

    (void)state;
    append_frame(&stream, &frame);
    websocket_reader_init(&reader, LIMIT);
    struct slice rest = buf_slice(&stream), reason = SLICE("as it was");
    assert_int_equal(websocket_read(&reader, &rest, &reason), WEBSOCKET_GOT_FAULT);
    assert_int_equal(reader.status, WEBSOCKET_BAD_TEXT);
    assert_true(slice_eq(reason, SLICE("as it was")));
    websocket_reader_release(&reader);
    buf_release(&stream);
}

/* Lengths that are not in their shortest form, or that nobody can send. */
static void test_lengths(void **state)
{
    (void)state;
    check_stream(SLICE("\x81\xfe\x00\x7d\x00\x00\x00\x00"), "fault 1002");
    check_stream(SLICE("\x81\xff\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x00\x00"), "fault 1002");
    check_stream(SLICE("\x82\xff\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), "fault 1002");
    check_stream(SLICE("\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00"), "fault 1009");
    check_stream(SLICE("\x81\xfe"), "");
}

/* An announced length takes no memory, and neither does a reader that has nothing to read. */
static void test_memory(void **state)
{
    struct websocket_reader reader;
    struct buf story = BUF_INIT(4096);

    (void)state;
    websocket_reader_init(&reader, 100000000);
    read_piece(&reader, SLICE("\x82\xff\x00\x00\x00\x00\x05\xf5\xe1\x00\x00\x00\x00\x00x"), &story);
    assert_true(reader.message.size <= 64);
    websocket_reader_release(&reader);
    websocket_reader_init(&reader, LIMIT);
    read_piece(&reader, SLICE("\x81\x81\x00\x00\x00\x00x\x89\x81\x00\x00\x00\x00y"), &story);
    assert_string_equal(buf_text(&story), "text:x ping:y");
    assert_null(reader.message.data);
    assert_null(reader.control.data);
    assert_true(sizeof(reader) <= 160);
    buf_release(&story);
}

static void test_writing(void **state)
{
    static const struct {
        size_t len;
        const char *head;
        size_t head_len;
    } cases[] = {
        {0, "\x81\x00", 2},
        {125, "\x81\x7d", 2},
        {126, "\x81\x7e\x00\x7e", 4},
        {65535, "\x81\x7e\xff\xff", 4},
        {65536, "\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00", 10},
    };
    unsigned char head[WEBSOCKET_HEAD_MAX];
    struct buf out = BUF_INIT(64);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(websocket_head(head, WEBSOCKET_TEXT, cases[i].len), cases[i].head_len);
        assert_memory_equal(head, cases[i].head, cases[i].head_len);
    }
    assert_true(websocket_append(&out, WEBSOCKET_PONG, SLICE("hi")));
    assert_true(websocket_append_close(&out, WEBSOCKET_TOO_BIG));
    assert_true(websocket_append_close(&out, WEBSOCKET_NO_STATUS));
    assert_true(slice_eq(buf_slice(&out), SLICE("\x8a\x02hi\x88\x02\x03\xf1\x88\x00")));
    buf_release(&out);
}

static void test_accept(void **state)
{
    char accept[WEBSOCKET_ACCEPT_SIZE];

    (void)state;
    assert_true(websocket_accept(SLICE("dGhlIHNhbXBsZSBub25jZQ=="), accept)); /* RFC 6455, 1.3 */
    assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_false(websocket_accept(SLICE(""), accept));
    assert_false(websocket_accept(SLICE("dGhlIHNhbXBsZSBub25j"), accept));     /* 15 bytes */
    assert_false(websocket_accept(SLICE("dGhlIHNhbXBsZSBub25jZWU="), accept)); /* 17 */
    assert_false(websocket_accept(SLICE("dGhlIHNhbXBsZSBub25jZQ"), accept));
    assert_false(websocket_accept(SLICE("dGhlIHNhbXBsZSBub25jZR=="), accept));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),     cmocka_unit_test(test_close_statuses),
        cmocka_unit_test(test_bad_reason), cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_writing),
        cmocka_unit_test(test_accept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
