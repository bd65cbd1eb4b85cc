/* SPDX-License-Identifier: Apache-2.0 */
/* A delivery's line, and the wake that is made of it again: what was lost on the way? */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

#include "dialects/payload.h"
#include "gateway/core/metrics.h"
#include "gateway/store/journal.h"
#include "relay/relay_journal.h"
#include "relay/relays.h"
#include "tests/fakes/thread_desk.h"

struct bench {
    uv_loop_t loop;
    struct turn turn;
    struct thread_desk desk;
    struct world world;
    struct relays relays;
    struct destination to;
    struct shared_wake wake;
    struct relay relay;
    bool closed;
};

static int set_up(void **state)
{
    struct bench *bench = mem_new(sizeof(*bench));
    const struct journal_settings settings = {.on = true, .kept = 100, .kept_ms = 60000};

    uv_loop_init(&bench->loop);
    turn_open(&bench->turn, &bench->loop);
    desk_open(&bench->desk, &bench->turn);
    bench->world.journal = journal_open(&bench->desk.store, &settings, &bench->turn);
    bench->relays.world = &bench->world;
    bench->to.route = mem_text(SLICE("relay"));
    bench->to.id = mem_text(SLICE("there"));
    bench->relay = (struct relay){
        .relays = &bench->relays,
        .to = &bench->to,
        .wake = &bench->wake,
        .outcome = {.code = OUTCOME_ACCEPTED, .target = "there", .run = "run-1"},
    };
    *state = bench;
    return 0;
}

static void on_closed(void *context)
{
    *(bool *)context = true;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;

    if (bench->world.journal)
        journal_close(bench->world.journal, on_closed, &bench->closed);
    while (bench->world.journal && !bench->closed)
        uv_run(&bench->loop, UV_RUN_ONCE);
    turn_close(&bench->turn);
    uv_run(&bench->loop, UV_RUN_DEFAULT);
    desk_release(&bench->desk);
    wake_release(&bench->wake.wake);
    free(bench->to.route);
    free(bench->to.id);
    metrics_free();
    int busy = uv_loop_close(&bench->loop);
    free(bench);
    return busy;
}

/* Writes the line of the bench's relay and gives it as the desk has it. */
static struct slice line_of(struct bench *bench)
{
    size_t before = bench->desk.entry_count;

    relay_journal_add(&bench->relay, 1234);
    while (bench->desk.entry_count == before)
        uv_run(&bench->loop, UV_RUN_ONCE);
    return slice_from(bench->desk.entries[before]);
}

static json_t *read_line(struct slice text)
{
    json_t *line = relay_journal_read(text);

    assert_non_null(line);
    return line;
}

static void use_payload(struct bench *bench, const char *body)
{
    struct request request = {.body = slice_from(body)};
    struct err err;

    if (!payload_decode(&request, &bench->wake.wake, &err))
        fail_msg("%s", err.text);
}

static const char payload[] =
    "\n{ \"type\":\"agentchat.wake\", \"version\":1,\"reason\":\"unanswered\",\"step\":3,"
    "\"handle\":\"@example-relay\",\"conversations\":[{\"id\":\"c1\",\"unread\":2,"
    "\"latest_sender\":\"@example-scout\"}],\"summary\":\"a \\\"b\\\" \\u00e9 \xc3\xa9 \\\\\","
    "\"more\":{\"x\":1,\"payload\":{\"wake\":1e3}},\"delivery_id\":\"id-1\","
    "\"ts\":\"2026-11-12T09:00:00.000Z\"}\n";

static void expect_text(const json_t *line, const char *key, const char *expected)
{
    const char *text = json_string_value(json_object_get(line, key));

    if (expected)
        assert_string_equal(text, expected);
    else
        assert_null(json_object_get(line, key));
}

static void a_payload_comes_back_byte_for_byte(void **state)
{
    struct bench *bench = *state;
    struct wake wake = {0};
    struct err err;

    use_payload(bench, payload);
    bench->relay.generation = 2;
    json_t *line = read_line(line_of(bench));
    expect_text(line, "route", "relay");
    expect_text(line, "target", "there");
    expect_text(line, "destination", NULL);
    expect_text(line, "delivery_id", "id-1");
    expect_text(line, "outcome", "accepted");
    expect_text(line, "run", "run-1");
    expect_text(line, "detail", NULL);
    expect_text(line, "trace_id", NULL);
    assert_int_equal(json_integer_value(json_object_get(line, "generation")), 2);
    assert_int_equal(json_integer_value(json_object_get(line, "us")), 1234);
    if (!relay_journal_wake(line, &wake, &err))
        fail_msg("%s", err.text);
    assert_true(slice_eq(wake.raw, slice_from(payload)));
    assert_true(slice_eq(wake.delivery_id, SLICE("id-1")));
    assert_true(slice_eq(wake.reason, SLICE("unanswered")));
    assert_int_equal(wake.step, 3);
    assert_int_equal(wake.conversation_count, 1);
    assert_int_equal(wake.ts_ms, bench->wake.wake.ts_ms);
    wake_release(&wake);
    json_decref(line);
}

static void a_text_comes_back(void **state)
{
    static const char text[] = "Look: \"\\\",\"payload\":{}\n\nnow\x01\x7f";
    struct bench *bench = *state;
    struct wake *sent = &bench->wake.wake, wake = {0};
    struct err err;

    wake_reserve(sent, slice_from(text), 0);
    sent->text = wake_keep(sent, slice_from(text));
    sent->delivery_id = wake_keep(sent, SLICE("id-2"));
    sent->attempt = 4;
    bench->relay.outcome.target = "first";
    json_t *line = read_line(line_of(bench));
    expect_text(line, "destination", "there");
    expect_text(line, "fields", NULL);
    if (!relay_journal_wake(line, &wake, &err))
        fail_msg("%s", err.text);
    assert_true(slice_eq(wake.text, slice_from(text)));
    assert_true(slice_eq(wake.delivery_id, SLICE("id-2")));
    assert_int_equal(wake.attempt, 4);
    assert_int_equal(wake.raw.len, 0);
    assert_int_equal(wake.version, 0);
    wake_release(&wake);
    json_decref(line);
}

static void what_stands_beside_a_text_comes_back(void **state)
{
    struct bench *bench = *state;
    struct wake *sent = &bench->wake.wake, wake = {0};
    struct err err;

    use_payload(bench, payload);
    sent->text = sent->raw;
    sent->raw = (struct slice){0};
    sent->test = true;
    json_t *line = read_line(line_of(bench));
    if (!relay_journal_wake(line, &wake, &err))
        fail_msg("%s", err.text);
    assert_true(slice_eq(wake.text, sent->text));
    assert_int_equal(wake.raw.len, 0);
    assert_true(slice_eq(wake.summary, sent->summary));
    assert_true(slice_eq(wake.handle, sent->handle));
    assert_true(slice_eq(wake.ts, sent->ts));
    assert_true(slice_eq(wake.conversations[0].latest_sender, SLICE("@example-scout")));
    assert_int_equal(wake.step, 3);
    assert_true(wake.test);
    wake_release(&wake);
    json_decref(line);
}

static void a_long_wake_is_not_kept(void **state)
{
    struct bench *bench = *state;
    struct wake *sent = &bench->wake.wake, wake = {0};
    struct err err = {""};
    char text[RELAY_JOURNAL_WAKE_BYTES + 1];

    memset(text, '"', sizeof(text)); /* the most that a text can grow */
    struct slice all = {text, sizeof(text)};
    wake_reserve(sent, all, 0);
    sent->delivery_id = wake_keep(sent, SLICE("id-3"));
    sent->text = wake_keep(sent, all);
    json_t *line = read_line(line_of(bench));
    expect_text(line, "text", NULL);
    assert_false(relay_journal_wake(line, &wake, &err));
    assert_non_null(strstr(err.text, "8193 bytes"));
    json_decref(line);

    sent->text.len--;
    line = read_line(line_of(bench));
    assert_true(relay_journal_wake(line, &wake, &err));
    assert_true(slice_eq(wake.text, sent->text));
    wake_release(&wake);
    json_decref(line);
}

static void off(void **state)
{
    struct bench *bench = *state;
    struct journal *journal = bench->world.journal;

    use_payload(bench, payload);
    bench->world.journal = NULL;
    relay_journal_add(&bench->relay, 1);
    bench->world.journal = journal;
    assert_int_equal(bench->desk.entry_count, 0);
}

static void lines_that_are_none(void **state)
{
    static const char *const texts[] = {"", "x", "[]", "1", "{", "{\"a\":1", ",\"payload\":"};
    static const char *const wakeless[] = {
        "{}",
        "{\"delivery_id\":\"a\"}",
        "{\"text\":\"t\"}",
        "{\"text\":\"t\",\"delivery_id\":\"a/b\"}",
        "{\"text\":1,\"delivery_id\":\"a\"}",
        "{\"delivery_id\":\"a\",\"payload\":[]}",
        "{\"delivery_id\":\"a\",\"payload\":{\"version\":\"1\"}}",
        "{\"delivery_id\":\"a\",\"fields\":\"{\"}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_null(relay_journal_read(slice_from(texts[i])));
    for (size_t i = 0; i < sizeof(wakeless) / sizeof(wakeless[0]); i++) {
        struct wake wake = {0};
        struct err err = {""};
        json_t *line = read_line(slice_from(wakeless[i]));
        assert_false(relay_journal_wake(line, &wake, &err));
        assert_true(err.text[0] != '\0');
        wake_release(&wake);
        json_decref(line);
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_payload_comes_back_byte_for_byte),
        CASE(a_text_comes_back),
        CASE(what_stands_beside_a_text_comes_back),
        CASE(a_long_wake_is_not_kept),
        CASE(off),
        CASE(lines_that_are_none),
    };

    return cmocka_run_group_tests_name("relay_journal", tests, NULL, NULL);
}
