/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second user of the same store, with bounds of its own, whom nobody follows: the journal. And
 * what it reads, page by page.
 */
#include "tests/contract/threads/rig.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 1000, ROUNDS = 20 };

struct apart {
    struct instance at;
    bool closed;
};

static void on_closed(void *context)
{
    *(bool *)context = true;
}

static void open_apart(struct rig *rig, struct apart *apart)
{
    const struct threads_settings settings = {
        .kept = MANY, .kept_ms = LONG_MS, .window_ms = WINDOW_MS, .unfollowed = true};
    struct err err = {0};

    *apart = (struct apart){.at = {.rig = rig, .store = rig->a->store}};
    apart->at.threads = threads_open(rig->a->store, &settings, &rig->turn, NULL, NULL, &err);
    assert_non_null(apart->at.threads);
}

static void close_apart(struct apart *apart)
{
    threads_close(apart->at.threads, on_closed, &apart->closed);
    assert_false(apart->closed);
    while (!apart->closed)
        rig_turn(apart->at.rig);
}

static void on_done(struct op *op)
{
    (void)op;
}

static void submit(struct apart *apart, struct threads_op *op, enum threads_verb verb)
{
    threads_submit(apart->at.threads, op, verb, on_done);
    while (op->op.running)
        rig_turn(apart->at.rig);
    assert_int_equal(op->answer, THREADS_DONE);
}

/* Appends as many as one operation can: <round>.0, <round>.1 ... */
static void append_round(struct apart *apart, const char *thread, int round)
{
    char texts[THREADS_ENTRIES][16];
    struct threads_op op = {.thread = slice_from(thread)};

    for (size_t i = 0; i < THREADS_ENTRIES; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%d.%zu", round, i);
        op.entries[op.entry_count++] = slice_from(texts[i]);
    }
    submit(apart, &op, THREADS_APPEND);
}

/* Walks over the thread; how many entries there are, and the last one. */
static size_t walk(struct apart *apart, const char *thread, char *last, size_t size)
{
    char after[64] = "";
    size_t count = 0, pages = 0;
    bool more = true;

    while (more) {
        struct threads_op op = {
            .thread = slice_from(thread), .after = slice_from(after), .one_page = true};
        submit(apart, &op, THREADS_READ);
        assert_true(op.read_count <= 64);
        assert_true(op.read_count > 0 || !op.more);
        if (op.read_count > 0)
            snprintf(last, size, "%.*s", SLICE_ARG(op.read[op.read_count - 1].text));
        count += op.read_count;
        more = op.more;
        snprintf(after, sizeof(after), "%.*s", SLICE_ARG(op.end));
        threads_op_release(&op);
        assert_true(++pages < 100);
    }
    return count;
}

static void read_by_pages(struct rig *rig)
{
    const char *thread = rig_name(rig, "t");
    struct apart apart;
    char last[16] = "";

    open_apart(rig, &apart);
    assert_int_equal(walk(&apart, thread, last, sizeof(last)), 0);
    for (int round = 0; round < 3; round++)
        append_round(&apart, thread, round);
    assert_int_equal(walk(&apart, thread, last, sizeof(last)), 3 * THREADS_ENTRIES);
    assert_string_equal(last, "2.63");
    close_apart(&apart);
}

/* A 256th more may be there, since a walk to the last one that is kept has its price. */
static void many_are_kept(struct rig *rig)
{
    const char *thread = rig_name(rig, "t"), *other = rig_name(rig, "t");
    struct apart apart;
    char last[16] = "";

    open_apart(rig, &apart);
    for (int round = 0; round < ROUNDS; round++) {
        append_round(&apart, thread, round);
        assert_int_equal(rig_append(rig->a, other, "between"), THREADS_DONE);
    }
    size_t count = walk(&apart, thread, last, sizeof(last));
    assert_true(count >= MANY && count <= MANY + MANY / 256);
    assert_string_equal(last, "19.63");
    close_apart(&apart);
}

/* What another user of the store thinks too old does not go with its own. */
static void others_keep_theirs(struct rig *rig)
{
    const char *thread = rig_name(rig, "t"), *other = rig_name(rig, "t");
    struct apart apart;

    open_apart(rig, &apart);
    assert_int_equal(rig_append(&apart.at, thread, "stays"), THREADS_DONE);
    assert_int_equal(rig_append(rig->a, other, "goes"), THREADS_DONE);
    rig_wait(rig, 350);
    for (int i = 0; i < 3; i++)
        assert_int_equal(rig_append(rig->a, other, "new"), THREADS_DONE);
    assert_string_equal(rig_read(&apart.at, thread, NULL, NULL, 0), "stays|");
    assert_null(strstr(rig_read(&apart.at, other, NULL, NULL, 0), "goes"));
    close_apart(&apart);
}

/* One that follows such a thread is not told: it was not to be followed. */
static void nobody_is_told(struct rig *rig)
{
    const char *thread = rig_name(rig, "t"), *other = rig_name(rig, "t");
    struct apart apart;

    open_apart(rig, &apart);
    rig_follow(rig->b, other, "0");
    assert_int_equal(rig_append(&apart.at, thread, "alone"), THREADS_DONE);
    assert_int_equal(rig_append(rig->a, other, "told"), THREADS_DONE);
    rig_until_told(rig->b, 1);
    assert_string_equal(rig_told(rig->b, other), "told");
    close_apart(&apart);
}

const struct threads_case apart_cases[] = {
    {"page by page", read_by_pages, 0},
    {"many are kept, and not many more", many_are_kept, 0},
    {"each user of a store keeps its own for its own time", others_keep_theirs, 300},
    {"those who follow others are not disturbed", nobody_is_told, 0},
    {0},
};
