/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engine.IO packets and polling bodies: a body that can be read has one spelling, so its packets
 * written again are that body, byte for byte. What stands before a mistake is read as it would be
 * without it.
 */
#include "tests/fuzz/fuzz.h"

#include "relay/socketio/engine_packet.h"

enum { BODY_BYTES = 1024 * 1024 };

/* Reads packets until the end or a mistake, and writes what was read. */
static bool write_again(struct slice body, size_t most_binary, struct buf *again)
{
    struct buf bytes = BUF_INIT(most_binary);
    struct engine_packet packet;
    struct slice rest = body;
    bool fine = true;

    do {
        fine = engine_payload_next(&rest, &bytes, &packet);
        if (!fine)
            break;
        assert(packet.type <= ENGINE_NOOP && (!packet.binary || packet.type == ENGINE_MESSAGE));
        assert(packet.binary ? packet.data.len <= most_binary : slice_is_utf8(packet.data));
        assert(engine_payload_append(again, &packet));
    } while (rest.len > 0);
    buf_release(&bytes);
    return fine;
}

static void check_frame(struct slice text)
{
    struct buf body = BUF_INIT(BODY_BYTES);
    struct engine_packet packet;

    if (engine_packet_parse(text, &packet)) {
        assert(packet.type <= ENGINE_NOOP && !packet.binary && packet.data.len == text.len - 1);
        assert(engine_payload_append(&body, &packet));
        assert(slice_eq(buf_slice(&body), text));
    }
    buf_release(&body);
}

/* A body that is full stays as it is. */
static void check_full(struct slice data)
{
    const struct engine_packet packet = {.type = ENGINE_MESSAGE, .binary = true, .data = data};
    struct buf body = BUF_INIT(4 + data.len);

    buf_append(&body, SLICE("4ab"));
    assert(!engine_payload_append(&body, &packet));
    assert(slice_eq(buf_slice(&body), SLICE("4ab")) && buf_text(&body)[3] == '\0');
    buf_release(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = fuzz_copy(fuzz_slice(data, size));
    const struct slice input = {.data = copy, .len = size};
    struct buf again = BUF_INIT(BODY_BYTES), small = BUF_INIT(BODY_BYTES);

    if (write_again(input, size, &again))
        assert(slice_eq(buf_slice(&again), input));
    else
        assert(slice_starts(input, buf_slice(&again)));
    write_again(input, 8, &small);
    assert(slice_starts(buf_slice(&again), buf_slice(&small)));
    check_frame(input);
    check_full(input);
    buf_release(&again);
    buf_release(&small);
    free(copy);
    return 0;
}
