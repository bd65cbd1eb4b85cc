/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a thread, and how it is read. */
#include "tests/contract/threads/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"

static void appended_is_read(struct rig *rig)
{
    const char *thread = rig_name(rig, "t"), *other = rig_name(rig, "t");
    struct ask both = {.thread = thread, .entries = {"two", "three"}};
    char end[64], later[64];

    assert_string_equal(rig_read(rig->a, thread, NULL, end, sizeof(end)), "|");
    assert_int_equal(rig_append(rig->a, thread, "one"), THREADS_DONE);
    assert_int_equal(rig_append(rig->a, other, "else"), THREADS_DONE);
    assert_int_equal(rig_ask(rig->b, THREADS_APPEND, both), THREADS_DONE);
    assert_string_equal(rig_read(rig->a, thread, end, NULL, 0), "one two three|");
    assert_string_equal(rig_read(rig->b, thread, NULL, end, sizeof(end)), "one two three|");
    assert_int_equal(rig_append(rig->a, thread, "four"), THREADS_DONE);
    assert_string_equal(rig_read(rig->b, thread, end, later, sizeof(later)), "four|");
    assert_string_equal(rig_read(rig->b, thread, later, end, sizeof(end)), "|");
    assert_string_equal(end, later); /* nothing new: it ends where it began */
}

static void trimmed_by_count(struct rig *rig)
{
    const char *thread = rig_name(rig, "t"), *other = rig_name(rig, "t");
    struct question questions[KEPT + 50];
    char texts[KEPT + 50][8];
    struct buf expected = BUF_INIT(65536);

    rig_append(rig->a, other, "stays");
    for (size_t i = 0; i < KEPT + 50; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%zu", i);
        rig_start(i % 2 ? rig->a : rig->b, &questions[i], THREADS_APPEND,
                  (struct ask){.thread = thread, .entries = {texts[i]}});
        rig_finish(&questions[i]);
        if (i >= 50)
            buf_appendf(&expected, "%s%s", i > 50 ? " " : "", texts[i]);
    }
    buf_append_char(&expected, '|');
    assert_string_equal(rig_read(rig->a, thread, NULL, NULL, 0), buf_text(&expected));
    assert_string_equal(rig_read(rig->a, other, NULL, NULL, 0), "stays|");
    buf_release(&expected);
}

/* So slow a machine that the second is gone too shows nothing wrong. */
static void trimmed_by_age(struct rig *rig)
{
    const char *thread = rig_name(rig, "t");

    for (int tries = 0; tries < 20; tries++) {
        rig_append(rig->a, thread, "old");
        rig_wait(rig, 350);
        rig_append(rig->a, thread, "new");
        const char *read = rig_read(rig->a, thread, NULL, NULL, 0);
        if (strcmp(read, "new|") == 0)
            break;
        assert_string_equal(read, "|");
    }
    rig_wait(rig, 350);
    assert_string_equal(rig_read(rig->b, thread, NULL, NULL, 0), "|"); /* without a writer too */
}

static char *long_text(size_t len, char c)
{
    char *text = mem_new(len + 1);

    memset(text, c, len);
    return text;
}

static void long_entries(struct rig *rig)
{
    const char *thread = rig_name(rig, "t");
    char *texts[3] = {long_text(THREADS_ENTRY_BYTES, 'a'), long_text(200 * 1024, 'b'),
                      long_text(THREADS_ENTRY_BYTES + 1, 'c')};

    assert_int_equal(rig_append(rig->a, thread, texts[0]), THREADS_DONE);
    for (int i = 0; i < 4; i++)
        assert_int_equal(rig_append(rig->a, thread, texts[1]), THREADS_DONE);
    assert_int_equal(rig_append(rig->a, thread, texts[2]), THREADS_DOWN);
    assert_int_equal(rig_append(rig->a, thread, "z"), THREADS_DONE);
    const char *read = rig_read(rig->b, thread, NULL, NULL, 0);
    size_t expected = THREADS_ENTRY_BYTES + 4 * 200 * 1024 + sizeof("z|") - 1 + 5;
    assert_int_equal(strlen(read), expected);
    assert_string_equal(read + expected - 3, " z|");
    for (int i = 0; i < 3; i++)
        free(texts[i]);
}

static void any_bytes(struct rig *rig)
{
    static const char *const names[] = {
        "a b", "{a}", "a:b", "a}", "a}:offer", "a'b", "a\r\nb", "%s", "\xc3\xa9", "\xff\xfe", "?",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *thread = rig_name(rig, names[i]);
        assert_int_equal(rig_append(rig->a, thread, "{\"a\":\"\r\n\xc3\xa9\"}"), THREADS_DONE);
        assert_int_equal(rig_append(rig->a, thread, ""), THREADS_DONE);
        assert_string_equal(rig_read(rig->b, thread, NULL, NULL, 0), "{\"a\":\"\r\n\xc3\xa9\"} |");
    }
}

static void no_position(struct rig *rig)
{
    struct question question;

    rig_start(rig->a, &question, THREADS_READ, (struct ask){.thread = "t", .after = "x' OR 1"});
    rig_finish(&question);
    assert_int_equal(question.op.answer, THREADS_DOWN);
    assert_true(question.op.err.text[0] != '\0');
    assert_int_equal(question.op.read_count, 0);
}

static void positions_compare(struct rig *rig)
{
    (void)rig;
    assert_true(threads_compare(SLICE("9"), SLICE("10")) < 0);
    assert_true(threads_compare(SLICE("10-9"), SLICE("10-10")) < 0);
    assert_true(threads_compare(SLICE("11-0"), SLICE("10-10")) > 0);
    assert_int_equal(threads_compare(SLICE("10-1"), SLICE("10-1")), 0);
    assert_true(threads_compare(SLICE("0"), SLICE("10-1")) < 0);
    assert_int_equal(threads_compare(SLICE("0"), SLICE("0-0")), 0);
}

const struct threads_case history_cases[] = {
    {"what is appended is read, in order", appended_is_read, 0},
    {"only so many are kept", trimmed_by_count, 0},
    {"old ones are not kept", trimmed_by_age, 300},
    {"entries that are long", long_entries, 0},
    {"threads and texts are any bytes", any_bytes, 0},
    {"what is no position is refused", no_position, 0},
    {"positions compare", positions_compare, 0},
    {0},
};
