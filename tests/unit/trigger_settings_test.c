/* SPDX-License-Identifier: Apache-2.0 */
/* What the config may say of a target and of a trigger, and what is said back. */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

#include "relay/preset.h"
#include "relay/trigger.h"

static const char canary[] = "canary-token-0123456789";

struct opened {
    struct settings_report report;
    struct target *target;
    json_t *object;
};

/* `trigger` is one in single quotes; where it names no dialect, it is claude-code's. */
static void open_text(struct opened *opened, const char *text)
{
    const struct route_facts route = {.name = SLICE("relay"), .handle = SLICE("@example-relay")};
    struct settings settings;
    char *json = mem_text(slice_from(text));

    for (char *at = strchr(json, '\''); at; at = strchr(at, '\''))
        *at = '"';
    settings_report_init(&opened->report, "test.json");
    opened->object = json_loads(json, 0, NULL);
    assert_non_null(opened->object);
    settings_begin(&settings, &opened->report, "target", opened->object);
    opened->target = target_open(&settings, &route, NULL);
    settings_end(&settings);
    free(json);
}

static void open_trigger(struct opened *opened, const char *members)
{
    char text[4096];

    snprintf(text, sizeof(text), "{'trigger': {%s}}", members);
    open_text(opened, text);
}

static void release(struct opened *opened)
{
    target_close(opened->target);
    settings_report_release(&opened->report);
    json_decref(opened->object);
}

static void expect_mistake(const char *text, bool whole, const char *mistake)
{
    struct opened opened;

    if (whole)
        open_text(&opened, text);
    else
        open_trigger(&opened, text);
    if (!strstr(buf_text(&opened.report.mistakes), mistake))
        fail_msg("%s\ngave: %s\nwithout: %s", text, buf_text(&opened.report.mistakes), mistake);
    assert_null(opened.target);
    assert_null(strstr(buf_text(&opened.report.mistakes), "canary"));
    release(&opened);
}

#define CLAUDE   "'dialect': 'claude-code', 'url': 'https://example.com/x', "
#define TOKEN    "'token': {'env': 'TRIGGER_TEST_TOKEN'}"
#define STANDARD "'dialect': 'standard-webhooks', 'url': 'https://example.com/', "
#define HERMES   "'dialect': 'hermes', 'secret': {'env': 'TRIGGER_TEST_TOKEN'}, "

static void test_fine(void **state)
{
    static const char *const fine[] = {
        CLAUDE TOKEN,
        CLAUDE TOKEN ", 'id': 'routine', 'wait': '2s', 'hold': '10m', 'timeout': '30s', "
                     "'pace': {'per_hour': 30, 'burst': 5}, 'scheme': 'bearer'",
        "'dialect': 'bearer-json', 'fields': {'a': {'b': [1]}}, 'url': "
        "'HTTPS://EXAMPLE.com:8443?x=1', " TOKEN,
        "'dialect': 'openclaw', 'variant': 'wake', 'scheme': 'x-openclaw-token', 'private': true, "
        "'url': 'http://10.0.0.1:18789/hooks/wake', " TOKEN,
        HERMES "'scheme': 'hub', 'private': true, 'url': 'http://[fd00::1]/webhooks/x'",
        HERMES "'url': {'env': 'TRIGGER_TEST_URL'}",
        STANDARD "'secret': {'env': 'TRIGGER_TEST_KEY'}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
        struct opened opened;
        open_trigger(&opened, fine[i]);
        if (!opened.target)
            fail_msg("%s\ngave: %s", fine[i], buf_text(&opened.report.mistakes));
        assert_int_equal(opened.report.warning_count, 0);
        release(&opened);
    }
}

static void test_values(void **state)
{
    struct opened opened;

    (void)state;
    open_trigger(&opened, CLAUDE TOKEN);
    assert_false(opened.target->idempotent);
    assert_int_equal(opened.target->hold_ms, 240000);
    assert_int_equal(opened.target->wait_ms, 0);
    assert_int_equal(opened.target->timeout_ms, 20000);
    assert_int_equal(opened.target->pace.per_hour, 0);
    assert_int_equal(strlen(opened.target->id), strlen("claude-code-01234567"));
    assert_int_equal(strncmp(opened.target->id, "claude-code-", 12), 0);
    assert_true(settings_is_name(slice_from(opened.target->id)));
    release(&opened);

    open_trigger(&opened, HERMES "'url': 'https://example.com/', 'id': 'mine', 'hold': '1h', "
                                 "'pace': {'per_hour': 30}, 'timeout': '1s', 'wait': '1s'");
    assert_true(opened.target->idempotent);
    assert_string_equal(opened.target->id, "mine");
    assert_int_equal(opened.target->hold_ms, 3600000);
    assert_int_equal(opened.target->timeout_ms, 1000);
    assert_int_equal(opened.target->pace.per_hour, 30);
    assert_int_equal(opened.target->pace.burst, 1);
    release(&opened);
}

/* In any hour at most the sum of both. */
static const struct {
    const char *runtime, *proof, *dialect;
    int64_t per_hour, burst;
} runtimes[] = {
    {"claude-code", TOKEN, "claude-code", 27, 3},
    {"openclaw", TOKEN, "openclaw", 0, 0},
    {"hermes", "'secret': {'env': 'TRIGGER_TEST_TOKEN'}", "hermes", 1200, 10},
    {"poke", TOKEN, "poke", 0, 0},
    {"grok-bot", TOKEN, "bearer-json", 120, 1},
    {"grok-automations", "'secret': {'env': 'TRIGGER_TEST_KEY'}", "standard-webhooks", 0, 0},
};

static void test_runtimes(void **state)
{
    enum { RUNTIMES = sizeof(runtimes) / sizeof(runtimes[0]) };
    struct opened opened;
    char text[512];

    (void)state;
    for (size_t i = 0; i < RUNTIMES; i++) {
        snprintf(text, sizeof(text), "'runtime': '%s', 'url': 'https://example.com/x', %s",
                 runtimes[i].runtime, runtimes[i].proof);
        assert_string_equal(presets[i].name, runtimes[i].runtime);
        open_trigger(&opened, text);
        if (!opened.target)
            fail_msg("%s\ngave: %s", text, buf_text(&opened.report.mistakes));
        assert_int_equal(
            strncmp(opened.target->id, runtimes[i].dialect, strlen(runtimes[i].dialect)), 0);
        assert_int_equal(opened.target->pace.per_hour, runtimes[i].per_hour);
        assert_int_equal(opened.target->pace.burst, runtimes[i].burst);
        assert_int_equal(opened.target->timeout_ms, 20000);
        assert_int_equal(opened.target->hold_ms, 240000);
        release(&opened);
    }
    assert_null(presets[RUNTIMES].name);
}

static void test_what_stands_beside_a_runtime_wins(void **state)
{
    struct opened opened;

    (void)state;
    open_trigger(&opened, "'runtime': 'claude-code', 'dialect': 'poke', 'timeout': '3s', 'hold': "
                          "'1m', 'pace': {'per_hour': 7}, 'url': 'https://example.com/x', " TOKEN);
    assert_non_null(opened.target);
    assert_int_equal(strncmp(opened.target->id, "poke-", 5), 0);
    assert_int_equal(opened.target->pace.per_hour, 7);
    assert_int_equal(opened.target->pace.burst, 1);
    assert_int_equal(opened.target->timeout_ms, 3000);
    assert_int_equal(opened.target->hold_ms, 60000);
    release(&opened);
}

static void test_ids_differ(void **state)
{
    struct opened a, b;

    (void)state;
    open_trigger(&a, "'dialect': 'poke', 'url': 'https://example.com/a', " TOKEN);
    open_trigger(&b, "'dialect': 'poke', 'url': 'https://example.com/b', " TOKEN);
    assert_string_not_equal(a.target->id, b.target->id);
    release(&a);
    release(&b);
}

static const char *const bad_urls[][2] = {
    {"", "url: the address is empty"},
    {"example.com", "does not begin with https://"},
    {"ftp://example.com/canary", "does not begin with https://"},
    {"https:///canary", "names no host"},
    {"https://:80/canary", "names no host"},
    {"https://[canary]/", "no IPv6 address in its brackets"},
    {"https://[[[2001:db8::1]/canary", "no IPv6 address in its brackets"},
    {"https://[2001:db8::1/canary", "no IPv6 address in its brackets"},
    {"https://[2001:db8::1]8080/canary", "neither a port nor a path"},
    {"https://10.!./canary", "no name and no address"},
    {"https://%31%32%37.0.0.1/canary", "no name and no address"},
    {"https://a]b/canary", "no name and no address"},
    {"https://u:canary@example.com/", "has a user name or password"},
    {"https://canary@example.com", "has a user name or password"},
    {"https://example.com/#canary", "has a fragment"},
    {"https://example.com#canary", "has a fragment"},
    {"https://example.com/can ary", "blanks"},
    {"https://example.com:0/canary", "has a port"},
    {"https://example.com:65536/canary", "has a port"},
    {"https://example.com:8x/canary", "has a port"},
    {"http://example.com/canary", "\"private\": true"},
    {"https://127.0.0.1/canary", "\"private\": true"},
    {"https://[::1]:8443/canary", "\"private\": true"},
    {"https://localhost/canary", "\"private\": true"},
    {"https://192.168.1.1", "\"private\": true"},
    {"https://0x7f.1/canary", "\"private\": true"},
    {"https://169.254.169.254/canary", "metadata"},
    {"https://[fd00:ec2::254]/canary", "metadata"},
    {"https://[::ffff:169.254.169.254]/canary", "metadata"},
};

static void test_urls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_urls) / sizeof(bad_urls[0]); i++) {
        char members[512];
        snprintf(members, sizeof(members), "'dialect': 'poke', 'url': '%s', " TOKEN,
                 bad_urls[i][0]);
        expect_mistake(members, false, bad_urls[i][1]);
    }
    /* never, whatever the flag says */
    expect_mistake("'dialect': 'poke', 'private': true, 'url': 'http://169.254.169.254/', " TOKEN,
                   false, "metadata");
    expect_mistake("'dialect': 'poke', " TOKEN, false, "trigger.url: is missing");
}

static const char *const bad_triggers[][2] = {
    {"'url': 'https://example.com/', " TOKEN, "trigger.dialect: is missing"},
    {"'dialect': 'hermse', 'url': 'https://example.com/', " TOKEN, "did you mean \"hermes\""},
    {CLAUDE "'secret': {'env': 'TRIGGER_TEST_TOKEN'}", "trigger.secret: is called \"token\""},
    {"'dialect': 'hermes', 'url': 'https://example.com/', " TOKEN,
     "trigger.token: is called \"secret\""},
    {CLAUDE "'id': 'x'", "trigger.token: is missing"},
    {CLAUDE "'token': 'canary'", "trigger.token: is a bare string"},
    {"'dialect': 'standard-webhooks', 'url': 'https://example.com/', 'secret': {'env': "
     "'TRIGGER_TEST_TOKEN'}",
     "fits the dialect standard-webhooks"},
    {"'dialect': 'standard-webhooks', 'url': 'https://example.com/', 'secret': {'env': "
     "'TRIGGER_TEST_PUBLIC'}",
     "no wake can be sent like this"},
    {CLAUDE TOKEN ", 'variant': 'x'", "trigger.variant: means nothing"},
    {CLAUDE TOKEN ", 'scheme': 'hub'", "trigger.scheme: is \"hub\""},
    {CLAUDE TOKEN ", 'fields': {'a': 1}", "trigger.fields: cannot be added"},
    {"'dialect': 'poke', 'url': 'https://example.com/', 'fields': [1], " TOKEN,
     "trigger.fields: is an array"},
    {"'dialect': 'openclaw', 'variant': 'agnet', 'url': 'https://example.com/', " TOKEN,
     "did you mean \"agent\""},
    {CLAUDE TOKEN ", 'hold': '1ms'", "trigger.hold"},
    {CLAUDE TOKEN ", 'wait': '1h'", "trigger.wait"},
    {CLAUDE TOKEN ", 'timeout': 'soon'", "trigger.timeout"},
    {CLAUDE TOKEN ", 'pace': {}", "trigger.pace.per_hour: is missing"},
    {CLAUDE TOKEN ", 'pace': {'per_hour': 0}", "trigger.pace.per_hour"},
    {CLAUDE TOKEN ", 'pace': {'per_hour': 1, 'brust': 2}", "did you mean \"burst\""},
    {CLAUDE TOKEN ", 'id': 'a b'", "trigger.id"},
    {CLAUDE TOKEN ", 'privat': true", "did you mean \"private\""},
    {CLAUDE TOKEN ", 'private': 'yes'", "trigger.private"},
};

static void test_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_triggers) / sizeof(bad_triggers[0]); i++)
        expect_mistake(bad_triggers[i][0], false, bad_triggers[i][1]);
}

static void test_kinds(void **state)
{
    (void)state;
    expect_mistake("{}", true, "target: is empty; name a kind");
    expect_mistake("{'triger': {}}", true, "did you mean \"trigger\"");
    expect_mistake("{'trigger': 7}", true, "target.trigger: is a number");
}

/* One run tells all of it, and each thing once. */
static void test_all_at_once(void **state)
{
    struct opened opened;

    (void)state;
    open_trigger(&opened,
                 "'dialect': 'x', 'url': 'x', 'variant': 'y', 'scheme': 'z', 'fields': {}, "
                 "'hold': 1, 'colour': 'red', " TOKEN);
    assert_int_equal(opened.report.mistake_count, 4);
    release(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fine),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_runtimes),
        cmocka_unit_test(test_what_stands_beside_a_runtime_wins),
        cmocka_unit_test(test_ids_differ),
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_all_at_once),
    };

    setenv("TRIGGER_TEST_TOKEN", canary, 1);
    setenv("TRIGGER_TEST_URL", "https://example.com/canary", 1);
    setenv("TRIGGER_TEST_KEY", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 1);
    setenv("TRIGGER_TEST_PUBLIC", "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
