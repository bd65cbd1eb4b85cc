/* SPDX-License-Identifier: Apache-2.0 */
/* The commands and answers of the scripts, and what they need of a server. What they do is tested
 * on one, with every other store. */
#include "tests/check.h"

#include <string.h>

#include "gateway/store/redis_script.h"

static void expect_words(const struct redis_command *command, const char *const *words)
{
    int count = 0;

    for (; words[count]; count++) {
        struct slice word = {.data = command->words[count], .len = command->lens[count]};
        assert_true(count < command->count);
        if (!slice_eq(word, slice_from(words[count])))
            fail_msg("word %d is \"%.*s\", not \"%s\"", count, SLICE_ARG(word), words[count]);
    }
    assert_int_equal(command->count, count);
}

static void test_commands(void **state)
{
    struct redis_command command;
    struct store_op op = {
        .verb = STORE_CLAIM,
        .key = SLICE("route/target/id"),
        .gate = SLICE("route/target"),
        .owner = SLICE("me"),
        .for_ms = 5000,
        .pace = {.per_hour = 30, .burst = 3},
        .again_ms = 7200000,
        .force = true,
    };
    const char *const paced[] = {"EVALSHA",
                                 "sha",
                                 "2",
                                 "wakegate:1:{route}:claim:target/id",
                                 "wakegate:1:{route}:gate:target",
                                 "me",
                                 "99",
                                 "5000",
                                 "7200000",
                                 "1",
                                 "30",
                                 "3",
                                 NULL};
    const char *const held[] = {"EVALSHA",
                                "sha",
                                "2",
                                "wakegate:1:{route}:claim:target/id",
                                "wakegate:1:{route}:gate:target",
                                "me",
                                "99",
                                "5000",
                                NULL};
    const char *const settled[] = {"EVALSHA", "sha", "1", "wakegate:1:{route}:claim:target/id",
                                   "me",      "99",  NULL};

    (void)state;
    redis_command_init(&command);
    redis_script_command(&command, &op, "sha", 99);
    expect_words(&command, paced);
    op.verb = STORE_HOLD;
    redis_script_command(&command, &op, "sha", 99);
    expect_words(&command, held);
    op.verb = STORE_SETTLE;
    redis_script_command(&command, &op, "sha", 99);
    expect_words(&command, settled);
    redis_script_command(&command, &op, NULL, 99);
    assert_string_equal(command.words[0], "EVAL");
    assert_ptr_equal(command.words[1], redis_script_text(STORE_SETTLE));
    redis_command_release(&command);
}

static void expect_generation(const char *text, int64_t generation, enum store_repeats repeats)
{
    struct store_op op = {.verb = STORE_CLAIM};

    assert_true(redis_script_answer(&op, slice_from(text)));
    assert_int_equal(op.answer, STORE_CLAIMED);
    assert_int_equal(op.generation, generation);
    assert_int_equal(op.repeats, repeats);
}

static void expect_answer(const char *text, enum store_answer answer, int64_t ms,
                          enum store_repeats repeats)
{
    struct store_op op = {.verb = STORE_CLAIM, .answer_ms = 7, .repeats = REPEATS_ENDED_HOLD};

    assert_true(redis_script_answer(&op, slice_from(text)));
    assert_int_equal(op.answer, answer);
    assert_int_equal(op.answer_ms, ms);
    assert_int_equal(op.repeats, repeats);
}

static void test_answers(void **state)
{
    static const char *const bad[] = {
        "",   "C", "C3", "C-1", "c0", "X1", "R1 ", "R99999999999999999999", "R9999999999999999999",
        "OK", "0C"};
    struct store_op op = {.verb = STORE_CLAIM}, ping = {.verb = STORE_PING};

    (void)state;
    expect_answer("C0", STORE_CLAIMED, 0, REPEATS_NOTHING);
    expect_answer("C1", STORE_CLAIMED, 0, REPEATS_ENDED_LEASE);
    expect_answer("C2", STORE_CLAIMED, 0, REPEATS_ENDED_HOLD);
    expect_generation("C0", 0, REPEATS_NOTHING);
    expect_generation("C4", 1, REPEATS_NOTHING);
    expect_generation("C4002", 1000, REPEATS_ENDED_HOLD);
    expect_answer("R0", STORE_RELAYED, 0, REPEATS_NOTHING);
    expect_answer("G9223372036854775807", STORE_RESTING, INT64_MAX, REPEATS_NOTHING);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (redis_script_answer(&op, slice_from(bad[i])))
            fail_msg("\"%s\" was taken", bad[i]);
    assert_true(redis_script_answer(&ping, SLICE("OK")));
    assert_int_equal(ping.answer, STORE_OK);
}

/* --- what the scripts ask of the server --- */

static bool is_word(char c)
{
    return (c >= 'A' && c <= 'Z') || c == '~';
}

/* The next word in single quotes that is in upper case: a command or an option of one. */
static bool next_word(struct slice *text, struct slice *word)
{
    struct slice before;

    while (slice_cut(*text, '\'', &before, text)) {
        struct slice rest;
        if (!slice_cut(*text, '\'', word, &rest))
            return false;
        size_t len = 0;
        while (len < word->len && is_word(word->data[len]))
            len++;
        *text = rest;
        if (len > 1 && len == word->len)
            return true;
    }
    return false;
}

/* Commands and options, with the version of Redis that brought them (redis.io/commands). */
static void test_nothing_newer(void **state)
{
    static const struct {
        const char *word;
        unsigned since; /* major and minor version, as 100 * major + minor */
    } known[] = {
        {"TIME", 206},    {"GET", 100},
        {"SET", 100},     {"PX", 206},
        {"KEEPTTL", 600}, {"DEL", 100},
        {"PEXPIRE", 206}, {"PTTL", 206},
        {"EXISTS", 100},  {"XADD", 500},
        {"XTRIM", 500},   {"MAXLEN", 500},
        {"XREAD", 500},   {"COUNT", 500},
        {"STREAMS", 500}, {"XREVRANGE", 500},
        {"HSET", 200},    {"HGET", 200},
        {"HMGET", 200},   {"HGETALL", 200},
        {"HDEL", 200},    {"MINID", 602} /* under pcall: left out where it is unknown */,
    };

    (void)state;
    for (int script = 0; script < REDIS_SCRIPTS; script++) {
        struct slice text = slice_from(redis_script_text(script)), word;
        while (next_word(&text, &word)) {
            unsigned since = 0;
            for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
                if (slice_eq(word, slice_from(known[i].word)))
                    since = known[i].since;
            if (since == 0 || (since > 600 && !slice_eq(word, SLICE("MINID"))))
                fail_msg("script %d: since when has Redis had %.*s?", script, SLICE_ARG(word));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_nothing_newer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
