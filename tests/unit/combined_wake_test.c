/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <string.h>

#include "gateway/core/limits.h"
#include "relay/combined_wake.h"

/* Borrows everything; `combined_wake` must copy it. */
static struct wake wake_of(const char *id, const char *reason, const char *summary)
{
    return (struct wake){.version = 1,
                         .delivery_id = slice_from(id),
                         .reason = slice_from(reason),
                         .handle = SLICE("@a"),
                         .summary = slice_from(summary),
                         .ts = slice_from(id),
                         .test = strcmp(reason, "test") == 0};
}

static void check_text(struct slice text, const char *expected)
{
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.data, expected, text.len);
}

static void test_reasons(void **state)
{
    static const char *const falling[] = {"messages", "reminder", "unanswered",
                                          "a_later",  "invite",   "test"};
    enum { COUNT = sizeof(falling) / sizeof(falling[0]) };

    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++) {
            struct wake one = wake_of("1", falling[i], "One."), two = wake_of("2", falling[j], "");
            const struct wake *const wakes[] = {&one, &two};
            struct wake combined = {0};
            combined_wake(wakes, 2, &combined);
            check_text(combined.reason, falling[i < j ? i : j]);
            assert_int_equal(combined.test, i == COUNT - 1 && j == COUNT - 1);
            wake_release(&combined);
        }
}

/* A text dialect carries no reason, and a wake without one is about messages. */
static void test_no_reason(void **state)
{
    struct wake one = wake_of("1", "invite", "One."), two = wake_of("2", "", "Two.");
    const struct wake *const wakes[] = {&one, &two};
    struct wake combined = {0};

    (void)state;
    combined_wake(wakes, 2, &combined);
    assert_int_equal(combined.reason.len, 0);
    check_text(combined.summary, "One. Two.");
    check_text(combined.delivery_id, "1");
    check_text(combined.ts, "2");
    check_text(combined.handle, "@a");
    assert_int_equal(combined.raw.len, 0);
    wake_release(&combined);
}

static void test_step_of_the_leading_one(void **state)
{
    struct wake one = wake_of("1", "unanswered", "."), two = wake_of("2", "unanswered", ".");
    const struct wake *const wakes[] = {&one, &two};
    struct wake combined = {0};

    (void)state;
    one.step = 2;
    two.step = 3;
    combined_wake(wakes, 2, &combined);
    assert_int_equal(combined.step, 3);
    check_text(combined.summary, "."); /* the same is said once */
    wake_release(&combined);
}

static void test_conversations(void **state)
{
    struct conversation first[] = {{SLICE("c1"), 1, SLICE("@x")}, {SLICE("c2"), 2, SLICE("@y")}};
    struct conversation second[] = {{SLICE("c3"), 3, SLICE("")}, {SLICE("c1"), 4, SLICE("@z")}};
    struct wake one = wake_of("1", "messages", ""), two = wake_of("2", "messages", "");
    const struct wake *const wakes[] = {&one, &two};
    struct wake combined = {0};

    (void)state;
    one.conversations = first;
    two.conversations = second;
    one.conversation_count = two.conversation_count = 2;
    combined_wake(wakes, 2, &combined);
    assert_int_equal(combined.conversation_count, 3);
    check_text(combined.conversations[0].id, "c1");
    assert_int_equal(combined.conversations[0].unread, 4);
    check_text(combined.conversations[0].latest_sender, "@z");
    check_text(combined.conversations[1].id, "c2");
    check_text(combined.conversations[2].id, "c3");
    wake_release(&combined);
}

static void test_conversations_are_bounded(void **state)
{
    static struct conversation many[2][LIMIT_CONVERSATIONS];
    static char names[2 * LIMIT_CONVERSATIONS][8];
    struct wake one = wake_of("1", "messages", ""), two = wake_of("2", "messages", "");
    const struct wake *const wakes[] = {&one, &two};
    struct wake combined = {0};

    (void)state;
    for (int i = 0; i < 2 * LIMIT_CONVERSATIONS; i++) {
        snprintf(names[i], sizeof(names[i]), "c%d", i);
        many[i / LIMIT_CONVERSATIONS][i % LIMIT_CONVERSATIONS].id = slice_from(names[i]);
    }
    one.conversations = many[0];
    two.conversations = many[1];
    one.conversation_count = two.conversation_count = LIMIT_CONVERSATIONS;
    combined_wake(wakes, 2, &combined);
    assert_int_equal(combined.conversation_count, LIMIT_CONVERSATIONS);
    check_text(combined.conversations[LIMIT_CONVERSATIONS - 1].id, "c255");
    wake_release(&combined);
}

#define TRAILER(id) "\n\n(AgentChat wake cycle " id ", attempt 2. This text carries no more.)\n"

static void test_texts(void **state)
{
    struct wake one = {.delivery_id = SLICE("1"), .text = SLICE("One.\n\nOld." TRAILER("1"))};
    struct wake two = {.delivery_id = SLICE("2"),
                       .text = SLICE("Two.\n\nDo.\n\nMore." TRAILER("2"))};
    struct wake three = {.delivery_id = SLICE("3"), .text = SLICE("Three.")};
    const struct wake *const wakes[] = {&one, &two, &three};
    struct wake combined = {0};

    (void)state;
    combined_wake(wakes, 2, &combined);
    check_text(combined.text, "One. Two.\n\nDo.\n\nMore.");
    wake_release(&combined);
    combined_wake(wakes, 3, &combined);
    check_text(combined.text, "One. Two. Three.");
    check_text(combined.delivery_id, "1");
    wake_release(&combined);
}

/* However many summaries there are. */
static void test_summaries_are_bounded(void **state)
{
    static char long_one[1500];
    struct wake one = wake_of("1", "messages", ""), two = wake_of("2", "messages", "");
    struct wake three = wake_of("3", "messages", "Three.");
    const struct wake *const wakes[] = {&one, &two, &three};
    struct wake combined = {0};

    (void)state;
    memset(long_one, 'x', sizeof(long_one));
    one.summary = (struct slice){.data = long_one, .len = sizeof(long_one)};
    two.summary = (struct slice){.data = long_one, .len = sizeof(long_one) - 1};
    combined_wake(wakes, 3, &combined);
    assert_int_equal(combined.summary.len, sizeof(long_one) + 1 + strlen("Three."));
    wake_release(&combined);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_no_reason),
        cmocka_unit_test(test_step_of_the_leading_one),
        cmocka_unit_test(test_conversations),
        cmocka_unit_test(test_conversations_are_bounded),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_summaries_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
