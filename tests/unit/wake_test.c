/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/limits.h"
#include "gateway/core/wake.h"

static bool read_text(struct slice body, struct wake *wake, struct err *err)
{
    json_t *payload = json_loadb(body.data, body.len, JSON_REJECT_DUPLICATES, NULL);

    *wake = (struct wake){0};
    assert_non_null(payload);
    bool fine = wake_read_payload(wake, payload, body, err);
    json_decref(payload); /* nothing of it may be kept */
    return fine;
}

static void assert_slice(struct slice slice, const char *expected)
{
    if (!slice_eq(slice, slice_from(expected)))
        fail_msg("\"%.*s\" is not \"%s\"", SLICE_ARG(slice), expected);
}

static void test_contract_example(void **state)
{
    const struct slice body =
        SLICE("{\"type\":\"agentchat.wake\",\"version\":1,\"reason\":\"unanswered\",\"step\":2,"
              "\"handle\":\"@example-relay\",\"conversations\":[{\"id\":\"conv_direct0first01\","
              "\"unread\":3,\"latest_sender\":\"@example-scout\"},{\"id\":\"conv_2\"}],"
              "\"summary\":\"AgentChat wake for @example-relay\\u003a \\u20ac.\","
              "\"delivery_id\":\"3f1f0c7e-5a2b-4c61-9d0e-2b8f6f0a9c11\","
              "\"ts\":\"2026-11-12T09:00:00.000Z\",\"test\":true,\"added_later\":[null]}");
    struct wake wake;
    struct err err;

    (void)state;
    assert_true(read_text(body, &wake, &err));
    assert_int_equal(wake.version, 1);
    assert_slice(wake.reason, "unanswered");
    assert_int_equal(wake.step, 2);
    assert_slice(wake.handle, "@example-relay");
    assert_slice(wake.summary, "AgentChat wake for @example-relay: \xe2\x82\xac.");
    assert_slice(wake.delivery_id, "3f1f0c7e-5a2b-4c61-9d0e-2b8f6f0a9c11");
    assert_slice(wake.ts, "2026-11-12T09:00:00.000Z");
    assert_true(wake.ts_ms == INT64_C(1794474000000));
    assert_true(wake.test);
    assert_int_equal(wake.conversation_count, 2);
    assert_slice(wake.conversations[0].id, "conv_direct0first01");
    assert_int_equal(wake.conversations[0].unread, 3);
    assert_slice(wake.conversations[0].latest_sender, "@example-scout");
    assert_slice(wake.conversations[1].id, "conv_2");
    assert_int_equal(wake.conversations[1].unread, 0);
    assert_slice(wake.conversations[1].latest_sender, "");
    assert_int_equal(wake.raw.len, 0); /* the dialect's */
    assert_int_equal(wake.text.len, 0);
    wake_release(&wake);
    assert_null(wake.memory);
    wake_release(&wake);
}

static void test_nothing_carried(void **state)
{
    struct wake wake;

    (void)state;
    assert_true(read_text(SLICE("{}"), &wake, NULL));
    assert_int_equal(wake.version, 0);
    assert_int_equal(wake.reason.len + wake.handle.len + wake.summary.len + wake.ts.len, 0);
    assert_int_equal(wake.delivery_id.len, 0);
    assert_int_equal(wake.step, 0);
    assert_true(wake.ts_ms == 0);
    assert_false(wake.test);
    assert_int_equal(wake.conversation_count, 0);
    assert_slice(wake_reason(&wake), "messages");
    wake_release(&wake);
}

static void test_tolerated(void **state)
{
    const struct slice body =
        SLICE("{\"version\":7,\"reason\":\"something_new\",\"step\":null,\"ts\":\"yesterday\","
              "\"test\":false,\"conversations\":[{},{\"id\":\"\",\"unread\":1},{\"id\":\"c\"}]}");
    struct wake wake;

    (void)state;
    assert_true(read_text(body, &wake, NULL));
    assert_int_equal(wake.version, 7); /* admission refuses it, with a code of its own */
    assert_slice(wake_reason(&wake), "something_new");
    assert_int_equal(wake.step, 0);
    assert_slice(wake.ts, "yesterday");
    assert_true(wake.ts_ms == 0);
    assert_int_equal(wake.conversation_count, 1); /* those without an id name nothing */
    assert_slice(wake.conversations[0].id, "c");
    wake_release(&wake);
}

static void test_refusals(void **state)
{
    const char *const wrong[][2] = {
        /* the body, the field that the error names */
        {"{\"type\":\"agentchat.message\"}", "type"},
        {"{\"type\":\"\"}", "type"},
        {"{\"type\":\"agentchat.wake2\"}", "type"},
        {"{\"type\":null}", "type"},
        {"{\"type\":1}", "type"},
        {"{\"version\":\"1\"}", "version"},
        {"{\"version\":1.0}", "version"},
        {"{\"version\":true}", "version"},
        {"{\"version\":null}", "version"},
        {"{\"reason\":1}", "reason"},
        {"{\"reason\":null}", "reason"},
        {"{\"reason\":[\"messages\"]}", "reason"},
        {"{\"step\":\"2\"}", "step"},
        {"{\"step\":2.5}", "step"},
        {"{\"handle\":{}}", "handle"},
        {"{\"handle\":null}", "handle"},
        {"{\"summary\":false}", "summary"},
        {"{\"delivery_id\":12}", "delivery_id"},
        {"{\"delivery_id\":null}", "delivery_id"},
        {"{\"delivery_id\":\"\"}", "delivery_id"},
        {"{\"delivery_id\":\"a b\"}", "delivery_id"},
        {"{\"delivery_id\":\"a.b\"}", "delivery_id"},
        {"{\"delivery_id\":\"a\\nb\"}", "delivery_id"},
        {"{\"ts\":1794474000}", "ts"},
        {"{\"test\":\"true\"}", "test"},
        {"{\"test\":1}", "test"},
        {"{\"test\":null}", "test"},
        {"{\"conversations\":{}}", "conversations"},
        {"{\"conversations\":null}", "conversations"},
        {"{\"conversations\":\"conv_1\"}", "conversations"},
        {"{\"conversations\":[\"conv_1\"]}", "conversations[0]"},
        {"{\"conversations\":[{},null]}", "conversations[1]"},
        {"{\"conversations\":[{\"id\":1}]}", "conversations[0]: id"},
        {"{\"conversations\":[{\"id\":\"a\",\"unread\":\"1\"}]}", "conversations[0]: unread"},
        {"{\"conversations\":[{\"id\":\"a\",\"unread\":1.5}]}", "conversations[0]: unread"},
        {"{\"conversations\":[{\"id\":\"a\",\"latest_sender\":{}}]}",
         "conversations[0]: latest_sender"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct wake wake;
        struct err err = {0};
        if (read_text(slice_from(wrong[i][0]), &wake, &err))
            fail_msg("took %s", wrong[i][0]);
        if (strncmp(err.text, wrong[i][1], strlen(wrong[i][1])) != 0)
            fail_msg("%s gave \"%s\"", wrong[i][0], err.text);
        wake_release(&wake);
    }
}

static void test_many_conversations(void **state)
{
    struct buf body = BUF_INIT(LIMIT_BODY_BYTES);
    struct wake wake;

    (void)state;
    buf_append(&body, SLICE("{\"conversations\":["));
    for (int i = 0; i < LIMIT_CONVERSATIONS + 50; i++)
        buf_appendf(&body, "%s{\"id\":\"c%d\",\"latest_sender\":\"@%d\"}", i > 0 ? "," : "", i, i);
    buf_append(&body, SLICE("],\"handle\":\"@h\"}"));
    assert_false(body.overflow);
    assert_true(read_text(buf_slice(&body), &wake, NULL));
    assert_int_equal(wake.conversation_count, LIMIT_CONVERSATIONS);
    assert_slice(wake.conversations[0].id, "c0");
    assert_slice(wake.conversations[LIMIT_CONVERSATIONS - 1].id, "c255");
    assert_slice(wake.handle, "@h");
    wake_release(&wake);
    buf_release(&body);
}

/* The most that a dialect may keep: the body, each string of it, ids from elsewhere. */
static void test_room(void **state)
{
    struct buf body = BUF_INIT(LIMIT_BODY_BYTES);
    char id[LIMIT_DELIVERY_ID_BYTES];
    struct wake wake;

    (void)state;
    memset(id, 'i', sizeof(id));
    const struct slice long_id = {id, sizeof(id)};
    buf_append(&body, SLICE("{\"handle\":\""));
    while (body.len < LIMIT_BODY_BYTES - 2)
        buf_append_char(&body, 'h');
    buf_append(&body, SLICE("\"}"));
    assert_false(body.overflow);
    assert_true(read_text(buf_slice(&body), &wake, NULL));
    wake.raw = wake_keep(&wake, buf_slice(&body));
    wake.delivery_id = wake_keep(&wake, long_id);
    assert_true(slice_eq(wake.raw, buf_slice(&body)));
    assert_true(slice_eq(wake.delivery_id, long_id));
    wake_release(&wake);

    wake_reserve(&wake, SLICE(""), 0); /* a text dialect, an empty body */
    wake.delivery_id = wake_keep(&wake, long_id);
    assert_true(wake.delivery_id.data != id);
    assert_int_equal(wake_keep(&wake, SLICE("")).len, 0);
    wake_release(&wake);
    wake_release(NULL);
    buf_release(&body);
}

static void test_delivery_id(void **state)
{
    char longest[LIMIT_DELIVERY_ID_BYTES + 1];

    (void)state;
    memset(longest, 'x', sizeof(longest));
    assert_true(wake_is_delivery_id(SLICE("3f1f0c7e-5a2b-4c61-9d0e-2b8f6f0a9c11")));
    assert_true(wake_is_delivery_id(SLICE("a_Z-9")));
    assert_true(wake_is_delivery_id((struct slice){longest, LIMIT_DELIVERY_ID_BYTES}));
    assert_false(wake_is_delivery_id((struct slice){longest, sizeof(longest)}));
    assert_false(wake_is_delivery_id(SLICE("")));
    assert_false(wake_is_delivery_id(SLICE("a\0b")));
    assert_false(wake_is_delivery_id(SLICE("a/b")));
    assert_false(wake_is_delivery_id(SLICE("a:b")));
    assert_false(wake_is_delivery_id(SLICE("\xc3\xa9")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contract_example),   cmocka_unit_test(test_nothing_carried),
        cmocka_unit_test(test_tolerated),          cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_many_conversations), cmocka_unit_test(test_room),
        cmocka_unit_test(test_delivery_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
