/* SPDX-License-Identifier: Apache-2.0 */
/* The runs that wakegate puts into a thread, and what is folded from them: messages, the run in
 * flight, the pending offer. */
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "relay/room/fields.h"
#include "relay/room/history.h"

static const int64_t now = INT64_C(1767225600000); /* 2026-01-01 */

struct scene {
    struct history history;
    json_t *text;
    struct history_settled settled; /* of the last entry */
};

static int open_scene(void **state)
{
    struct scene *scene = mem_new(sizeof(*scene));

    history_init(&scene->history, 100, 60000);
    scene->text = json_string("Two new messages.");
    *state = scene;
    return 0;
}

static void drop_settled(struct scene *scene)
{
    free(scene->settled.interrupt);
    free(scene->settled.taker);
    scene->settled = (struct history_settled){0};
}

static int close_scene(void **state)
{
    struct scene *scene = *state;

    drop_settled(scene);
    history_release(&scene->history);
    json_decref(scene->text);
    free(scene);
    return 0;
}

static bool add(struct scene *scene, const char *text)
{
    json_t *json = json_loads(text, 0, NULL);

    drop_settled(scene);
    bool added = history_add(&scene->history, json, 1000, now, &scene->settled);
    json_decref(json);
    return added;
}

static void add_run(struct scene *scene, struct run *run)
{
    for (size_t i = 0; i < run->count; i++)
        assert_true(add(scene, run->texts[i]));
    run_release(run);
}

static struct run run_of(const char *id)
{
    return (struct run){.thread = SLICE("wakes"), .id = slice_from(id), .now_ms = now};
}

static json_t *answer(struct scene *scene, uint64_t steady_ms)
{
    json_t *whole = history_answer(&scene->history, SIZE_MAX, steady_ms, now);

    assert_true(json_is_true(json_object_get(whole, "ok")));
    return whole;
}

static void expect_json(const json_t *json, const char *text)
{
    json_t *expected = json_loads(text, JSON_DECODE_ANY, NULL);
    char *dump = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);

    assert_non_null(expected);
    if (!json_equal(json, expected))
        fail_msg("%s\ninstead of %s", dump ? dump : "nothing", text);
    free(dump);
    json_decref(expected);
}

static void expect_types(const struct run *run, const char *const *types)
{
    size_t count = 0;

    for (; types[count]; count++) {
        struct envelope envelope;
        assert_true(count < run->count);
        json_t *json = json_loads(run->texts[count], JSON_REJECT_DUPLICATES, NULL);
        assert_true(envelope_read(json, &envelope));
        assert_int_equal(envelope.sequence, count + 1);
        assert_int_equal(json_integer_value(json_object_get(json, "v")), 1);
        assert_string_equal(json_string_value(json_object_get(json, "threadId")), "wakes");
        assert_true(slice_eq(envelope.run, run->id));
        assert_true(slice_eq(envelope.type, slice_from(types[count])));
        assert_int_equal(envelope_ends_run(&envelope), types[count + 1] == NULL);
        json_decref(json);
    }
    assert_int_equal(run->count, count);
}

static void test_stored(void **state)
{
    static const char *const types[] = {"RUN_STARTED",          "TEXT_MESSAGE_START",
                                        "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END",
                                        "RUN_FINISHED",         NULL};
    struct scene *scene = *state;
    struct run run = run_of("r1");

    run_stored(&run, SLICE("wake-1"), scene->text);
    expect_types(&run, types);
    json_t *first = json_loads(run.texts[0], 0, NULL);
    expect_json(first,
                "{\"v\":1,\"threadId\":\"wakes\",\"runId\":\"r1\",\"sequence\":1,\"event\":{"
                "\"type\":\"RUN_STARTED\",\"threadId\":\"wakes\",\"runId\":\"r1\","
                "\"timestamp\":1767225600000,\"message\":{\"id\":\"wake-1\",\"role\":\"user\","
                "\"content\":\"Two new messages.\","
                "\"createdAt\":\"2026-01-01T00:00:00.000Z\"}}}");
    json_decref(first);
    add_run(scene, &run);
    json_t *whole = answer(scene, 0);
    expect_json(whole, "{\"ok\":true,\"messages\":[{\"id\":\"wake-1\",\"role\":\"user\","
                       "\"content\":\"Two new messages.\","
                       "\"createdAt\":\"2026-01-01T00:00:00.000Z\"}]}");
    json_decref(whole);
    assert_true(history_has_message(&scene->history, SLICE("wake-1")));
    assert_false(history_has_message(&scene->history, SLICE("wake-2")));
}

static void add_offer(struct scene *scene, const char *run_id, const char *interrupt)
{
    struct run run = run_of(run_id);
    json_t *payload = json_pack("{s:s}", "delivery_id", "1");

    run_offer(&run, SLICE("wake-1"), scene->text, slice_from(interrupt), payload, 5000);
    json_decref(payload);
    add_run(scene, &run);
}

static void test_offer(void **state)
{
    static const char *const types[] = {
        "RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END",
        "INTERRUPT",   "RUN_PAUSED",         "RUN_FINISHED",         NULL};
    struct scene *scene = *state;
    struct run run = run_of("r1");
    json_t *payload = json_pack("{s:s}", "delivery_id", "1");

    run_offer(&run, SLICE("wake-1"), scene->text, SLICE("i1"), payload, 5000);
    json_decref(payload);
    expect_types(&run, types);
    add_run(scene, &run);
    json_t *whole = answer(scene, 5999);
    expect_json(json_object_get(whole, "pendingInterrupt"),
                "{\"interruptId\":\"i1\",\"runId\":\"r1\",\"payload\":{\"clientTool\":"
                "\"agentchat_wake\",\"arguments\":{\"delivery_id\":\"1\"}}}");
    assert_null(json_object_get(whole, "replay"));
    json_decref(whole);
    whole = answer(scene, 6000); /* its time is over: the gateway that offered it died */
    assert_null(json_object_get(whole, "pendingInterrupt"));
    json_decref(whole);
}

static void settle(struct scene *scene, const char *interrupt, const char *taker)
{
    static const char *const types[] = {"RUN_STARTED",          "TEXT_MESSAGE_START",
                                        "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END",
                                        "RUN_FINISHED",         NULL};
    struct run run = run_of("r2");

    run_settled(&run, slice_from(interrupt), slice_from(taker));
    expect_types(&run, types);
    add_run(scene, &run);
}

static void test_taken(void **state)
{
    struct scene *scene = *state;

    add_offer(scene, "r1", "i1");
    assert_null(scene->settled.interrupt);
    settle(scene, "i1", "worker-1");
    assert_string_equal(scene->settled.interrupt, "i1");
    assert_string_equal(scene->settled.taker, "worker-1");
    json_t *whole = answer(scene, 1001);
    assert_null(json_object_get(whole, "pendingInterrupt"));
    expect_json(json_array_get(json_object_get(whole, "messages"), 1),
                "{\"id\":\"settled-i1\",\"role\":\"assistant\",\"content\":\"Taken by worker-1.\","
                "\"createdAt\":\"2026-01-01T00:00:00.000Z\"}");
    json_decref(whole);
}

/* The same wake once more: a fresh run and offer, the same message. */
static void test_withdrawn_and_tried_again(void **state)
{
    struct scene *scene = *state;

    add_offer(scene, "r1", "i1");
    settle(scene, "i1", "");
    assert_string_equal(scene->settled.interrupt, "i1");
    assert_null(scene->settled.taker);
    add_offer(scene, "r3", "i3");
    json_t *whole = answer(scene, 1001);
    const json_t *messages = json_object_get(whole, "messages");
    assert_int_equal(json_array_size(messages), 2);
    expect_json(json_object_get(json_array_get(messages, 0), "id"), "\"wake-1\"");
    expect_json(json_object_get(json_object_get(whole, "pendingInterrupt"), "interruptId"),
                "\"i3\"");
    json_decref(whole);
}

static void test_settled_of_another(void **state)
{
    struct scene *scene = *state;

    add_offer(scene, "r1", "i1");
    settle(scene, "i0", "worker-1");
    json_t *whole = answer(scene, 1001);
    assert_non_null(json_object_get(whole, "pendingInterrupt"));
    json_decref(whole);
}

static void test_confirmed_by_the_store(void **state)
{
    struct scene *scene = *state;

    add_offer(scene, "r1", "i1");
    history_confirm(&scene->history, SLICE("i1"));
    assert_non_null(scene->history.pending);
    history_confirm(&scene->history, SLICE(""));
    assert_null(scene->history.pending);
}

static void add_event(struct scene *scene, const char *run, int sequence, const char *event)
{
    char text[512];

    snprintf(text, sizeof(text),
             "{\"v\":1,\"threadId\":\"wakes\",\"runId\":\"%s\",\"sequence\":%d,\"event\":%s}", run,
             sequence, event);
    assert_true(add(scene, text));
}

static void test_run_in_flight(void **state)
{
    struct scene *scene = *state;

    add_event(scene, "r1", 1, "{\"type\":\"RUN_STARTED\"}");
    add_event(scene, "r1", 2, "{\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m\"}");
    add_event(scene, "r1", 3,
              "{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"a\"}");
    json_t *whole = answer(scene, 0);
    assert_int_equal(json_array_size(json_object_get(whole, "messages")), 0);
    const json_t *replay = json_object_get(whole, "replay");
    assert_int_equal(json_array_size(json_object_get(replay, "envelopes")), 3);
    assert_true(json_is_false(json_object_get(replay, "truncated")));
    add_event(scene, "r1", 4,
              "{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"b\"}");
    assert_int_equal(json_array_size(json_object_get(replay, "envelopes")), 3); /* a snapshot */
    json_decref(whole);
    add_event(scene, "r1", 5, "{\"type\":\"RUN_ERROR\",\"message\":\"x\",\"code\":\"y\"}");
    whole = answer(scene, 0);
    assert_null(json_object_get(whole, "replay"));
    expect_json(json_object_get(json_array_get(json_object_get(whole, "messages"), 0), "content"),
                "\"ab\"");
    json_decref(whole);
}

static void test_run_whose_beginning_is_lost(void **state)
{
    struct scene *scene = *state;

    add_event(scene, "r1", 7, "{\"type\":\"REASONING_START\"}");
    json_t *whole = answer(scene, 0);
    assert_true(json_is_true(json_object_get(json_object_get(whole, "replay"), "truncated")));
    json_decref(whole);
}

static void test_long_run(void **state)
{
    struct scene *scene = *state;

    for (int i = 1; i <= 130; i++)
        add_event(scene, "r1", i, "{\"type\":\"REASONING_CONTENT\"}");
    json_t *whole = answer(scene, 0);
    const json_t *replay = json_object_get(whole, "replay");
    const json_t *envelopes = json_object_get(replay, "envelopes");
    assert_int_equal(json_array_size(envelopes), 100);
    assert_true(json_is_true(json_object_get(replay, "truncated")));
    assert_int_equal(json_integer_value(json_object_get(json_array_get(envelopes, 99), "sequence")),
                     130);
    json_decref(whole);
}

static void add_stored(struct scene *scene, int number, int64_t now_ms)
{
    char id[32], run_id[32];

    snprintf(id, sizeof(id), "wake-%d", number);
    snprintf(run_id, sizeof(run_id), "r%d", number);
    struct run run = run_of(run_id);
    run.now_ms = now_ms;
    run_stored(&run, slice_from(id), scene->text);
    add_run(scene, &run);
}

/* As the store does: 100 entries are kept, which are 20 runs of five. */
static void test_forgets_by_count(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 50; i++) {
        add_stored(scene, i, now);
        assert_true(scene->history.message_count <= 21);
    }
    json_t *whole = answer(scene, 0);
    const json_t *messages = json_object_get(whole, "messages");
    assert_int_equal(json_array_size(messages), 20);
    expect_json(json_object_get(json_array_get(messages, 0), "id"), "\"wake-30\"");
    json_decref(whole);
}

static void test_forgets_by_age(void **state)
{
    struct scene *scene = *state;

    add_stored(scene, 1, now - 60001);
    add_stored(scene, 2, now - 60000);
    json_t *whole = answer(scene, 0);
    assert_int_equal(json_array_size(json_object_get(whole, "messages")), 1);
    json_decref(whole);
}

/* What a time that no clock shows is subtracted from must not overflow. */
static void test_impossible_times(void **state)
{
    static const char *const times[] = {"-9223372036854775808", "9223372036854775807", "-1"};
    struct scene *scene = *state;
    char event[128];

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        snprintf(event, sizeof(event),
                 "{\"type\":\"RUN_STARTED\",\"timestamp\":%s,\"message\":{\"id\":\"m%zu\"}}",
                 times[i], i);
        add_event(scene, "r", 1, event);
        add_event(scene, "r", 2, "{\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m\"}");
        add_event(scene, "r", 3, "{\"type\":\"RUN_FINISHED\"}");
    }
    json_t *whole = answer(scene, 0);
    assert_int_equal(json_array_size(json_object_get(whole, "messages")), 4);
    json_decref(whole);
}

static void test_what_is_no_envelope(void **state)
{
    static const char *const odd[] = {"{}",
                                      "[]",
                                      "{\"runId\":\"r\",\"sequence\":0,\"event\":{\"type\":\"X\"}}",
                                      "{\"runId\":\"r\",\"sequence\":1,\"event\":{}}",
                                      "{\"runId\":\"r\",\"sequence\":1}",
                                      "{\"sequence\":1,\"event\":{\"type\":\"RUN_STARTED\"}}"};
    struct scene *scene = *state;

    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        assert_false(add(scene, odd[i]));
    add_event(scene, "r", 1, "{\"type\":\"RUN_STARTED\",\"message\":7}");
    add_event(scene, "r", 2, "{\"type\":\"TEXT_MESSAGE_START\"}");
    add_event(scene, "r", 3, "{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":1}");
    add_event(scene, "r", 4, "{\"type\":\"INTERRUPT\",\"interruptId\":{}}");
    add_event(scene, "r", 5, "{\"type\":\"SOMETHING_NEW\"}");
    add_event(scene, "r", 6, "{\"type\":\"RUN_FINISHED\",\"result\":{\"interruptId\":\"i\"}}");
    json_t *whole = answer(scene, 0);
    expect_json(whole, "{\"ok\":true,\"messages\":[]}");
    json_decref(whole);
    assert_null(scene->settled.interrupt);
}

static size_t count_within(struct scene *scene, size_t most, const char *newest)
{
    json_t *whole = history_answer(&scene->history, most, 0, now);
    json_t *messages = json_object_get(whole, "messages");
    size_t count = json_array_size(messages);

    assert_string_equal(field_text(json_array_get(messages, count - 1), "id").data, newest);
    json_decref(whole);
    return count;
}

/* The answer is bounded: it has the newest, however large the last one is. */
static void test_answer_of_so_many_bytes(void **state)
{
    struct scene *scene = *state;
    const char *const ids[] = {"wake-1", "wake-2", "wake-3"};

    for (size_t i = 0; i < 3; i++) {
        struct run run = run_of(ids[i]);
        json_t *text = json_string("some text");
        run_stored(&run, slice_from(ids[i]), text);
        add_run(scene, &run);
        json_decref(text);
    }
    size_t one = scene->history.messages[0].size;
    assert_true(one > 0);
    assert_int_equal(count_within(scene, 3 * one, "wake-3"), 3);
    assert_int_equal(count_within(scene, 3 * one - 1, "wake-3"), 2);
    assert_int_equal(count_within(scene, 2 * one, "wake-3"), 2);
    assert_int_equal(count_within(scene, 1, "wake-3"), 1);
}

static void test_ids_and_hello(void **state)
{
    char one[ENVELOPE_ID_SIZE], other[ENVELOPE_ID_SIZE];

    (void)state;
    envelope_fresh_id(one);
    envelope_fresh_id(other);
    assert_int_equal(strlen(one), 32);
    assert_string_not_equal(one, other);
    json_t *hello = envelope_hello();
    expect_json(hello, "{\"protocol\":{\"major\":1,\"minor\":17},\"minClientMajor\":1}");
    json_decref(hello);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_scene, close_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_stored),
        TEST(test_offer),
        TEST(test_taken),
        TEST(test_withdrawn_and_tried_again),
        TEST(test_settled_of_another),
        TEST(test_confirmed_by_the_store),
        TEST(test_run_in_flight),
        TEST(test_run_whose_beginning_is_lost),
        TEST(test_long_run),
        TEST(test_forgets_by_count),
        TEST(test_forgets_by_age),
        TEST(test_impossible_times),
        TEST(test_what_is_no_envelope),
        TEST(test_answer_of_so_many_bytes),
        TEST(test_ids_and_hello),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
