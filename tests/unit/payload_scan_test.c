/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is taken in one pass and what is left to the tree, and that both read the same: from every
 * body of the vectors, and from many spoiled ones, the same ones in every run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/payload_twins.h"

#define WAKE                                                                                       \
    "{\"type\":\"agentchat.wake\",\"version\":1,\"reason\":\"unanswered\",\"step\":2,"             \
    "\"handle\":\"@a\",\"conversations\":[{\"id\":\"c1\",\"unread\":3,\"latest_sender\":\"@b\"},"  \
    "{\"unread\":1},{\"id\":\"c2\"}],\"summary\":\"Caf\xc3\xa9 \xf0\x9f\x90\xa6\","                \
    "\"delivery_id\":\"0-a_Z\",\"ts\":\"2026-11-12T09:00:00.000Z\",\"test\":false}"
#define LEAST "\"type\":\"agentchat.wake\",\"version\":1,\"handle\":\"@a\",\"delivery_id\":\"d\""

enum { BODY_BYTES = 4096, SPOILED = 60000, LEAST_TAKEN = SPOILED / 50 };

static void expect(const char *text, bool taken)
{
    bool was_taken;
    const char *difference = payload_twins_differ(slice_from(text), &was_taken);

    if (difference)
        fail_msg("%s differs for %s", difference, text);
    if (was_taken != taken)
        fail_msg("%s is %s", text, was_taken ? "taken" : "left");
}

static void takes_what_usually_comes(void **state)
{
    static const char *const bodies[] = {
        WAKE,
        "{" LEAST "}",
        " {" LEAST ",\"conversations\":[ ] } \r\n\t",
        "{" LEAST ",\"step\":null,\"summary\":\"\",\"ts\":\"never\",\"test\":true}",
        "{" LEAST ",\"step\":-0,\"conversations\":[{}]}",
        "{" LEAST ",\"step\":-999999999999999999}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        expect(bodies[i], true);
}

static void reads_every_field(void **state)
{
    struct wake wake = {0};

    (void)state;
    assert_true(payload_scan(SLICE(WAKE), &wake));
    assert_int_equal(wake.version, 1);
    assert_int_equal(wake.step, 2);
    assert_true(slice_eq(wake.reason, SLICE("unanswered")));
    assert_true(slice_eq(wake.summary, SLICE("Caf\xc3\xa9 \xf0\x9f\x90\xa6")));
    assert_int_equal(wake.conversation_count, 2);
    assert_int_equal(wake.conversations[0].unread, 3);
    assert_true(slice_eq(wake.conversations[1].id, SLICE("c2")));
    assert_int_equal(wake.ts_ms, 1794474000000);
    wake_release(&wake);
}

static void leaves_what_is_not_certain(void **state)
{
    static const char *const bodies[] = {
        "",
        "[]",
        "\xef\xbb\xbf{" LEAST "}",
        "{" LEAST,
        "{" LEAST "}}",
        "{" LEAST ",}",
        "{" LEAST ",\"more\":1}",
        "{" LEAST ",\"version\":1}",
        "{" LEAST ",\"summary\":\"\\u0041\"}",
        "{" LEAST ",\"summary\":\"a\nb\"}",
        "{" LEAST ",\"summary\":\"\xc0\x80\"}",
        "{" LEAST ",\"summary\":\"\xed\xa0\x80\"}",
        "{" LEAST ",\"summary\":null}",
        "{" LEAST ",\"step\":1.0}",
        "{" LEAST ",\"step\":1e3}",
        "{" LEAST ",\"step\":01}",
        "{" LEAST ",\"step\":-}",
        "{" LEAST ",\"step\":1000000000000000000}",
        "{" LEAST ",\"test\":\"true\"}",
        "{" LEAST ",\"conversations\":{}}",
        "{" LEAST ",\"conversations\":[1]}",
        "{" LEAST ",\"conversations\":[{\"id\":\"a\",\"id\":\"b\"}]}",
        "{\"type\":\"agentchat.sleep\",\"version\":1,\"handle\":\"@a\",\"delivery_id\":\"d\"}",
        "{\"type\":\"agentchat.wake\",\"version\":1,\"handle\":\"@a\",\"delivery_id\":\"d.d\"}",
        "{\"type\":\"agentchat.wake\",\"version\":1,\"handle\":\"\",\"delivery_id\":\"d\"}",
        "{\"type\":\"agentchat.wake\",\"handle\":\"@a\",\"delivery_id\":\"d\"}",
        "{\"version\":1,\"handle\":\"@a\",\"delivery_id\":\"d\"}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        expect(bodies[i], false);
}

static void takes_as_many_conversations_as_are_kept(void **state)
{
    (void)state;
    for (size_t count = LIMIT_CONVERSATIONS; count <= LIMIT_CONVERSATIONS + 1; count++) {
        struct buf body = BUF_INIT(LIMIT_BODY_BYTES);
        buf_append(&body, SLICE("{" LEAST ",\"conversations\":["));
        for (size_t i = 0; i < count; i++)
            buf_appendf(&body, "%s{\"id\":\"c%zu\"}", i > 0 ? "," : "", i);
        buf_append(&body, SLICE("]}"));
        expect(buf_text(&body), count == LIMIT_CONVERSATIONS);
        buf_release(&body);
    }
}

/* Numerical Recipes' generator: the same bodies everywhere. */
static uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)*seed * below >> 32);
}

static void spoil(struct buf *body, uint32_t *seed)
{
    static const char *const pieces[] = {
        "{",    "}",   "[",    "]",         ",",        ":",    "\"",       "\\",  "0",
        "-1",   "1.5", "null", "true",      "\"test\"", " ",    "\n",       "\t",  "\xc3\xa9",
        "\xff", "e1",  "{}",   "\"type\":", "\\u0000",  "\x7f", "\"step\"", "9e9", "\xef\xbb\xbf",
    };
    char rest[BODY_BYTES];
    size_t at = draw(seed, (uint32_t)body->len + 1);
    size_t skip = draw(seed, 3) == 0 ? draw(seed, 8) : 0;

    skip = at + skip < body->len ? at + skip : body->len;
    size_t len = body->len - skip;
    memcpy(rest, body->data + skip, len);
    body->len = at;
    if (draw(seed, 4) > 0)
        buf_append(body, slice_from(pieces[draw(seed, sizeof(pieces) / sizeof(pieces[0]))]));
    if (draw(seed, 8) > 0)
        buf_append(body, (struct slice){.data = rest, .len = len});
}

static void reads_spoiled_bodies_as_the_tree_does(void **state)
{
    uint32_t seed = 7;
    unsigned taken_count = 0;

    (void)state;
    for (int i = 0; i < SPOILED; i++) {
        struct buf body = BUF_INIT(BODY_BYTES - 1);
        bool taken;
        buf_append(&body, SLICE(WAKE));
        for (uint32_t times = 1 + draw(&seed, 3); times > 0; times--)
            spoil(&body, &seed);
        const char *difference = payload_twins_differ(buf_slice(&body), &taken);
        if (difference)
            fail_msg("%s differs for %s", difference, buf_text(&body));
        taken_count += taken;
        buf_release(&body);
    }
    assert_in_range(taken_count, LEAST_TAKEN, SPOILED); /* else nothing was compared */
}

static void reads_the_vectors_as_the_tree_does(void **state)
{
    json_t *cases = json_load_file(TESTS_DIR "/vectors/agentchat.json", 0, NULL), *one;
    unsigned taken_count = 0;
    size_t i;

    (void)state;
    assert_true(json_is_array(cases));
    json_array_foreach (cases, i, one) {
        bool taken = false;
        const char *body = json_string_value(json_object_get(one, "body"));
        const char *difference = body ? payload_twins_differ(slice_from(body), &taken) : NULL;
        if (difference)
            fail_msg("%s differs for %s", difference, body);
        taken_count += taken;
    }
    assert_true(taken_count > 0);
    json_decref(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_usually_comes),
        cmocka_unit_test(reads_every_field),
        cmocka_unit_test(leaves_what_is_not_certain),
        cmocka_unit_test(takes_as_many_conversations_as_are_kept),
        cmocka_unit_test(reads_spoiled_bodies_as_the_tree_does),
        cmocka_unit_test(reads_the_vectors_as_the_tree_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
