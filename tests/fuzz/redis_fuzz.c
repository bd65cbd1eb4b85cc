/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server that calls itself Redis may send: however the bytes are cut, the answers are the
 * same; and whatever an answer says, it is one that the operation knows or it is refused, and can
 * be told to a person.
 */
#include "tests/fuzz/fuzz.h"

#include "gateway/store/redis.h"
#include "gateway/store/redis_fault.h"
#include "gateway/store/redis_script.h"
#include "gateway/store/redis_threads_script.h"

enum { STORY_BYTES = 16 * 1024 * 1024 };

static void check_operations(struct slice text)
{
    for (int verb = STORE_PING; verb <= STORE_HOLD; verb++) {
        struct store_op op = {.verb = (enum store_verb)verb};
        if (!redis_script_answer(&op, text))
            continue;
        assert(op.answer < STORE_DOWN && op.answer_ms >= 0);
        assert(op.repeats <= REPEATS_ENDED_HOLD);
        assert(op.repeats == REPEATS_NOTHING || op.answer == STORE_CLAIMED);
    }
    struct threads_op op = {.verb = THREADS_TAKE};
    assert(!redis_threads_script_answer(&op, text) || op.answer < THREADS_DOWN);
}

static void check_fault(struct slice words)
{
    struct err told = {.text = ""}, kept = {.text = ""};
    struct slice first, rest;

    redis_fault_read(words, false, &told);
    redis_fault_read(words, true, &kept);
    assert(told.text[0] && kept.text[0]);
    for (const char *at = told.text; *at; at++)
        assert(*at >= 0x20 && *at <= 0x7e);
    slice_cut(words, ' ', &first, &rest); /* a secret may stand after the first word */
    if (rest.len >= 40 && slice_is_visible(rest) && !slice_starts(words, SLICE("ERR Error")) &&
        !memmem(first.data, first.len, rest.data, 40))
        assert(!memmem(kept.text, strlen(kept.text), rest.data, 40));
}

static void tell(const struct redis_reply *reply, struct buf *story)
{
    buf_appendf(story, "%d %llu %zu ", (int)reply->kind, (unsigned long long)reply->count,
                reply->text.len);
    buf_append(story, reply->text);
    assert(reply->kind == REDIS_ARRAY || reply->count == 0);
    if (reply->kind == REDIS_TEXT)
        check_operations(reply->text);
    if (reply->kind == REDIS_ERROR)
        check_fault(reply->text);
}

/* In pieces of `piece` bytes; 0: all at once. */
static struct buf read_in_pieces(struct slice bytes, size_t piece)
{
    struct redis_reader *reader = redis_reader_new();
    struct buf story = BUF_INIT(STORY_BYTES);
    struct err err = {.text = ""};
    bool fine = true;

    while (fine && bytes.len > 0) {
        const struct slice part = slice_first(bytes, piece ? piece : bytes.len);
        struct redis_reply reply = {.kind = REDIS_TEXT};
        redis_reader_feed(reader, part);
        bytes = slice_from_at(bytes, part.len);
        while (fine && reply.kind != REDIS_INCOMPLETE) {
            fine = redis_reader_next(reader, &reply, &err);
            if (fine && reply.kind != REDIS_INCOMPLETE)
                tell(&reply, &story);
        }
    }
    assert(fine || err.text[0]);
    buf_append(&story, fine ? SLICE("fine") : SLICE("broken"));
    redis_reader_free(reader);
    return story;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct slice input = fuzz_slice(data, size);
    struct buf whole = read_in_pieces(input, 0);
    struct buf bytes = read_in_pieces(input, 1), parts = read_in_pieces(input, 5);

    assert(slice_eq(buf_slice(&whole), buf_slice(&bytes)));
    assert(slice_eq(buf_slice(&whole), buf_slice(&parts)));
    buf_release(&whole);
    buf_release(&bytes);
    buf_release(&parts);
    return 0;
}
