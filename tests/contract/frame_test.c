/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each runtime wants to be told, in its own words: headers, members of the body, limits, and
 * what the config may add.
 */
#include "tests/spoken.h"

#define TRAILER "(AgentChat wake cycle c-1, attempt 1. This text carries no message content.)"

static const struct wake wake = {
    .version = 1,
    .reason = {"messages", 8},
    .handle = {"@a", 2},
    .summary = {"One unread.", 11},
    .delivery_id = {"c-1", 3},
};

static void begin(struct spoken *spoken, const char *dialect, unsigned variant, const char *fields)
{
    const struct dialect *found = dialect_by_name(slice_from(dialect));

    assert_non_null(found);
    spoken_init(spoken, found);
    spoken->speech.variant = variant;
    if (fields)
        spoken->speech.fields = json_loads(fields, 0, NULL);
}

static void expect_header(const struct spoken *spoken, const char *name, const char *value)
{
    assert_true(slice_eq(spoken_header(spoken, name), slice_from(value)));
}

static void expect_body(const struct spoken *spoken, const char *body)
{
    assert_string_equal(buf_text(&spoken->out.body), body);
}

static void test_claude_code(void **state)
{
    struct spoken spoken;

    (void)state;
    begin(&spoken, "claude-code", 0, "{\"more\":1}");
    assert_true(spoken_say(&spoken, &wake, "key-1"));
    expect_header(&spoken, "Authorization", "Bearer " SPOKEN_SECRET);
    expect_header(&spoken, "anthropic-beta", "experimental-cc-routine-2026-04-01");
    expect_header(&spoken, "anthropic-version", "2023-06-01");
    expect_header(&spoken, "Content-Type", "application/json");
    expect_body(&spoken, "{\"text\":\"One unread.\\n\\nRead the tray.\\n\\n" TRAILER "\"}");
    spoken_release(&spoken);
}

static void test_openclaw_agent(void **state)
{
    struct spoken spoken;

    (void)state;
    begin(&spoken, "openclaw", 0, NULL);
    spoken.speech.prompt = (struct slice){0};
    assert_true(spoken_say(&spoken, &wake, "key-1"));
    expect_header(&spoken, "Authorization", "Bearer " SPOKEN_SECRET);
    expect_header(&spoken, "Idempotency-Key", "key-1");
    expect_body(&spoken, "{\"message\":\"One unread.\\n\\n" TRAILER
                         "\",\"name\":\"AgentChat\",\"deliver\":false}");
    spoken_release(&spoken);
}

static void test_openclaw_wake(void **state)
{
    struct spoken spoken;

    (void)state;
    begin(&spoken, "openclaw", 1, NULL);
    spoken.speech.scheme = 1;
    spoken.speech.prompt = (struct slice){0};
    assert_true(spoken_say(&spoken, &wake, "key-1"));
    expect_header(&spoken, "x-openclaw-token", SPOKEN_SECRET);
    expect_header(&spoken, "Authorization", "");
    expect_header(&spoken, "Idempotency-Key", "");
    expect_body(&spoken, "{\"text\":\"One unread.\\n\\n" TRAILER "\",\"mode\":\"now\"}");
    spoken_release(&spoken);
}

/* The config wins over our defaults, and never over what carries the wake. */
static void test_fields(void **state)
{
    struct spoken spoken;

    (void)state;
    begin(&spoken, "openclaw", 0,
          "{\"message\":\"no\",\"deliver\":true,\"agentId\":\"main\",\"name\":\"Mine\"}");
    spoken.speech.prompt = (struct slice){0};
    assert_true(spoken_say(&spoken, &wake, "key-1"));
    expect_body(&spoken, "{\"message\":\"One unread.\\n\\n" TRAILER
                         "\",\"deliver\":true,\"agentId\":\"main\",\"name\":\"Mine\"}");
    spoken_release(&spoken);

    begin(&spoken, "poke", 0, "{\"message\":\"no\",\"more\":[1]}");
    spoken.speech.prompt = (struct slice){0};
    assert_true(spoken_say(&spoken, &wake, "key-1"));
    expect_body(&spoken, "{\"message\":\"One unread.\\n\\n" TRAILER "\",\"more\":[1]}");
    spoken_release(&spoken);

    begin(&spoken, "bearer-json", 0, "{\"delivery_id\":\"no\",\"more\":{\"x\":1}}");
    assert_true(spoken_say(&spoken, &wake, "key-1"));
    expect_body(&spoken,
                "{\"type\":\"agentchat.wake\",\"version\":1,\"reason\":\"messages\","
                "\"handle\":\"@a\",\"conversations\":[],\"summary\":\"One unread.\","
                "\"delivery_id\":\"c-1\",\"ts\":\"2026-11-12T09:00:00.123Z\",\"more\":{\"x\":1}}");
    spoken_release(&spoken);
}

/* What signs is not changed by fields; what is received as payload v1 keeps its unknown members
 * where a field is added. */
static void test_fields_and_raw(void **state)
{
    static const char raw[] = "{\"type\":\"agentchat.wake\",\"version\":1,\"handle\":\"@a\","
                              "\"delivery_id\":\"c-1\",\"unknown\":12345678901234567}";
    const struct wake received = {.delivery_id = SLICE("c-1"), .raw = slice_from(raw)};
    struct spoken spoken;

    (void)state;
    begin(&spoken, "bearer-json", 0, "{\"more\":1}");
    assert_true(spoken_say(&spoken, &received, "key-1"));
    expect_body(&spoken, "{\"type\":\"agentchat.wake\",\"version\":1,\"handle\":\"@a\","
                         "\"delivery_id\":\"c-1\",\"unknown\":12345678901234567,\"more\":1}");
    spoken_release(&spoken);
    begin(&spoken, "hermes", 0, "{\"more\":1}");
    assert_true(spoken_say(&spoken, &received, "key-1"));
    expect_body(&spoken, raw);
    spoken_release(&spoken);
}

static void test_hermes(void **state)
{
    struct spoken spoken;

    (void)state;
    begin(&spoken, "hermes", 0, NULL);
    assert_true(spoken_say(&spoken, &wake, "key-1"));
    expect_header(&spoken, "X-Request-ID", "key-1");
    expect_header(&spoken, "X-Webhook-Timestamp", "1794474000");
    assert_int_equal(spoken_header(&spoken, "X-Webhook-Signature-V2").len, 64);
    spoken.speech.scheme = 1;
    assert_true(spoken_say(&spoken, &wake, "key-1"));
    assert_true(slice_starts(spoken_header(&spoken, "X-Hub-Signature-256"), SLICE("sha256=")));
    expect_header(&spoken, "X-Webhook-Timestamp", "");
    spoken.speech.scheme = 2;
    assert_true(spoken_say(&spoken, &wake, "key-1"));
    expect_header(&spoken, "webhook-id", "key-1");
    spoken_release(&spoken);
}

static void test_standard_webhooks(void **state)
{
    struct spoken spoken;

    (void)state;
    begin(&spoken, "standard-webhooks", 0, NULL);
    assert_true(spoken_say(&spoken, &wake, "key-1"));
    expect_header(&spoken, "webhook-id", "key-1");
    expect_header(&spoken, "webhook-timestamp", "1794474000");
    assert_true(slice_starts(spoken_header(&spoken, "webhook-signature"), SLICE("v1,")));
    secret_release(&spoken.secret);
    assert_true(secret_init(&spoken.secret,
                            SLICE("whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="), NULL));
    assert_false(spoken_say(&spoken, &wake, "key-1")); /* a public key signs nothing */
    spoken_release(&spoken);
}

static void test_agentchat(void **state)
{
    struct spoken spoken;

    (void)state;
    begin(&spoken, "agentchat", 0, NULL);
    assert_true(spoken_say(&spoken, &wake, "key-1"));
    const struct slice value = spoken_header(&spoken, "Agentchat-Signature");
    assert_true(slice_starts(value, SLICE("t=1794474000,v1=")));
    assert_true(slice_eq(value, spoken_header(&spoken, "X-AgentChat-Signature")));
    spoken_release(&spoken);
}

/* The attempt is 1, whatever came in, and nothing else of a received text changes. */
static void test_attempts(void **state)
{
    static const struct {
        const char *text, *sent;
    } cases[] = {
        {"S.\\n\\nP.\\n\\n(AgentChat wake cycle c-1, attempt 12. Other words.)\\n",
         "S.\\n\\nP.\\n\\n(AgentChat wake cycle c-1, attempt 1. Other words.)\\n"},
        {"No trailer. \\n\\n", "No trailer.\\n\\n" TRAILER},
        {"(AgentChat wake cycle other, attempt 2. T.)",
         "(AgentChat wake cycle other, attempt 2. T.)\\n\\n" TRAILER},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[512];
        struct spoken spoken;
        struct request request = {.header_count = 0};
        struct wake received = {0};

        snprintf(body, sizeof(body),
                 "{\"text\":\"%s\",\"type\":\"agentchat.wake\","
                 "\"delivery_id\":\"c-1\"}",
                 cases[i].text);
        request.body = slice_from(body);
        begin(&spoken, "claude-code", 0, NULL);
        assert_true(spoken.dialect->decode(&request, &received, NULL));
        assert_true(spoken_say(&spoken, &received, "key-1"));
        snprintf(body, sizeof(body), "{\"text\":\"%s\"}", cases[i].sent);
        expect_body(&spoken, body);
        wake_release(&received);
        spoken_release(&spoken);
    }
}

static bool says_text_of(const char *dialect, const char *character, size_t count)
{
    struct buf text = BUF_INIT(SPOKEN_BYTES);
    struct spoken spoken;

    for (size_t i = 0; i < count; i++)
        buf_append(&text, slice_from(character));
    buf_append(&text, SLICE("\n\n" TRAILER));
    const struct wake long_one = {.delivery_id = SLICE("c-1"), .text = buf_slice(&text)};
    begin(&spoken, dialect, 0, NULL);
    bool said = spoken_say(&spoken, &long_one, "key-1");
    spoken_release(&spoken);
    buf_release(&text);
    return said;
}

static void test_limits(void **state)
{
    const size_t rest = strlen("\n\n" TRAILER);
    const size_t shell =
        strlen("{\"message\":\"\\n\\n" TRAILER "\",\"name\":\"AgentChat\",\"deliver\":false}");

    (void)state;
    assert_true(says_text_of("claude-code", "\xf0\x9f\x98\x80", 65536 - rest));
    assert_false(says_text_of("claude-code", "\xf0\x9f\x98\x80", 65537 - rest));
    assert_true(says_text_of("openclaw", "x", 262144 - shell));
    assert_false(says_text_of("openclaw", "x", 262145 - shell));
    assert_false(says_text_of("poke", "x", 2 * 1024 * 1024));
    assert_false(says_text_of("claude-code", "\xff", 1)); /* no UTF-8, no JSON */
}

/* Where the caller's buffers are too small, nothing half-written is called a success. */
static void test_small_buffers(void **state)
{
    (void)state;
    for (size_t d = 0; dialects[d]; d++)
        for (int which = 0; which < 2; which++) {
            struct spoken spoken;

            spoken_init(&spoken, dialects[d]);
            if (which == 0)
                spoken.out.headers.max = 40;
            else
                spoken.out.body.max = 40;
            assert_false(spoken_say(&spoken, &wake, "key-1"));
            spoken_release(&spoken);
        }
}

static bool fits(const char *dialect, const char *text)
{
    struct secret secret;
    struct err err = {.text = ""};

    assert_true(secret_init(&secret, slice_from(text), NULL));
    bool fitting = dialect_by_name(slice_from(dialect))->secret_fits(&secret, &err);
    assert_true(fitting || err.text[0]);
    assert_null(strstr(err.text, text)); /* no secret in an error */
    secret_release(&secret);
    return fitting;
}

static bool doubted(const char *dialect, const char *text)
{
    struct secret secret;

    assert_true(secret_init(&secret, slice_from(text), NULL));
    const char *doubt = dialect_secret_doubt(dialect_by_name(slice_from(dialect)), &secret);
    secret_release(&secret);
    return doubt != NULL;
}

static void test_secrets(void **state)
{
    static const char *const tokens[] = {"claude-code", "openclaw", "poke", "bearer-json"};

    (void)state;
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
        assert_true(fits(tokens[i], "sk-ant-oat01-abc"));
        assert_false(fits(tokens[i], "q\xc3\xb6z"));
    }
    assert_true(doubted("standard-webhooks", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
    assert_false(doubted("standard-webhooks", SPOKEN_SECRET));
    assert_false(doubted("standard-webhooks", SPOKEN_PRIVATE_KEY));
    assert_false(doubted("hermes", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
    assert_true(fits("agentchat", "any words, even \xc3\xb6"));
    assert_true(fits("hermes", "any words"));
    assert_true(fits("standard-webhooks", SPOKEN_SECRET));
    assert_true(fits("standard-webhooks", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
    assert_true(fits("standard-webhooks", SPOKEN_PRIVATE_KEY));
    assert_false(fits("standard-webhooks", "not base64!"));
    assert_false(fits("standard-webhooks", "c2hvcnQ=")); /* five bytes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claude_code),       cmocka_unit_test(test_openclaw_agent),
        cmocka_unit_test(test_openclaw_wake),     cmocka_unit_test(test_fields),
        cmocka_unit_test(test_fields_and_raw),    cmocka_unit_test(test_hermes),
        cmocka_unit_test(test_standard_webhooks), cmocka_unit_test(test_agentchat),
        cmocka_unit_test(test_attempts),          cmocka_unit_test(test_limits),
        cmocka_unit_test(test_small_buffers),     cmocka_unit_test(test_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
