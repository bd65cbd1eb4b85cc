/* SPDX-License-Identifier: Apache-2.0 */
/* Two at once. On a Redis each comes over a connection of its own. */
#include "tests/contract/threads/rig.h"

enum { RACES = 60 };

struct made {
    const char *thread, *id, *key;
};

static struct made prepare(struct rig *rig)
{
    struct made made = {rig_name(rig, "t"), rig_name(rig, "o"), rig_name(rig, "r/t/d")};
    struct ask here = {.thread = made.thread, .instance = "one", .count = 1, .for_ms = LONG_MS};

    rig_claim(rig->a, made.key, "ann");
    rig_ask(rig->a, THREADS_PRESENT, here);
    return made;
}

static struct ask offer_of(struct made made, const char *id, int64_t for_ms)
{
    return (struct ask){.thread = made.thread,
                        .offer = id,
                        .owner = "ann",
                        .key = made.key,
                        .for_ms = for_ms,
                        .entries = {"offered"}};
}

static struct made prepare_offer(struct rig *rig, int64_t for_ms)
{
    struct made made = prepare(rig);

    assert_int_equal(rig_ask(rig->a, THREADS_OFFER, offer_of(made, made.id, for_ms)), THREADS_DONE);
    return made;
}

static struct ask take_by(struct made made, const char *taker)
{
    return (struct ask){
        .thread = made.thread, .offer = made.id, .taker = taker, .entries = {taker}};
}

static struct ask withdraw_of(struct made made)
{
    return (struct ask){
        .thread = made.thread, .offer = made.id, .owner = "ann", .entries = {"withdrawn"}};
}

/* Starts both, in either order, and waits for both. */
static void race(struct rig *rig, int round, struct question *one, enum threads_verb one_verb,
                 struct ask one_ask, struct question *two, enum threads_verb two_verb,
                 struct ask two_ask)
{
    if (round % 2)
        rig_start(rig->a, one, one_verb, one_ask);
    rig_start(rig->b, two, two_verb, two_ask);
    if (round % 2 == 0)
        rig_start(rig->a, one, one_verb, one_ask);
    rig_finish(one);
    rig_finish(two);
}

static void two_takes(struct rig *rig)
{
    struct question one, two;

    for (int i = 0; i < RACES; i++) {
        struct made made = prepare_offer(rig, LONG_MS);
        race(rig, i, &one, THREADS_TAKE, take_by(made, "tom"), &two, THREADS_TAKE,
             take_by(made, "tim"));
        bool first = one.op.answer == THREADS_DONE;
        assert_int_equal(first ? two.op.answer : one.op.answer, THREADS_SETTLED);
        assert_int_equal(first ? one.op.answer : two.op.answer, THREADS_DONE);
        assert_string_equal(rig_read(rig->b, made.thread, NULL, NULL, 0),
                            first ? "offered tom|" : "offered tim|");
        assert_int_equal(rig_claim(rig->b, made.key, "bob"), STORE_RELAYED);
    }
}

/* The claim is relayed if and only if the offer was taken. */
static void expect_one_winner(struct rig *rig, struct made made, const struct question *take,
                              const struct question *withdraw)
{
    bool taken = take->op.answer == THREADS_DONE;

    assert_int_equal(take->op.answer, taken ? THREADS_DONE : THREADS_SETTLED);
    assert_int_equal(withdraw->op.answer, taken ? THREADS_SETTLED : THREADS_DONE);
    assert_string_equal(rig_read(rig->b, made.thread, NULL, NULL, 0),
                        taken ? "offered tom|" : "offered withdrawn|");
    assert_int_equal(rig_claim(rig->b, made.key, "bob"), taken ? STORE_RELAYED : STORE_IN_FLIGHT);
}

static void take_against_withdraw(struct rig *rig)
{
    struct question take, withdraw;

    for (int i = 0; i < RACES; i++) {
        struct made made = prepare_offer(rig, LONG_MS);
        race(rig, i, &take, THREADS_TAKE, take_by(made, "tom"), &withdraw, THREADS_WITHDRAW,
             withdraw_of(made));
        expect_one_winner(rig, made, &take, &withdraw);
    }
}

/* Around the moment when the offer expires. */
static void take_against_expiry(struct rig *rig)
{
    struct question take, withdraw;

    for (int i = 0; i < RACES; i++) {
        struct made made = prepare_offer(rig, 5);
        rig_wait(rig, i % 8);
        race(rig, i, &take, THREADS_TAKE, take_by(made, "tom"), &withdraw, THREADS_WITHDRAW,
             withdraw_of(made));
        expect_one_winner(rig, made, &take, &withdraw);
    }
}

static void two_offers(struct rig *rig)
{
    struct question one, two;

    for (int i = 0; i < RACES; i++) {
        struct made made = prepare(rig);
        const char *other = rig_name(rig, "o");
        race(rig, i, &one, THREADS_OFFER, offer_of(made, made.id, LONG_MS), &two, THREADS_OFFER,
             offer_of(made, other, LONG_MS));
        bool first = one.op.answer == THREADS_DONE;
        assert_int_equal(first ? two.op.answer : one.op.answer, THREADS_BUSY);
        assert_int_equal(first ? one.op.answer : two.op.answer, THREADS_DONE);
    }
}

/* Another relay settles the claim while somebody takes the offer: one of both, and told. */
static void take_against_settlement(struct rig *rig)
{
    for (int i = 0; i < RACES; i++) {
        struct made made = prepare_offer(rig, LONG_MS);
        struct question take;
        if (i % 2)
            rig_start(rig->b, &take, THREADS_TAKE, take_by(made, "tom"));
        enum store_answer settled = rig_settle(rig->a, made.key, "ann");
        if (i % 2 == 0)
            rig_start(rig->b, &take, THREADS_TAKE, take_by(made, "tom"));
        rig_finish(&take);
        assert_int_equal(settled, STORE_OK);
        if (i % 2 == 0)
            assert_int_equal(take.op.answer, THREADS_SETTLED);
        assert_int_equal(rig_claim(rig->b, made.key, "bob"), STORE_RELAYED);
    }
}

const struct threads_case race_cases[] = {
    {"two takes", two_takes, 0},
    {"a take against a withdrawal", take_against_withdraw, 0},
    {"a take against the expiry", take_against_expiry, 0},
    {"two offers", two_offers, 0},
    {"a take against a settlement", take_against_settlement, 0},
    {0},
};
