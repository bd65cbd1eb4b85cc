/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every trigger of every dialect against a scripted runtime: what it is sent is genuine in the same
 * dialect, each kind of answer gives its outcome, and nothing is ever sent twice that may not be.
 */
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/clock.h"
#include "relay/trigger.h"
#include "tests/fakes/client_room.h"

#define KEY "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

static const struct speech {
    const char *dialect, *variant, *run; /* run: NULL where the runtime names none */
} speeches[] = {
    {"agentchat", NULL, "run-1"},   {"claude-code", NULL, "run-1"},
    {"openclaw", "agent", "run-1"}, {"openclaw", "wake", NULL},
    {"hermes", NULL, NULL},         {"poke", "message", NULL},
    {"poke", "webhook", NULL},      {"standard-webhooks", NULL, NULL},
    {"bearer-json", NULL, NULL},
};

enum { SPEECHES = sizeof(speeches) / sizeof(speeches[0]) };

static const struct wake wake = {
    .version = 1,
    .reason = SLICE("messages"),
    .handle = SLICE("@example-relay"),
    .summary = SLICE("1 unread message from @friend."),
    .delivery_id = SLICE("3f1f0c7e-5a2b-4c61-9d0e-2b8f6f0a9c11"),
    .ts = SLICE("2026-11-12T09:00:00.000Z"),
    .ts_ms = 1794474000000,
};

struct trial {
    struct client_room *room;
    const struct speech *speech;
    const struct dialect *dialect;
    struct settings_report report;
    json_t *object;
    struct target *target;
    struct delivery delivery;
    bool over;
};

static void open_trial(struct client_room *room, const struct speech *speech, const char *url,
                       struct trial *trial)
{
    const struct world world = {
        .loop = &room->loop, .turn = &room->turn, .private_http = room->client};
    const struct route_facts route = {.name = SLICE("relay"), .handle = SLICE("@example-relay")};
    struct settings settings;

    *trial = (struct trial){.room = room, .speech = speech};
    trial->dialect = dialect_by_name(slice_from(speech->dialect));
    assert_non_null(trial->dialect);
    trial->object = json_pack("{s:{s:s, s:s*, s:s, s:b, s:{s:s}}}", "trigger", "dialect",
                              speech->dialect, "variant", speech->variant, "url", url, "private", 1,
                              trial->dialect->sends_token ? "token" : "secret", "literal", KEY);
    assert_non_null(trial->object);
    settings_report_init(&trial->report, "test.json");
    settings_begin(&settings, &trial->report, "target", trial->object);
    trial->target = target_open(&settings, &route, &world);
    settings_end(&settings);
    if (!trial->target)
        fail_msg("%s: %s", speech->dialect, buf_text(&trial->report.mistakes));
}

static void close_trial(struct trial *trial)
{
    target_close(trial->target);
    settings_report_release(&trial->report);
    json_decref(trial->object);
}

static void on_done(struct op *op)
{
    struct trial *trial = CONTAINER_OF(op, struct trial, delivery.op);

    trial->over = true;
    uv_stop(&trial->room->loop);
}

static void begin(struct trial *trial)
{
    trial->over = false;
    target_deliver(trial->target, &trial->delivery, &wake, SLICE("3f1f0c7e-key"), on_done);
    assert_false(trial->over);
}

static const struct outcome *finish(struct trial *trial)
{
    while (!trial->over)
        uv_run(&trial->room->loop, UV_RUN_ONCE);
    return &trial->delivery.outcome;
}

static const struct outcome *deliver(struct trial *trial)
{
    begin(trial);
    return finish(trial);
}

/* One delivery by each trigger to a runtime that behaves as scripted. */
static void expect_all(struct client_room *room, enum outcome_code code, int64_t retry_after_ms)
{
    for (size_t i = 0; i < SPEECHES; i++) {
        struct trial trial;
        unsigned before = room->stub.requests;
        open_trial(room, &speeches[i], room->stub.url, &trial);
        const struct outcome *outcome = deliver(&trial);
        if (outcome->code != code || outcome->retry_after_ms != retry_after_ms)
            fail_msg("%s: %s after %d ms (%s)", trial.target->id, outcome_name(outcome->code),
                     (int)outcome->retry_after_ms, outcome->detail);
        assert_true(strlen(outcome->detail) > 0);
        assert_null(strstr(outcome->detail, KEY));
        assert_null(strstr(outcome->detail, "/hook"));
        assert_int_equal(room->stub.requests, before + 1);
        close_trial(&trial);
    }
}

static struct slice accepted(const struct dialect *dialect)
{
    char body[512];
    struct slice head, tail, sign;

    slice_cut(slice_from(dialect->accepted_body), '%', &head, &sign);
    tail = slice_from_at(sign, 1);
    snprintf(body, sizeof(body), "%.*s%s%.*s", SLICE_ARG(head), sign.len > 0 ? "run-1" : "",
             SLICE_ARG(tail));
    return stub_answer(dialect->accepted_status, "", body);
}

/* Reads what the runtime was sent as a runtime would. */
static void expect_genuine(const struct trial *trial)
{
    struct request request = {.body = stub_body(&trial->room->stub)};
    struct slice rest = buf_slice(&trial->room->stub.request), line, name, value;
    struct keyring keyring = {.count = 1, .schemes = ~0U, .tolerance_s = 300};
    struct secret secret;
    struct proven proven;
    struct wake decoded = {0};
    struct err err = {0};

    slice_cut(rest, '\n', &line, &rest); /* the request line */
    for (slice_cut(rest, '\n', &line, &rest); line.len > 1; slice_cut(rest, '\n', &line, &rest)) {
        slice_cut(slice_first(line, line.len - 1), ':', &name, &value);
        request.headers[request.header_count++] = (struct header){name, slice_trim(value)};
    }
    assert_true(secret_init(&secret, SLICE(KEY), NULL));
    keyring.secrets = &secret;
    if (trial->dialect->verify(&request, &keyring, clock_wall_ms(), &proven, &err) != PROOF_OK)
        fail_msg("%s: %s", trial->target->id, err.text);
    if (!trial->dialect->decode(&request, &decoded, &err))
        fail_msg("%s: %s", trial->target->id, err.text);
    assert_true(slice_eq(decoded.delivery_id, wake.delivery_id) ||
                slice_eq(decoded.delivery_id, trial->delivery.key));
    wake_release(&decoded);
    secret_release(&secret);
}

static void test_accepted(void **state)
{
    struct client_room *room = *state;

    for (size_t i = 0; i < SPEECHES; i++) {
        struct trial trial;
        open_trial(room, &speeches[i], room->stub.url, &trial);
        stub_script(&room->stub, STUB_KEEP, accepted(trial.dialect));
        const struct outcome *outcome = deliver(&trial);
        if (outcome->code != OUTCOME_ACCEPTED)
            fail_msg("%s: %s", trial.target->id, outcome->detail);
        if (speeches[i].run)
            assert_string_equal(outcome->run, speeches[i].run);
        expect_genuine(&trial);
        close_trial(&trial);
    }
}

static void test_every_dialect_is_here(void **state)
{
    (void)state;
    for (size_t i = 0; dialects[i]; i++)
        for (size_t j = 0; j < dialects[i]->variant_count; j++) {
            bool found = false;
            for (size_t k = 0; k < SPEECHES; k++) {
                const char *variant = dialects[i]->variants[j].name;
                found |= strcmp(speeches[k].dialect, dialects[i]->name) == 0 &&
                         strcmp(speeches[k].variant ? speeches[k].variant : "",
                                variant ? variant : "") == 0;
            }
            if (!found)
                fail_msg("no trial of %s", dialects[i]->name);
        }
}

static void test_refused(void **state)
{
    struct client_room *room = *state;
    char headers[128];

    stub_script(&room->stub, STUB_CLOSE, stub_answer(401, "", "no"));
    expect_all(room, OUTCOME_REFUSED, 0);
    snprintf(headers, sizeof(headers), "Location: %s\r\n", room->stub.url);
    stub_script(&room->stub, STUB_CLOSE, stub_answer(307, headers, ""));
    expect_all(room, OUTCOME_REFUSED, 0);
}

static void test_gone(void **state)
{
    struct client_room *room = *state;

    stub_script(&room->stub, STUB_CLOSE, stub_answer(410, "", ""));
    expect_all(room, OUTCOME_GONE, 0);
}

static void test_busy(void **state)
{
    struct client_room *room = *state;

    stub_script(&room->stub, STUB_CLOSE, stub_answer(503, "Retry-After: 7\r\n", ""));
    expect_all(room, OUTCOME_UNAVAILABLE, 7000);
    stub_script(&room->stub, STUB_CLOSE, stub_answer(503, "Retry-After: 99999999\r\n", ""));
    expect_all(room, OUTCOME_UNAVAILABLE, (int64_t)LIMIT_RETRY_AFTER_S * 1000);
}

/* Hermes documents a wait that it does not send; where it does send one, that counts. */
static void test_documented_wait(void **state)
{
    struct client_room *room = *state;
    const struct speech hermes = {.dialect = "hermes"};
    struct trial trial;

    open_trial(room, &hermes, room->stub.url, &trial);
    stub_script(&room->stub, STUB_CLOSE, stub_answer(429, "", ""));
    assert_int_equal(deliver(&trial)->retry_after_ms, 60000);
    stub_script(&room->stub, STUB_CLOSE, stub_answer(429, "Retry-After: 3\r\n", ""));
    assert_int_equal(deliver(&trial)->retry_after_ms, 3000);
    assert_int_equal(trial.delivery.outcome.code, OUTCOME_UNAVAILABLE);
    close_trial(&trial);
}

static void test_closed_without_an_answer(void **state)
{
    struct client_room *room = *state;

    stub_script(&room->stub, STUB_CLOSE, SLICE(""));
    expect_all(room, OUTCOME_AMBIGUOUS, 0);
    stub_script(&room->stub, STUB_CLOSE, SLICE("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"));
    expect_all(room, OUTCOME_AMBIGUOUS, 0);
}

static void test_cancelled_while_it_hangs(void **state)
{
    struct client_room *room = *state;

    stub_script(&room->stub, STUB_HANG, SLICE(""));
    for (size_t i = 0; i < SPEECHES; i++) {
        struct trial trial;
        unsigned before = room->stub.requests;
        open_trial(room, &speeches[i], room->stub.url, &trial);
        begin(&trial);
        while (room->stub.requests == before)
            uv_run(&room->loop, UV_RUN_ONCE);
        target_cancel(trial.target, &trial.delivery);
        assert_false(trial.over);
        target_cancel(trial.target, &trial.delivery);
        assert_int_equal(finish(&trial)->code, OUTCOME_AMBIGUOUS);
        close_trial(&trial);
    }
}

static void test_cancelled_before_it_was_sent(void **state)
{
    struct client_room *room = *state;

    for (size_t i = 0; i < SPEECHES; i++) {
        struct trial trial;
        open_trial(room, &speeches[i], room->stub.url, &trial);
        begin(&trial);
        target_cancel(trial.target, &trial.delivery);
        assert_int_equal(finish(&trial)->code, OUTCOME_UNAVAILABLE);
        close_trial(&trial);
    }
    assert_int_equal(room->stub.requests, 0);
}

static void test_connect_refused(void **state)
{
    struct client_room *room = *state;
    char url[64];

    snprintf(url, sizeof(url), "http://127.0.0.1:%d/hook", stub_free_port(&room->loop));
    for (size_t i = 0; i < SPEECHES; i++) {
        struct trial trial;
        open_trial(room, &speeches[i], url, &trial);
        assert_int_equal(deliver(&trial)->code, OUTCOME_UNAVAILABLE);
        close_trial(&trial);
    }
}

/* A connection that was kept dies under the second delivery. What is not idempotent never stood on
 * it; what is, is sent once more by libcurl and nobody minds. */
static void test_kept_connection_that_dies(void **state)
{
    struct client_room *room = *state;

    for (size_t i = 0; i < SPEECHES; i++) {
        struct trial trial;
        open_trial(room, &speeches[i], room->stub.url, &trial);
        stub_script(&room->stub, STUB_DIE, accepted(trial.dialect));
        unsigned requests = room->stub.requests, connections = room->stub.connections;
        assert_int_equal(deliver(&trial)->code, OUTCOME_ACCEPTED);
        assert_int_equal(deliver(&trial)->code, OUTCOME_ACCEPTED);
        assert_int_equal(room->stub.requests - requests, trial.target->idempotent ? 3 : 2);
        assert_int_equal(room->stub.connections - connections, 2);
        close_trial(&trial);
        room_close_client(room); /* with the connections that it kept */
        room_open_client(room, true, NULL);
    }
}

static void test_wake_that_cannot_be_said(void **state)
{
    struct client_room *room = *state;
    const struct speech claude = {.dialect = "claude-code"};
    size_t len = 70000; /* over the 65,536 characters of a routine's text */
    char *text = mem_new(len);
    struct wake large = wake;
    struct trial trial;

    memset(text, 'x', len);
    large.text = (struct slice){.data = text, .len = len};
    open_trial(room, &claude, room->stub.url, &trial);
    target_deliver(trial.target, &trial.delivery, &large, SLICE("key"), on_done);
    assert_false(trial.over);
    assert_int_equal(finish(&trial)->code, OUTCOME_REFUSED);
    assert_int_equal(room->stub.requests, 0);
    close_trial(&trial);
    free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, room_set_up, room_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_accepted),
        TEST(test_every_dialect_is_here),
        TEST(test_refused),
        TEST(test_gone),
        TEST(test_busy),
        TEST(test_documented_wait),
        TEST(test_closed_without_an_answer),
        TEST(test_cancelled_while_it_hangs),
        TEST(test_cancelled_before_it_was_sent),
        TEST(test_connect_refused),
        TEST(test_kept_connection_that_dies),
        TEST(test_wake_that_cannot_be_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
