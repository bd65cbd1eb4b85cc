/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's history as the store gives it back, which other programs may have written to: each
 * line is an entry. Whatever stands there, the answer to a client can be written, holds no more
 * than is kept, and its offer is one that was announced.
 */
#include "tests/fuzz/fuzz.h"

#include "relay/room/history.h"

enum { KEPT = 6, ANSWER_BYTES = 300 };

#define WALL_MS INT64_C(1794474000123)
#define KEPT_MS INT64_C(60000)

static void check_settled(const struct history *history, struct history_settled *settled)
{
    if (settled->interrupt && history->pending) {
        const json_t *pending = json_object_get(history->pending, "interruptId");
        assert(strcmp(json_string_value(pending), settled->interrupt) != 0 ||
               strlen(settled->interrupt) != json_string_length(pending));
    }
    assert(settled->interrupt || !settled->taker);
    free(settled->interrupt);
    free(settled->taker);
}

static void check_answer(struct history *history, uint64_t steady_ms)
{
    json_t *answer = history_answer(history, ANSWER_BYTES, steady_ms, WALL_MS);
    const json_t *messages = json_object_get(answer, "messages");
    const json_t *replay = json_object_get(answer, "replay");

    assert(json_is_true(json_object_get(answer, "ok")) && json_is_array(messages));
    assert(json_array_size(messages) <= history->message_count);
    assert(history->message_count == 0 || json_array_size(messages) > 0);
    assert(json_array_size(json_object_get(replay, "envelopes")) <= KEPT);
    char *text = json_dumps(answer, JSON_COMPACT);
    assert(text);
    free(text);
    json_decref(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = fuzz_slice(data, size);
    struct history history;
    uint64_t steady_ms = 1000;

    history_init(&history, KEPT, KEPT_MS);
    while (input.len > 0) {
        const struct slice line = fuzz_line(&input);
        struct history_settled settled;
        json_t *json = json_loadb(line.data ? line.data : "", line.len,
                                  JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
        if (!json)
            continue;
        history_add(&history, json, steady_ms, WALL_MS, &settled);
        check_settled(&history, &settled);
        check_answer(&history, steady_ms++);
        json_decref(json);
    }
    history_confirm(&history, SLICE("i-1"));
    check_answer(&history, steady_ms);
    history_release(&history);
    return 0;
}
