/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Socket.IO packets and what is assembled from them. Lines are messages: one that begins with `b`
 * is binary. A packet that was read, written and read again is the same; an assembled one has as
 * many attachments as it announced, within the limit; one that was refused says why in UTF-8.
 */
#include "tests/fuzz/fuzz.h"

#include "relay/socketio/assembly.h"

enum { PACKET_BYTES = 4 * 1024 * 1024, ATTACHMENTS_BYTES = 40 };

static void check_packet(const struct socket_packet *packet)
{
    struct buf text = BUF_INIT(PACKET_BYTES);
    struct err err = {.text = ""};
    struct socket_packet again;

    assert(packet->type <= SOCKET_BINARY_ACK);
    assert(packet->name_space.len <= SOCKET_NAMESPACE_MAX && packet->id <= SOCKET_ID_MAX);
    assert((packet->attachments > 0) == socket_packet_is_binary(packet));
    assert(packet->attachments <= SOCKET_ATTACHMENTS_MAX);
    assert(socket_packet_append(&text, packet));
    assert(socket_packet_parse(buf_slice(&text), &again, &err));
    assert(again.type == packet->type && again.attachments == packet->attachments);
    assert(again.has_id == packet->has_id && again.id == packet->id);
    assert(slice_eq(again.name_space, packet->name_space));
    assert(again.json == packet->json || json_equal(again.json, packet->json));
    socket_packet_release(&again);
    buf_release(&text);
}

static void check_whole(const struct assembly *assembly)
{
    size_t bytes = 0;

    assert(assembly->count == assembly->packet.attachments);
    for (unsigned i = 0; i < assembly->count; i++)
        bytes += assembly->attachments[i].len;
    assert(bytes <= ATTACHMENTS_BYTES);
    check_packet(&assembly->packet);
}

/* A message in memory that goes away after it was taken. */
static enum assembly_got take(struct assembly *assembly, struct slice line, struct err *err)
{
    const bool binary = slice_starts(line, SLICE("b"));
    const struct slice bytes = binary ? slice_from_at(line, 1) : line;
    char *copy = fuzz_copy(bytes);
    const struct slice message = {.data = copy, .len = bytes.len};
    enum assembly_got got = binary ? assembly_binary(assembly, message, ATTACHMENTS_BYTES, err)
                                   : assembly_text(assembly, message, err);

    free(copy);
    return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = fuzz_slice(data, size);
    struct assembly assembly = {0};

    while (input.len > 0) {
        struct err err = {.text = ""};
        const struct slice line = fuzz_line(&input);
        if (!slice_is_utf8(line) && !slice_starts(line, SLICE("b")))
            continue; /* no text message is anything else */
        enum assembly_got got = take(&assembly, line, &err);
        if (got == ASSEMBLY_WHOLE)
            check_whole(&assembly);
        assert(got != ASSEMBLY_FAULT || (err.text[0] && slice_is_utf8(slice_from(err.text))));
        if (got != ASSEMBLY_MORE)
            assembly_clear(&assembly);
    }
    assembly_clear(&assembly);
    return 0;
}
