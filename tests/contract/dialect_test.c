/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every dialect in the table owes, whichever it is: what it says it can read back, the same
 * wake makes the same bytes, and where it signs, no byte can be changed.
 */
#include "tests/spoken.h"

#define TEXT                                                                                       \
    "Two unread.\n\nLook at them.\n\n(AgentChat wake cycle cycle-6, attempt 3. No content.)"
#define RAW                                                                                        \
    "{\"type\":\"agentchat.wake\", \"version\":1,\"handle\":\"\\u0040a\",\"reason\":\"messages\"," \
    "\"delivery_id\":\"cycle-7\",\"x\":{\"y\":[1.50,\"\\/\"]},\"summary\":\"s\\/\\u00e9\"}\n"

static struct conversation conversations[] = {
    {.id = {"conv_1", 6}, .unread = 3, .latest_sender = {"@b", 2}},
    {.id = {"grp_2", 5}, .unread = 9007199254740993, .latest_sender = {"@c", 2}},
};

static struct wake samples[8];
enum { SAMPLES = sizeof(samples) / sizeof(samples[0]) };

static struct wake structured(const char *reason, const char *id)
{
    return (struct wake){
        .version = 1,
        .reason = slice_from(reason),
        .handle = SLICE("@a"),
        .summary = SLICE("AgentChat wake for @a: \"\xc3\xa9\" \\ \xf0\x9f\x98\x80."),
        .delivery_id = slice_from(id),
        .ts = SLICE("2026-11-12T09:00:00.000Z"),
    };
}

static int make_samples(void **state)
{
    (void)state;
    samples[0] = structured("messages", "cycle-0");
    samples[0].conversations = conversations;
    samples[0].conversation_count = 2;
    samples[1] = structured("unanswered", "cycle-1");
    samples[1].step = 4;
    samples[2] = structured("invite", "cycle-2");
    samples[3] = structured("test", "cycle-3");
    samples[3].test = true;
    samples[4] = structured("something_new", "cycle-4");
    samples[5] = structured("messages", "cycle-5"); /* a text and fields */
    samples[5].text = SLICE("A text with no trailer\n");
    samples[6] = (struct wake){.delivery_id = SLICE("cycle-6"), .text = SLICE(TEXT), .attempt = 3};
    samples[7] = (struct wake){.version = 1,
                               .reason = SLICE("messages"),
                               .handle = SLICE("@a"),
                               .summary = SLICE("s/\xc3\xa9"),
                               .delivery_id = SLICE("cycle-7"),
                               .raw = SLICE(RAW)};
    return 0;
}

/* Calls `check` for every dialect, variant and scheme. */
static void for_each_speech(void (*check)(struct spoken *spoken))
{
    for (size_t d = 0; dialects[d]; d++)
        for (unsigned variant = 0; variant < dialects[d]->variant_count; variant++)
            for (unsigned scheme = 0; dialects[d]->schemes[scheme]; scheme++) {
                struct spoken spoken;
                spoken_init(&spoken, dialects[d]);
                spoken.speech.variant = variant;
                spoken.speech.scheme = scheme;
                if (strcmp(dialects[d]->schemes[scheme], "v1a") == 0) {
                    secret_release(&spoken.secret);
                    assert_true(secret_init(&spoken.secret, slice_from(SPOKEN_PRIVATE_KEY), NULL));
                }
                check(&spoken);
                spoken_release(&spoken);
            }
}

static void say(struct spoken *spoken, const struct wake *wake)
{
    char key[LIMIT_DELIVERY_ID_BYTES + 1];

    snprintf(key, sizeof(key), "%.*s", SLICE_ARG(wake->delivery_id));
    assert_true(spoken_say(spoken, wake, key));
}

static void expect_eq(struct slice got, struct slice want)
{
    if (!slice_eq(got, want))
        fail_msg("\"%.*s\" is not \"%.*s\"", SLICE_ARG(got), SLICE_ARG(want));
}

static void expect_same_fields(const struct wake *got, const struct wake *sent)
{
    const bool from_text = sent->version == 0;

    assert_int_equal(got->version, 1);
    expect_eq(got->reason, wake_reason(sent));
    expect_eq(got->handle, from_text ? SLICE("@route") : sent->handle);
    expect_eq(got->summary, from_text ? SLICE("Two unread.") : sent->summary);
    assert_int_equal(got->step, sent->step);
    assert_int_equal(got->test, sent->test);
    if (sent->ts.len > 0)
        expect_eq(got->ts, sent->ts);
    assert_int_equal(got->conversation_count, sent->conversation_count);
    for (size_t i = 0; i < sent->conversation_count; i++) {
        expect_eq(got->conversations[i].id, sent->conversations[i].id);
        expect_eq(got->conversations[i].latest_sender, sent->conversations[i].latest_sender);
        assert_true(got->conversations[i].unread == sent->conversations[i].unread);
    }
}

static bool carries_fields(const struct spoken *spoken)
{
    const char *variant = spoken->dialect->variants[spoken->speech.variant].name;

    return !spoken->dialect->carries_text || (variant && strcmp(variant, "webhook") == 0);
}

static void check_round_trip(struct spoken *spoken)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        struct proven proven = {.secret = 99};
        struct wake got = {0};

        say(spoken, &samples[i]);
        assert_int_equal(spoken_verify(spoken, ~0u, &proven), PROOF_OK);
        assert_int_equal(proven.secret, 0);
        assert_int_equal(proven.scheme, spoken->speech.scheme);
        if (!spoken->dialect->decode(&spoken->request, &got, &spoken->err))
            fail_msg("%s, sample %zu: %s", spoken->dialect->name, i, spoken->err.text);
        expect_eq(got.delivery_id, samples[i].delivery_id);
        assert_int_equal(got.text.len > 0, spoken->dialect->carries_text);
        assert_int_equal(got.attempt, spoken->dialect->carries_text ? 1 : 0);
        if (carries_fields(spoken))
            expect_same_fields(&got, &samples[i]);
        if (!spoken->dialect->carries_text)
            expect_eq(got.raw, spoken->request.body);
        wake_release(&got);
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    for_each_speech(check_round_trip);
}

static void check_same_bytes(struct spoken *spoken)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        struct spoken again;

        spoken_init(&again, spoken->dialect);
        secret_release(&again.secret);
        assert_true(secret_init(&again.secret, spoken->secret.text, NULL));
        again.speech.variant = spoken->speech.variant;
        again.speech.scheme = spoken->speech.scheme;
        say(spoken, &samples[i]);
        say(&again, &samples[i]);
        expect_eq(buf_slice(&again.out.body), buf_slice(&spoken->out.body));
        expect_eq(buf_slice(&again.out.headers), buf_slice(&spoken->out.headers));
        if (!spoken->dialect->carries_text && samples[i].raw.len > 0)
            expect_eq(buf_slice(&spoken->out.body), samples[i].raw);
        spoken_release(&again);
    }
}

static void test_same_bytes(void **state)
{
    (void)state;
    for_each_speech(check_same_bytes);
}

/* A token proves the caller; everything else proves the bytes. */
static bool is_token(const struct spoken *spoken)
{
    const char *scheme = spoken->dialect->schemes[spoken->speech.scheme];

    return strcmp(scheme, "bearer") == 0 || strcmp(scheme, "gitlab") == 0 ||
           strcmp(scheme, "x-openclaw-token") == 0;
}

static void expect_refused(struct spoken *spoken)
{
    struct proven proven;

    assert_int_not_equal(spoken_verify(spoken, ~0u, &proven), PROOF_OK);
}

static void change_body(struct spoken *spoken)
{
    char *body = spoken->out.body.data;

    for (size_t i = 0; i < spoken->out.body.len; i++) {
        body[i] ^= 1;
        expect_refused(spoken);
        body[i] ^= 1;
    }
    spoken->request.body.len--;
    expect_refused(spoken);
    spoken->request.body.len += 2; /* the NUL that follows */
    expect_refused(spoken);
    spoken->request.body.len--;
}

/* Every byte of every header that takes part in the proof. */
static void change_headers(struct spoken *spoken)
{
    for (size_t i = 0; i < spoken->request.header_count; i++) {
        const struct header *header = &spoken->request.headers[i];
        if (slice_eq(header->name, SLICE("Content-Type")) ||
            slice_eq(header->name, SLICE("X-Request-ID")))
            continue;
        char *value = spoken->out.headers.data + (header->value.data - spoken->out.headers.data);
        for (size_t j = 0; j < header->value.len; j++) {
            value[j] ^= 1;
            expect_refused(spoken);
            value[j] ^= 1;
        }
    }
}

static void check_changes(struct spoken *spoken)
{
    struct proven proven;

    if (is_token(spoken))
        return;
    say(spoken, &samples[2]);
    change_body(spoken);
    change_headers(spoken);
    assert_int_equal(spoken_verify(spoken, ~0u, &proven), PROOF_OK); /* nothing was left changed */
}

static void test_changes(void **state)
{
    (void)state;
    for_each_speech(check_changes);
}

/* Exactly one scheme is spoken: with that one narrowed away, nothing is there. */
static void check_one_scheme(struct spoken *spoken)
{
    const unsigned spoken_one = 1u << spoken->speech.scheme;
    struct proven proven;

    say(spoken, &samples[0]);
    assert_int_equal(spoken_verify(spoken, spoken_one, &proven), PROOF_OK);
    enum proof without = spoken_verify(spoken, ~spoken_one, &proven);
    assert_true(without == PROOF_MISSING || without == PROOF_WRONG);
    assert_int_equal(spoken_verify(spoken, 0, &proven) != PROOF_OK, true);
}

static void test_one_scheme(void **state)
{
    (void)state;
    for_each_speech(check_one_scheme);
}

static void test_no_secret(void **state)
{
    (void)state;
    for (size_t d = 0; dialects[d]; d++) {
        const struct keyring none = {.schemes = ~0u, .tolerance_s = 300};
        struct spoken spoken;
        struct proven proven;

        spoken_init(&spoken, dialects[d]);
        say(&spoken, &samples[0]);
        assert_int_equal(dialects[d]->verify(&spoken.request, &none, SPOKEN_NOW_MS, &proven, NULL),
                         PROOF_WRONG);
        spoken_release(&spoken);
    }
}

static void test_table(void **state)
{
    (void)state;
    for (size_t d = 0; dialects[d]; d++) {
        const struct dialect *dialect = dialects[d];
        assert_ptr_equal(dialect_by_name(slice_from(dialect->name)), dialect);
        assert_non_null(dialect->schemes[0]);
        assert_true(dialect->variant_count >= 1);
        for (size_t i = 0; dialect->variant_count > 1 && i < dialect->variant_count; i++)
            assert_non_null(dialect->variants[i].name);
        assert_true(dialect->secret_fits && dialect->verify && dialect->decode);
        assert_true(dialect->frame && dialect->judge);
    }
    assert_null(dialect_by_name(SLICE("hermes ")));
    assert_null(dialect_by_name(SLICE("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),      cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_changes),
        cmocka_unit_test(test_one_scheme), cmocka_unit_test(test_no_secret),
    };
    return cmocka_run_group_tests(tests, make_samples, NULL);
}
