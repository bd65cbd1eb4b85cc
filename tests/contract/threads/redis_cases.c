/* SPDX-License-Identifier: Apache-2.0 */
/* What only a server can do: lose connections, and go away. */
#include "tests/contract/threads/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"

/* Appends that nobody is sure of may have happened, once; what was told is what is there. */
static void expect_told_is_read(struct rig *rig, const char *thread, size_t at_least)
{
    rig_insist(rig->a, THREADS_APPEND, (struct ask){.thread = thread, .entries = {"last"}});
    char *read = mem_text(slice_from(rig_read(rig->b, thread, NULL, NULL, 0)));
    size_t count = 0;
    for (char *c = read; *c; c++)
        count += *c == ' ' || *c == '|';
    assert_true(count >= at_least);
    rig_until_told(rig->b, count);
    *strchr(read, '|') = '\0';
    assert_string_equal(rig_told(rig->b, thread), read);
    free(read);
}

static void append_and(struct rig *rig, const char *thread, const char *command)
{
    char text[16];

    for (int i = 0; i < 12; i++) {
        snprintf(text, sizeof(text), "%d", i);
        if (i % 4 == 2)
            server_do(command);
        rig_insist(rig->a, THREADS_APPEND, (struct ask){.thread = thread, .entries = {text}});
    }
    expect_told_is_read(rig, thread, 13);
}

static void connections_killed(struct rig *rig)
{
    const char *thread = rig_name(rig, "t");

    rig_follow(rig->b, thread, NULL);
    rig_wait(rig, 2 * SHORT_MS);
    append_and(rig, thread, "CLIENT KILL TYPE normal");
}

/* Only a connection that follows is blocked: CLIENT LIST shows it by its last command. */
static void follower_killed(struct rig *rig)
{
    const char *thread = rig_name(rig, "t");
    char text[16];

    rig_follow(rig->b, thread, "0");
    for (int i = 0; i < 12; i++) {
        snprintf(text, sizeof(text), "%d", i);
        if (i % 4 == 2)
            assert_true(server_kill_blocked() > 0);
        assert_int_equal(rig_append(rig->a, thread, text), THREADS_DONE);
        if (i % 4 == 2)
            server_do("DEL wakegate:1:feed"); /* the hint is gone before it is asked for */
        rig_wait(rig, i % 3 * SHORT_MS);      /* to be reconnected, or not */
    }
    rig_until_told(rig->b, 12);
    assert_string_equal(rig_told(rig->b, thread), "0 1 2 3 4 5 6 7 8 9 10 11");
    server_kill_blocked();
    rig_append(rig->a, thread, "12");
    server_do("DEL wakegate:1:feed");
    rig_until_told(rig->b, 13);
}

static void feed_lost(struct rig *rig)
{
    const char *thread = rig_name(rig, "t");

    rig_follow(rig->b, thread, NULL);
    rig_wait(rig, 2 * SHORT_MS);
    append_and(rig, thread, "DEL wakegate:1:feed");
}

static void scripts_flushed(struct rig *rig)
{
    const char *thread = rig_name(rig, "t");

    rig_follow(rig->b, thread, NULL);
    rig_wait(rig, 2 * SHORT_MS);
    append_and(rig, thread, "SCRIPT FLUSH");
}

static void restarted(struct rig *rig)
{
    const char *thread = rig_name(rig, "t"), *key = rig_name(rig, "r/t/d");
    struct ask here = {.thread = thread, .instance = "one", .count = 1, .for_ms = LONG_MS};
    struct ask offer = {
        .thread = thread, .offer = "o", .owner = "ann", .key = key, .for_ms = LONG_MS};
    struct ask take = {.thread = thread, .offer = "o", .taker = "tom", .entries = {"tom"}};

    rig_follow(rig->b, thread, "0");
    rig_claim(rig->a, key, "ann");
    rig_append(rig->a, thread, "before");
    rig_insist(rig->a, THREADS_PRESENT, here);
    rig_insist(rig->a, THREADS_OFFER, offer);
    server_stop();
    assert_int_not_equal(rig_append(rig->a, thread, "lost"), THREADS_DONE);
    assert_int_equal(rig_append(rig->a, thread, "lost"), THREADS_DOWN);
    rig_follow(rig->b, rig_name(rig, "other"), NULL);
    server_start();
    rig_insist(rig->a, THREADS_APPEND, (struct ask){.thread = thread, .entries = {"after"}});
    rig_insist(rig->b, THREADS_TAKE, take);
    assert_int_equal(rig_claim(rig->a, key, "bob"), STORE_RELAYED);
    rig_until_told(rig->b, 3);
    assert_string_equal(rig_told(rig->b, thread), "before after tom");
}

static struct question question;

static void closed_while_down(struct rig *rig)
{
    rig_follow(rig->a, rig_name(rig, "t"), NULL);
    rig_follow(rig->b, rig_name(rig, "t"), "0");
    server_stop();
    rig_start(rig->a, &question, THREADS_APPEND, (struct ask){.thread = "t", .entries = {"x"}});
    rig_finish(&question);
    assert_int_not_equal(question.op.answer, THREADS_DONE);
    server_start();
}

const struct threads_case redis_cases[] = {
    {"the connections that follow are killed", follower_killed, 0},
    {"connections are killed", connections_killed, 0},
    {"the feed is lost", feed_lost, 0},
    {"the scripts are lost", scripts_flushed, 0},
    {"the server is restarted", restarted, 0},
    {"closed soon after the server was away", closed_while_down, 0},
    {0},
};
