/* SPDX-License-Identifier: Apache-2.0 */
/* What followers are told: all of it, once, in order. */
#include "tests/contract/threads/rig.h"

#include <stdio.h>
#include <stdlib.h>

#include "gateway/core/buf.h"

static void from_a_snapshot(struct rig *rig)
{
    const char *thread = rig_name(rig, "t"), *empty = rig_name(rig, "t");
    char end[64], beginning[64];

    rig_append(rig->a, thread, "one");
    rig_read(rig->b, thread, NULL, end, sizeof(end));
    rig_read(rig->b, empty, NULL, beginning, sizeof(beginning));
    rig_append(rig->a, thread, "two"); /* between the snapshot and the following */
    rig_append(rig->a, empty, "first");
    rig_follow(rig->b, thread, end);
    rig_follow(rig->b, empty, beginning);
    rig_until_told(rig->b, 2);
    rig_append(rig->a, thread, "three");
    rig_append(rig->b, empty, "second");
    rig_until_told(rig->b, 4);
    assert_string_equal(rig_told(rig->b, thread), "two three");
    assert_string_equal(rig_told(rig->b, empty), "first second");
}

static void from_now(struct rig *rig)
{
    const char *thread = rig_name(rig, "t"), *other = rig_name(rig, "t");
    struct question question;

    rig_append(rig->a, thread, "before");
    rig_follow(rig->b, thread, NULL);
    rig_start(rig->b, &question, THREADS_APPEND,
              (struct ask){.thread = thread, .entries = {"after"}}); /* in the same turn */
    rig_finish(&question);
    rig_append(rig->a, other, "not followed");
    rig_until_told(rig->b, 1);
    assert_string_equal(rig_told(rig->b, thread), "after");
}

static void unfollowed(struct rig *rig)
{
    const char *thread = rig_name(rig, "t");

    rig_follow(rig->b, thread, "0");
    rig_follow(rig->b, thread, NULL); /* changes nothing */
    rig_append(rig->a, thread, "one");
    rig_until_told(rig->b, 1);
    threads_unfollow(rig->b->threads, slice_from(thread));
    threads_unfollow(rig->b->threads, slice_from(thread));
    rig_append(rig->a, thread, "two");
    rig_until_told(rig->b, 1);
    rig_follow(rig->b, thread, "0");
    rig_until_told(rig->b, 3);
    assert_string_equal(rig_told(rig->b, thread), "one one two");
}

static void follow_anew(struct instance *at, const struct told *told)
{
    threads_unfollow(at->threads, slice_from(told->thread));
    rig_follow(at, told->thread, told->position);
}

/* Each is followed anew from the one that was just told. */
static void unfollowed_while_told(struct rig *rig)
{
    const char *thread = rig_name(rig, "t");
    struct ask three = {.thread = thread, .entries = {"one", "two", "three"}};

    rig->b->on_told = follow_anew;
    rig_follow(rig->b, thread, "0");
    rig_ask(rig->a, THREADS_APPEND, three);
    rig_until_told(rig->b, 3);
    assert_string_equal(rig_told(rig->b, thread), "one two three");
}

enum { WRITERS = 40, ROUNDS = 5 };

/* Many appends at once on both instances, while both follow: the same order everywhere. */
static void same_everywhere(struct rig *rig)
{
    static struct question questions[WRITERS];
    static char texts[WRITERS][16];
    const char *thread = rig_name(rig, "t");
    size_t total = 0;

    rig_follow(rig->a, thread, NULL);
    if (rig->b != rig->a)
        rig_follow(rig->b, thread, NULL);
    rig_wait(rig, 2 * SHORT_MS);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WRITERS; i++, total++) {
            snprintf(texts[i], sizeof(texts[i]), "%d.%d", round, i);
            rig_start(i % 2 ? rig->a : rig->b, &questions[i], THREADS_APPEND,
                      (struct ask){.thread = thread, .entries = {texts[i]}});
        }
        for (int i = 0; i < WRITERS; i++) {
            rig_finish(&questions[i]);
            assert_int_equal(questions[i].op.answer, THREADS_DONE);
        }
    }
    rig_until_told(rig->a, total);
    rig_until_told(rig->b, total);
    char *told = mem_text(slice_from(rig_told(rig->a, thread)));
    assert_string_equal(rig_told(rig->b, thread), told);
    struct slice read = slice_from(rig_read(rig->a, thread, NULL, NULL, 0));
    assert_true(slice_eq(slice_first(read, read.len - 1), slice_from(told)));
    free(told);
}

static void many_threads(struct rig *rig)
{
    enum { THREADS = 300 };
    static const char *names[THREADS];

    for (int i = 0; i < THREADS; i++) {
        names[i] = rig_name(rig, "many");
        rig_follow(rig->b, names[i], "0");
    }
    for (int i = 0; i < THREADS; i += 3)
        rig_append(rig->a, names[i], names[i]);
    rig_until_told(rig->b, THREADS / 3);
    for (int i = 0; i < THREADS; i++)
        assert_string_equal(rig_told(rig->b, names[i]), i % 3 == 0 ? names[i] : "");
}

static void closed_while_reading(struct rig *rig)
{
    rig_follow(rig->a, rig_name(rig, "t"), "0");
    rig_follow(rig->a, rig_name(rig, "t"), NULL);
}

const struct threads_case follow_cases[] = {
    {"nothing is lost or doubled after a snapshot", from_a_snapshot, 0},
    {"from now on", from_now, 0},
    {"until it is unfollowed", unfollowed, 0},
    {"unfollowed while it is told", unfollowed_while_told, 0},
    {"the same order everywhere", same_everywhere, 0},
    {"many threads", many_threads, 0},
    {"closed while it reads", closed_while_reading, 0},
    {0},
};
