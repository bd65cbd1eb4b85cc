/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in the server, and what it does to us when somebody else wrote it. */
#include "tests/contract/redis_store/rig.h"

#include <string.h>

/* Records from an hour that the server's clock has left again last no longer than their length. */
static void clock_went_back(void **state)
{
    struct server server;
    struct rig rig;

    (void)state;
    rig_begin(&server, &rig, NULL);
    server_do(&server, "SET wakegate:1:{r}:claim:t/a 'C9999999999999 50 0 0 other' PX 100000");
    server_do(&server, "SET wakegate:1:{r}:claim:t/b 'H9999999999999 50 0 0 other' PX 100000");
    struct store_op a = rig_ask(&rig, "a"), b = rig_ask(&rig, "b");
    assert_int_equal(a.answer, STORE_IN_FLIGHT);
    assert_int_equal(a.answer_ms, 50);
    assert_int_equal(b.answer, STORE_HELD);
    assert_int_equal(b.answer_ms, 50);
    assert_null(strstr(server_do(&server, "TTL wakegate:1:{r}:claim:t/a"), ":-1"));
    while (a.answer == STORE_IN_FLIGHT)
        a = rig_ask(&rig, "a");
    assert_int_equal(a.answer, STORE_CLAIMED);
    assert_int_equal(a.repeats, REPEATS_ENDED_LEASE);
    rig_end(&server, &rig);
}

static void record_of_somebody_else(void **state)
{
    struct server server;
    struct rig rig;

    (void)state;
    rig_begin(&server, &rig, NULL);
    server_do(&server, "SET wakegate:1:{r}:claim:t/a hello");
    server_do(&server, "LPUSH wakegate:1:{r}:claim:t/b hello");
    struct store_op op = rig_ask(&rig, "a");
    rig_expect_failed(&op, STORE_DOWN, "holds what wakegate did not write: delete it, or");
    op = rig_ask(&rig, "b");
    rig_expect_failed(&op, STORE_DOWN, "holds what wakegate did not write: delete it, or");
    assert_int_equal(rig_ask(&rig, "c").answer, STORE_CLAIMED);
    rig_end(&server, &rig);
}

static void nothing_lives_for_ever(void **state)
{
    struct server server;
    struct rig rig;
    struct store_op op = {.key = SLICE("r/t/h"), .gate = SLICE("r/t"), .owner = SLICE("me")};

    (void)state;
    rig_begin(&server, &rig, NULL);
    rig_ask(&rig, "claimed");
    struct question question = {.rig = &rig, .op = op};
    rig_run(&question, store_settle);
    question.op.key = SLICE("r/t/held");
    question.op.for_ms = 1000;
    rig_run(&question, store_hold);
    question.op.key = SLICE("r/t/paced");
    question.op.gate = SLICE("r/u");
    question.op.pace = (struct pace){.per_hour = 30, .burst = 2};
    rig_run(&question, store_claim);
    assert_int_equal(question.op.answer, STORE_CLAIMED);
    server_do(&server, "DEL wakegate:1:ping");
    const char *keys = server_do(&server, "INFO keyspace");
    if (!strstr(keys, "keys=6,expires=6"))
        fail_msg("%s", keys);
    rig_end(&server, &rig);
}

const struct CMUnitTest record_cases[] = {
    cmocka_unit_test(clock_went_back),
    cmocka_unit_test(record_of_somebody_else),
    cmocka_unit_test(nothing_lives_for_ever),
};
const size_t record_case_count = sizeof(record_cases) / sizeof(record_cases[0]);
