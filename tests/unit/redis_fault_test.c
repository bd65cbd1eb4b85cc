/* SPDX-License-Identifier: Apache-2.0 */
/* What errors mean. Most texts are from servers of version 7, those that begin with "ERR Error
 * running script" from version 6. */
#include "tests/check.h"

#include <string.h>

#include "gateway/store/redis_fault.h"

#define RAN "ERR Error running script (call to f_12): @user_script:9: "

static const struct {
    const char *words, *why;
    struct redis_fault fault;
} cases[] = {
    {"LOADING Redis is loading", "the server still loads its data (LOADING Redis is loading)", {0}},
    {"READONLY no", "the server is a read-only replica (READONLY no)", {.wrong_node = true}},
    {"READONLY no script: 81a, on @user_script:9.",
     "the server is a read-only replica (READONLY no)",
     {.wrong_node = true}},
    {RAN "-READONLY no", "the server is a read-only replica (READONLY no)", {.wrong_node = true}},
    {"UNBLOCKED force unblock",
     "the server has become a replica (UNBLOCKED force unblock)",
     {.wrong_node = true}},
    {"MASTERDOWN no",
     "the server is a replica without its master (MASTERDOWN no)",
     {.wrong_node = true}},
    {"NOAUTH no", "a password is needed (NOAUTH no)", {.wrong_node = true, .lasting = true}},
    {RAN "-OOM full", "the server's memory is full: raise its maxmemory (OOM full)", {0}},
    {RAN "WRONGTYPE kind",
     "a key below wakegate: holds what wakegate did not write: delete it, or give wakegate a "
     "database of its own (WRONGTYPE kind)",
     {.lasting = true}},
    {RAN "user_script:9: attempt",
     "a key below wakegate: holds what wakegate did not write: delete it, or give wakegate a "
     "database of its own (user_script:9: attempt)",
     {.lasting = true}},
    {RAN "The user executing the script can't do it",
     "the user lacks a right that the README lists (The user executing the script can't do it)",
     {.lasting = true}},
    {RAN "@user_script: 16: -READONLY no",
     "the server is a read-only replica (READONLY no)",
     {.wrong_node = true}},
    {RAN "@user_script: 2: The user executing the script can't do it",
     "the user lacks a right that the README lists (The user executing the script can't do it)",
     {.lasting = true}},
    {"ERR ACL failure in script: User w has no permissions script: 81a, on @user_script:2.",
     "the user lacks a right that the README lists (ERR ACL failure in script: User w has no "
     "permissions)",
     {.lasting = true}},
    {"ERR ACL failure in script: User w has no permissions",
     "the user lacks a right that the README lists (ERR ACL failure in script: User w has no "
     "permissions)",
     {.lasting = true}},
    {RAN "odd", "the server does not do it (odd)", {0}},
    {"NOSCRIPT No", "the script is gone (NOSCRIPT No)", {.no_script = true}},
    {"BUSY Redis", "a script keeps the server busy (BUSY Redis)", {0}},
    {"BUSYKEY Target", "the server does not do it (BUSYKEY Target)", {0}},
    {"NOREPLICAS Not",
     "too few replicas follow the server (min-replicas-to-write) (NOREPLICAS Not)",
     {0}},
    {"MISCONF Redis", "the server cannot save its data; its log says why (MISCONF Redis)", {0}},
    {"MOVED 3999 127.0.0.1:6381",
     "Redis Cluster is not supported (MOVED 3999 127.0.0.1:6381)",
     {.lasting = true}},
    {"DENIED Redis",
     "the server is in protected mode: give it a password (DENIED Redis)",
     {.lasting = true}},
    {"ERR max number of clients reached",
     "the server has as many clients as it takes (maxclients) (ERR max number of clients reached)",
     {0}},
    {"ERR something", "the server refuses (ERR something)", {.lasting = true}},
    {"NEWWORD something", "the server does not do it (NEWWORD something)", {0}},
    {"", "the server does not do it ()", {0}},
    {"-\x1b[1m\xff", "the server does not do it (-?[1m?)", {0}},
};

static void test_meanings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err why = {0};
        struct redis_fault fault = redis_fault_read(slice_from(cases[i].words), false, &why);
        assert_string_equal(why.text, cases[i].why);
        assert_int_equal(fault.no_script, cases[i].fault.no_script);
        assert_int_equal(fault.wrong_node, cases[i].fault.wrong_node);
        assert_int_equal(fault.lasting, cases[i].fault.lasting);
        assert_in_range(fault.kind, 0, REDIS_FAULT_KINDS - 1);
    }
}

static void expect_secret(const char *words, const char *expected)
{
    struct err why = {0};

    redis_fault_read(slice_from(words), true, &why);
    assert_string_equal(why.text, expected);
}

static void test_nothing_secret_is_told(void **state)
{
    (void)state;
    expect_secret("ERR unknown command 'AUTH', with args beginning with: 'sesame'",
                  "the server lacks a command of Redis 6 (ERR unknown command)");
    expect_secret("sesame", "the server does not take the password");
    expect_secret("ERR sesame", "the server refuses (ERR)");
    expect_secret("ERR max number of clients reached",
                  "the server has as many clients as it takes (maxclients) "
                  "(ERR max number of clients)");
    expect_secret("ERR AUTH <password> called without any password configured, sesame",
                  "the server has no password for the default user; leave it out of the URL "
                  "(ERR AUTH <password> called without)");
    expect_secret("WRONGPASS sesame", "the user or the password is wrong (WRONGPASS)");
}

static void test_waits(void **state)
{
    (void)state;
    for (unsigned failures = 1; failures < 100; failures++) {
        assert_in_range(redis_fault_wait(failures, false), 25, 2000);
        assert_in_range(redis_fault_wait(failures, true), 2500, 5000);
    }
    assert_in_range(redis_fault_wait(1, false), 25, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meanings),
        cmocka_unit_test(test_nothing_secret_is_told),
        cmocka_unit_test(test_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
