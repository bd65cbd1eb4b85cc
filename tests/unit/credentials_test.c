/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of the rooms: what the config may say, who is let in, and into which thread. */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

#include "relay/room/credentials.h"

struct read {
    struct settings_report report;
    struct credentials credentials;
    json_t *object;
};

static void read_text(struct read *read, const char *text)
{
    struct settings settings;
    char *json = mem_text(slice_from(text));

    for (char *at = strchr(json, '\''); at; at = strchr(at, '\''))
        *at = '"';
    settings_report_init(&read->report, "test.json");
    read->object = json_loads(json, 0, NULL);
    assert_non_null(read->object);
    settings_begin(&settings, &read->report, "rooms", read->object);
    credentials_read(&settings, &read->credentials);
    settings_end(&settings);
    free(json);
}

static void release(struct read *read)
{
    credentials_release(&read->credentials);
    settings_report_release(&read->report);
    json_decref(read->object);
}

#define ONE "{'client': 'one', 'token': {'env': 'CREDENTIALS_ONE'}, 'threads': ['wakes'], "
#define TWO "{'client': 'two', 'token': {'env': 'CREDENTIALS_TWO'}, 'threads': ['a-*', 'b'], "
#define BOTH                                                                                       \
    "'tokens': [" ONE "'rights': ['read', 'answer']}, " TWO "'rights': ['start', 'cancel']}]"

static int set_variables(void **state)
{
    (void)state;
    setenv("CREDENTIALS_ONE", "canary-one", 1);
    setenv("CREDENTIALS_TWO", "canary-two", 1);
    setenv("CREDENTIALS_ODD", "canary \x80", 1);
    return 0;
}

static const struct credential *find(const struct read *read, const char *auth, const char *header)
{
    struct request request = {0};
    struct err why = {0};
    json_t *json = auth ? json_loads(auth, JSON_ALLOW_NUL, NULL) : NULL;

    if (header)
        request.headers[request.header_count++] =
            (struct header){.name = SLICE("authorization"), .value = slice_from(header)};
    const struct credential *found = credentials_find(&read->credentials, json, &request, &why);
    if (!found)
        assert_string_equal(why.text, "Not authorized");
    json_decref(json);
    return found;
}

static void expect_client(const struct read *read, const char *auth, const char *header,
                          const char *client)
{
    const struct credential *found = find(read, auth, header);

    if (strcmp(found ? found->client : "nobody", client) != 0)
        fail_msg("%s, %s: %s instead of %s", auth ? auth : "no auth", header ? header : "no header",
                 found ? found->client : "nobody", client);
}

static void test_who_is_let_in(void **state)
{
    struct read read;

    (void)state;
    read_text(&read, "{" BOTH "}");
    assert_string_equal(buf_text(&read.report.mistakes), "");
    expect_client(&read, "{\"token\":\"canary-one\"}", NULL, "one");
    expect_client(&read, "{\"token\":\"canary-two\",\"more\":1}", NULL, "two");
    expect_client(&read, NULL, "Bearer canary-two", "two");
    expect_client(&read, "{}", "bearer canary-one", "one");
    expect_client(&read, "{\"token\":\"canary-one\"}", "Bearer nonsense", "one");
    expect_client(&read, "{\"token\":\"nonsense\"}", "Bearer canary-one", "nobody");
    expect_client(&read, "{\"token\":\"canary-on\"}", NULL, "nobody");
    expect_client(&read, "{\"token\":\"canary-one\\u0000\"}", NULL, "nobody");
    expect_client(&read, "{\"token\":\"\"}", NULL, "nobody");
    expect_client(&read, "{\"token\":null}", NULL, "nobody");
    expect_client(&read, "{\"token\":[\"canary-one\"]}", NULL, "nobody");
    expect_client(&read, "{}", NULL, "nobody");
    expect_client(&read, NULL, NULL, "nobody");
    expect_client(&read, NULL, "Basic canary-one", "nobody");
    release(&read);
}

static void test_anonymous(void **state)
{
    struct read read;

    (void)state;
    read_text(&read, "{" BOTH ", 'anonymous': {'threads': ['public-*']}}");
    assert_string_equal(buf_text(&read.report.mistakes), "");
    expect_client(&read, NULL, NULL, "anonymous");
    expect_client(&read, "{}", "Basic of-a-proxy", "anonymous");
    expect_client(&read, NULL, "Bearer nonsense", "nobody");
    expect_client(&read, "{\"token\":\"\"}", NULL, "nobody");
    assert_int_equal(find(&read, NULL, NULL)->rights, RIGHT_READ);
    release(&read);
}

static void test_repeated_header(void **state)
{
    struct read read;
    struct request request = {.header_count = 2};
    struct err why;

    (void)state;
    read_text(&read, "{" BOTH ", 'anonymous': {'threads': ['*']}}");
    for (size_t i = 0; i < 2; i++)
        request.headers[i] = (struct header){SLICE("Authorization"), SLICE("Bearer canary-one")};
    assert_null(credentials_find(&read.credentials, NULL, &request, &why));
    release(&read);
}

static void test_threads_and_rights(void **state)
{
    struct read read;

    (void)state;
    read_text(&read, "{" BOTH ", 'anonymous': {'threads': ['*'], 'rights': []}}");
    const struct credential *one = find(&read, "{\"token\":\"canary-one\"}", NULL);
    const struct credential *two = find(&read, "{\"token\":\"canary-two\"}", NULL);
    const struct credential *anybody = find(&read, NULL, NULL);
    assert_int_equal(one->rights, RIGHT_READ | RIGHT_ANSWER);
    assert_int_equal(two->rights, RIGHT_START | RIGHT_CANCEL);
    assert_int_equal(anybody->rights, 0);
    assert_true(credential_allows(one, SLICE("wakes")));
    assert_false(credential_allows(one, SLICE("wakes2")));
    assert_false(credential_allows(one, SLICE("wake")));
    assert_false(credential_allows(one, SLICE("")));
    assert_true(credential_allows(two, SLICE("a-")));
    assert_true(credential_allows(two, SLICE("a-1")));
    assert_true(credential_allows(two, SLICE("b")));
    assert_false(credential_allows(two, SLICE("a")));
    assert_false(credential_allows(two, SLICE("ba-1")));
    assert_true(credential_allows(anybody, SLICE("anything")));
    release(&read);
}

static void test_again(void **state)
{
    struct read read, later;

    (void)state;
    read_text(&read, "{" BOTH ", 'anonymous': {'threads': ['*']}}");
    read_text(&later, "{'tokens': [{'client': 'renamed', 'token': {'env': 'CREDENTIALS_TWO'}, "
                      "'threads': ['b']}]}");
    const struct credential *one = find(&read, "{\"token\":\"canary-one\"}", NULL);
    const struct credential *two = find(&read, "{\"token\":\"canary-two\"}", NULL);
    assert_null(credentials_again(&later.credentials, one));
    assert_null(credentials_again(&later.credentials, find(&read, NULL, NULL)));
    const struct credential *again = credentials_again(&later.credentials, two);
    assert_non_null(again);
    assert_string_equal(again->client, "renamed");
    release(&read);
    release(&later);
}

static const struct {
    const char *text, *mistake;
} mistakes[] = {
    {"'tokens': [{'client': 'x', 'threads': ['*']}]", "rooms.tokens[0].token: is missing"},
    {"'tokens': [{'token': {'env': 'CREDENTIALS_ONE'}, 'threads': ['*']}]",
     "rooms.tokens[0].client: is missing"},
    {"'tokens': [{'client': 'anonymous', 'token': {'env': 'CREDENTIALS_ONE'}, 'threads': ['*']}]",
     "rooms.tokens[0].client: is what those without a token are called"},
    {"'tokens': [{'client': 'x', 'token': 'canary-bare', 'threads': ['*']}]",
     "rooms.tokens[0].token: is a bare string"},
    {"'tokens': [{'client': 'x', 'token': {'env': 'CREDENTIALS_ODD'}, 'threads': ['*']}]",
     "rooms.tokens[0].token: is not printable ASCII"},
    {"'tokens': [{'client': 'x', 'token': {'env': 'CREDENTIALS_ONE'}}]",
     "rooms.tokens[0].threads: is missing"},
    {"'tokens': [{'client': 'x', 'token': {'env': 'CREDENTIALS_ONE'}, 'threads': ['a*b']}]",
     "rooms.tokens[0].threads: \"a*b\": is neither"},
    {"'tokens': [{'client': 'x', 'token': {'env': 'CREDENTIALS_ONE'}, 'threads': ['']}]",
     "rooms.tokens[0].threads: \"\": is neither"},
    {"'tokens': [" ONE "'rights': ['write']}]",
     "rooms.tokens[0].rights: \"write\": is none of read, answer, cancel, start"},
    {"'tokens': [" ONE "'right': ['read']}]", "rooms.tokens[0].right: is not a known key"},
    {"'tokens': [" ONE "'rights': []}, {'client': 'one', 'token': {'env': 'CREDENTIALS_TWO'}, "
     "'threads': ['*']}]",
     "rooms.tokens[1].client: \"one\" is another client's name too"},
    {"'tokens': [" ONE "'rights': []}, {'client': 'two', 'token': {'env': 'CREDENTIALS_ONE'}, "
     "'threads': ['*']}]",
     "rooms.tokens[1].token: is that of \"one\" too"},
    {"'tokens': {}", "rooms.tokens: "},
    {"'tokens': [1]", "rooms.tokens[0]: "},
    {"'anonymous': {}", "rooms.anonymous.threads: is missing"},
    {"'anonymous': []", "rooms.anonymous: "},
};

static void test_mistakes(void **state)
{
    struct read read;
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        snprintf(text, sizeof(text), "{%s}", mistakes[i].text);
        read_text(&read, text);
        if (!strstr(buf_text(&read.report.mistakes), mistakes[i].mistake))
            fail_msg("%s gave: %s", text, buf_text(&read.report.mistakes));
        assert_null(strstr(buf_text(&read.report.mistakes), "canary"));
        release(&read);
    }
}

static void test_warnings(void **state)
{
    struct read read;

    (void)state;
    read_text(&read, "{}");
    assert_non_null(strstr(buf_text(&read.report.warnings), "rooms: lets nobody in"));
    release(&read);
    read_text(&read, "{'anonymous': {'threads': ['*'], 'rights': ['answer']}}");
    assert_non_null(
        strstr(buf_text(&read.report.warnings), "rooms.anonymous.rights: lets anybody"));
    release(&read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_is_let_in),   cmocka_unit_test(test_anonymous),
        cmocka_unit_test(test_repeated_header), cmocka_unit_test(test_threads_and_rights),
        cmocka_unit_test(test_again),           cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_warnings),
    };

    return cmocka_run_group_tests(tests, set_variables, NULL);
}
