/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the records to the millisecond; the contract suite shows the same from outside. */
#include "tests/check.h"

#include "gateway/store/record.h"

enum { WINDOW = 1000000, START = 5000000 };

static struct store_op op_of(enum store_verb verb, const char *owner, int64_t for_ms)
{
    return (struct store_op){
        .verb = verb,
        .key = SLICE("k"),
        .gate = SLICE("g"),
        .owner = slice_from(owner),
        .for_ms = for_ms,
    };
}

static struct store_op decide(enum store_verb verb, const char *owner, int64_t for_ms,
                              struct record *record, struct gate_record *gate, int64_t now_ms)
{
    struct store_op op = op_of(verb, owner, for_ms);

    record_decide(&op, record, gate, now_ms, WINDOW);
    return op;
}

static struct store_op take(struct gate_record *gate, int64_t per_hour, int64_t burst,
                            int64_t now_ms)
{
    struct record record = {0};
    struct store_op op = op_of(STORE_CLAIM, "ann", 100);

    op.pace = (struct pace){.per_hour = per_hour, .burst = burst};
    record_decide(&op, &record, gate, now_ms, WINDOW);
    assert_int_equal(record.changed, op.answer == STORE_CLAIMED);
    return op;
}

static void test_lease(void **state)
{
    struct record record = {0};
    struct gate_record gate = gate_record_new();

    (void)state;
    decide(STORE_CLAIM, "ann", 100, &record, &gate, START);
    assert_int_equal(record.expires_ms, START + 100 + WINDOW);
    assert_false(gate.changed);
    struct store_op op = decide(STORE_CLAIM, "bob", 100, &record, &gate, START + 99);
    assert_int_equal(op.answer, STORE_IN_FLIGHT);
    assert_int_equal(op.answer_ms, 1);
    op = decide(STORE_CLAIM, "bob", 100, &record, &gate, START + 100);
    assert_int_equal(op.answer, STORE_CLAIMED);
    assert_int_equal(op.repeats, REPEATS_ENDED_LEASE);
}

static void test_own_ended_lease(void **state)
{
    struct record record = {0};
    struct gate_record gate = gate_record_new();

    (void)state;
    decide(STORE_CLAIM, "ann", 100, &record, &gate, START);
    struct store_op op = decide(STORE_CLAIM, "ann", 100, &record, &gate, START + 500);
    assert_int_equal(op.answer, STORE_CLAIMED);
    assert_int_equal(op.repeats, REPEATS_NOTHING);
    assert_int_equal(record.since_ms, START + 500);
}

static void test_window(void **state)
{
    struct record record = {0};
    struct gate_record gate = gate_record_new();

    (void)state;
    decide(STORE_SETTLE, "ann", 0, &record, &gate, START);
    struct store_op op =
        decide(STORE_CLAIM, "bob", 100, &record, &gate, START + WINDOW - 1); /* renews it */
    assert_int_equal(op.answer, STORE_RELAYED);
    assert_int_equal(op.answer_ms, WINDOW - 1);
    op = decide(STORE_CLAIM, "bob", 100, &record, &gate, START + 2 * WINDOW - 2);
    assert_int_equal(op.answer, STORE_RELAYED);
    op = decide(STORE_CLAIM, "bob", 100, &record, &gate, START + 3 * WINDOW - 2);
    assert_int_equal(op.answer, STORE_CLAIMED);
    assert_int_equal(op.repeats, REPEATS_NOTHING);
}

static void test_settled_twice(void **state)
{
    struct record record = {0};
    struct gate_record gate = gate_record_new();

    (void)state;
    decide(STORE_SETTLE, "ann", 0, &record, &gate, START);
    record.changed = false;
    struct store_op own = decide(STORE_SETTLE, "ann", 0, &record, &gate, START + 5);
    struct store_op other = decide(STORE_SETTLE, "bob", 0, &record, &gate, START + 6);
    assert_int_equal(own.answer, STORE_OK);
    assert_int_equal(other.answer, STORE_LOST); /* accepted twice: to be counted */
    assert_false(record.changed);
}

static void test_unchanged(void **state)
{
    struct record record = {0};
    struct gate_record gate = gate_record_new();

    (void)state;
    decide(STORE_CLAIM, "ann", 100, &record, &gate, START);
    record.changed = false;
    decide(STORE_CLAIM, "bob", 100, &record, &gate, START);
    decide(STORE_SETTLE, "bob", 100, &record, &gate, START);
    decide(STORE_RELEASE, "bob", 100, &record, &gate, START);
    assert_false(record.changed);
    decide(STORE_RELEASE, "ann", 100, &record, &gate, START);
    assert_true(record.changed);
    assert_int_equal(record.state, RECORD_FREE);
}

static void test_rest(void **state)
{
    struct record record = {0}, other = {0};
    struct gate_record gate = gate_record_new();

    (void)state;
    decide(STORE_HOLD, "ann", 100, &record, &gate, START);
    decide(STORE_HOLD, "ann", 10, &other, &gate, START + 50); /* does not shorten it */
    other = (struct record){0};
    struct store_op op = decide(STORE_CLAIM, "bob", 100, &other, &gate, START + 99);
    assert_int_equal(op.answer, STORE_RESTING);
    assert_int_equal(op.answer_ms, 1);
    assert_false(other.changed);
    op = decide(STORE_CLAIM, "bob", 100, &other, &gate, START + 100);
    assert_int_equal(op.answer, STORE_CLAIMED);
    op = decide(STORE_CLAIM, "bob", 100, &record, &gate, START + 100);
    assert_int_equal(op.repeats, REPEATS_ENDED_HOLD);
}

static void test_bucket(void **state)
{
    struct gate_record gate = gate_record_new();

    (void)state;
    assert_int_equal(take(&gate, 30, 2, START).answer, STORE_CLAIMED);
    assert_int_equal(take(&gate, 30, 2, START).answer, STORE_CLAIMED);
    struct store_op op = take(&gate, 30, 2, START);
    assert_int_equal(op.answer, STORE_PACED);
    assert_int_equal(op.answer_ms, 120000); /* 30 an hour */
    op = take(&gate, 30, 2, START + 119999);
    assert_int_equal(op.answer, STORE_PACED);
    assert_int_equal(op.answer_ms, 1);
    assert_int_equal(take(&gate, 30, 2, START + 120000).answer, STORE_CLAIMED);
    assert_int_equal(take(&gate, 30, 2, START + 239999).answer, STORE_PACED);
    assert_int_equal(take(&gate, 30, 2, START + 240000).answer, STORE_CLAIMED);
}

/* Looking often, at a pace that does not divide, loses nothing. */
static void test_bucket_loses_nothing(void **state)
{
    struct gate_record gate = gate_record_new();
    unsigned taken = 0;

    (void)state;
    for (int64_t ms = 0; ms <= 3600 * 1000; ms += 7)
        taken += take(&gate, 7, 1, START + ms).answer == STORE_CLAIMED;
    assert_int_equal(taken, 7); /* the first, and one in each 514 s but the last, 5 ms late */
}

static void test_bucket_extremes(void **state)
{
    struct gate_record gate = gate_record_new();

    (void)state;
    assert_int_equal(take(&gate, INT64_MAX, INT64_MAX, START).answer, STORE_CLAIMED);
    assert_int_equal(take(&gate, INT64_MAX, INT64_MAX, INT64_MAX - WINDOW - 100).answer,
                     STORE_CLAIMED);
    gate = gate_record_new();
    assert_int_equal(take(&gate, 1, 1, START).answer, STORE_CLAIMED);
    assert_int_equal(take(&gate, INT64_MAX, 1, START + 1).answer, STORE_CLAIMED);
    struct store_op op = take(&gate, INT64_MAX, 1, START + 1);
    assert_int_equal(op.answer, STORE_PACED);
    assert_int_equal(op.answer_ms, 1);
}

/* An hour back: nothing lasts longer than its own length from the first look on. */
static void test_clock_steps_back(void **state)
{
    struct record record = {0}, other = {0};
    struct gate_record gate = gate_record_new();
    int64_t back = START - 3600 * 1000;

    (void)state;
    take(&gate, 30, 1, START);
    decide(STORE_HOLD, "ann", 100, &record, &gate, START);
    struct store_op op = decide(STORE_CLAIM, "bob", 100, &record, &gate, back);
    assert_int_equal(op.answer, STORE_HELD);
    assert_int_equal(op.answer_ms, 100);
    assert_true(record.changed);
    op = decide(STORE_CLAIM, "bob", 100, &other, &gate, back);
    assert_int_equal(op.answer, STORE_RESTING);
    assert_int_equal(op.answer_ms, 100);
    assert_true(gate.changed);
    op = decide(STORE_CLAIM, "bob", 100, &record, &gate, back + 100);
    assert_int_equal(op.answer, STORE_CLAIMED);
    gate.changed = false;
    assert_int_equal(take(&gate, 30, 1, back + 100).answer, STORE_PACED);
    assert_true(gate.changed);
    assert_int_equal(take(&gate, 30, 1, back + 100 + 120000).answer, STORE_CLAIMED);
}

static void test_relayed_in_the_future(void **state)
{
    struct record record = {0};
    struct gate_record gate = gate_record_new();

    (void)state;
    decide(STORE_SETTLE, "ann", 0, &record, &gate, START);
    struct store_op op = decide(STORE_CLAIM, "bob", 100, &record, &gate, START - 500);
    assert_int_equal(op.answer, STORE_RELAYED);
    assert_int_equal(op.answer_ms, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lease),
        cmocka_unit_test(test_own_ended_lease),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_settled_twice),
        cmocka_unit_test(test_unchanged),
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_bucket),
        cmocka_unit_test(test_bucket_loses_nothing),
        cmocka_unit_test(test_bucket_extremes),
        cmocka_unit_test(test_clock_steps_back),
        cmocka_unit_test(test_relayed_in_the_future),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
