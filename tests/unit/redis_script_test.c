/* SPDX-License-Identifier: Apache-2.0 */
/* The commands and answers of the scripts, and what errors mean. What the scripts do is tested on a
 * server, with every other store. */
#include "tests/check.h"

#include <string.h>

#include "gateway/store/redis_fault.h"
#include "gateway/store/redis_greeting.h"

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

static void expect_fault(const char *words, bool secret, const char *why, struct redis_fault fault)
{
    struct err err = {0};
    struct redis_fault read = redis_fault_read(slice_from(words), secret, &err);

    assert_string_equal(err.text, why);
    assert_int_equal(read.no_script, fault.no_script);
    assert_int_equal(read.wrong_node, fault.wrong_node);
    assert_int_equal(read.lasting, fault.lasting);
}

static void test_faults(void **state)
{
    (void)state;
    expect_fault("LOADING Redis is loading", false,
                 "the server does not do it (LOADING Redis is loading)", (struct redis_fault){0});
    expect_fault("READONLY no", false, "the server is a read-only replica (READONLY no)",
                 (struct redis_fault){.wrong_node = true});
    expect_fault("MASTERDOWN no", false,
                 "the server is a replica without its master (MASTERDOWN no)",
                 (struct redis_fault){.wrong_node = true});
    expect_fault("ERR Error running script (call to f_12): @user_script:9: -READONLY no", false,
                 "the server is a read-only replica (READONLY no)",
                 (struct redis_fault){.wrong_node = true});
    expect_fault(
        "ERR Error running script (call to f_12): @user_script:9: odd", false,
        "the server refuses (ERR Error running script (call to f_12): @user_script:9: odd)",
        (struct redis_fault){.lasting = true});
    expect_fault("NOSCRIPT No matching script.", false,
                 "the script is gone (NOSCRIPT No matching script.)",
                 (struct redis_fault){.no_script = true});
    expect_fault("MOVED 3999 127.0.0.1:6381", false,
                 "Redis Cluster is not supported (MOVED 3999 127.0.0.1:6381)",
                 (struct redis_fault){.lasting = true});
    expect_fault("ERR unknown command 'AUTH', with args beginning with: 'sesame'", true,
                 "the server refuses (ERR)", (struct redis_fault){.lasting = true});
    expect_fault("", false, "the server does not do it ()", (struct redis_fault){0});
}

static void test_greeting(void **state)
{
    struct redis_url bare = {0}, full = {.password = "p", .db = 2};
    char sha[REDIS_SHA_SIZE];

    (void)state;
    assert_int_equal(redis_greeting_from(&bare, GREET_AUTH), GREET_SCRIPTS + STORE_CLAIM);
    assert_int_equal(redis_greeting_from(&full, GREET_AUTH), GREET_AUTH);
    assert_int_equal(redis_greeting_from(&full, GREET_AUTH + 1), GREET_SELECT);
    assert_int_equal(redis_greeting_from(&bare, GREET_PROBE + 1), GREET_DONE);
    assert_true(redis_greeting_sha(SLICE("0123456789012345678901234567890123456789"), sha));
    assert_false(redis_greeting_sha(SLICE("012345678901234567890123456789012345678"), sha));
    assert_false(redis_greeting_sha(SLICE("012345678901234567890123456789012345678 "), sha));
    assert_true(slice_eq(
        redis_greeting_policy(SLICE("# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n")),
        SLICE("noeviction")));
    assert_true(slice_eq(redis_greeting_policy(SLICE("maxmemory_policy:allkeys-lru")),
                         SLICE("allkeys-lru")));
    assert_int_equal(redis_greeting_policy(SLICE("# Memory\r\n")).len, 0);
    assert_int_equal(redis_greeting_policy((struct slice){0}).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_greeting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
