/* SPDX-License-Identifier: Apache-2.0 */
/* The one offer of a thread, the claim behind it, and who is there to take it. */
#include "tests/contract/threads/rig.h"

#include <stdio.h>

struct made { /* the names of one offer */
    const char *thread, *id, *key;
};

static struct ask present(const char *thread, const char *instance, unsigned count, int64_t for_ms)
{
    return (struct ask){.thread = thread, .instance = instance, .count = count, .for_ms = for_ms};
}

static struct ask offer(struct made made, int64_t for_ms)
{
    return (struct ask){.thread = made.thread,
                        .offer = made.id,
                        .owner = "ann",
                        .key = made.key,
                        .for_ms = for_ms,
                        .entries = {"offered"}};
}

static struct ask take(struct made made)
{
    return (struct ask){
        .thread = made.thread, .offer = made.id, .taker = "tom", .entries = {"taken"}};
}

static struct ask withdraw(struct made made, const char *owner)
{
    return (struct ask){
        .thread = made.thread, .offer = made.id, .owner = owner, .entries = {"withdrawn"}};
}

/* A claim by ann, and clients on instance "one". Nothing is offered yet. */
static struct made prepare(struct rig *rig)
{
    struct made made = {rig_name(rig, "t"), rig_name(rig, "o"), rig_name(rig, "r/t/d")};

    assert_int_equal(rig_claim(rig->a, made.key, "ann"), STORE_CLAIMED);
    rig_ask(rig->b, THREADS_PRESENT, present(made.thread, "one", 2, LONG_MS));
    return made;
}

static struct made prepare_offer(struct rig *rig, int64_t for_ms)
{
    struct made made = prepare(rig);

    assert_int_equal(rig_ask(rig->a, THREADS_OFFER, offer(made, for_ms)), THREADS_DONE);
    return made;
}

static void expect_history(struct rig *rig, struct made made, const char *texts, bool pending)
{
    char expected[256];

    snprintf(expected, sizeof(expected), "%s|%s", texts, pending ? made.id : "");
    assert_string_equal(rig_read(rig->b, made.thread, NULL, NULL, 0), expected);
}

static void nobody(struct rig *rig)
{
    struct made made = {rig_name(rig, "t"), rig_name(rig, "o"), rig_name(rig, "r/t/d")};

    assert_int_equal(rig_ask(rig->a, THREADS_OFFER, offer(made, LONG_MS)), THREADS_NOBODY);
    rig_ask(rig->b, THREADS_PRESENT, present(rig_name(rig, "other"), "one", 1, LONG_MS));
    rig_ask(rig->b, THREADS_PRESENT, present(made.thread, "one", 1, LONG_MS));
    rig_ask(rig->b, THREADS_PRESENT, present(made.thread, "one", 0, LONG_MS));
    assert_int_equal(rig_ask(rig->a, THREADS_OFFER, offer(made, LONG_MS)), THREADS_NOBODY);
    expect_history(rig, made, "", false);
}

static void presence_of_many(struct rig *rig)
{
    struct made made = {rig_name(rig, "t"), rig_name(rig, "o"), rig_name(rig, "r/t/d")};

    rig_ask(rig->a, THREADS_PRESENT, present(made.thread, "one", 3, LONG_MS));
    rig_ask(rig->b, THREADS_PRESENT, present(made.thread, "two", 1, SHORT_MS));
    rig_ask(rig->b, THREADS_PRESENT, present(made.thread, "none", 0, LONG_MS));
    rig_wait(rig, 2 * SHORT_MS); /* one expired: the other counts */
    assert_int_equal(rig_ask(rig->a, THREADS_OFFER, offer(made, LONG_MS)), THREADS_DONE);
}

static void presence_expires(struct rig *rig)
{
    struct made made = {rig_name(rig, "t"), rig_name(rig, "o"), rig_name(rig, "r/t/d")};

    rig_ask(rig->a, THREADS_PRESENT, present(made.thread, "one", 3, LONG_MS));
    rig_ask(rig->a, THREADS_PRESENT, present(made.thread, "one", 3, SHORT_MS));
    rig_ask(rig->b, THREADS_PRESENT, present(made.thread, "two", 1, SHORT_MS));
    rig_wait(rig, 2 * SHORT_MS);
    assert_int_equal(rig_ask(rig->a, THREADS_OFFER, offer(made, LONG_MS)), THREADS_NOBODY);
    rig_ask(rig->b, THREADS_PRESENT, present(made.thread, "two", 1, LONG_MS));
    assert_int_equal(rig_ask(rig->a, THREADS_OFFER, offer(made, LONG_MS)), THREADS_DONE);
}

static void taken(struct rig *rig)
{
    struct made made = prepare_offer(rig, LONG_MS);

    expect_history(rig, made, "offered", true);
    assert_int_equal(rig_claim(rig->b, made.key, "bob"), STORE_IN_FLIGHT);
    assert_int_equal(rig_ask(rig->b, THREADS_TAKE, take(made)), THREADS_DONE);
    expect_history(rig, made, "offered taken", false);
    assert_int_equal(rig_claim(rig->b, made.key, "bob"), STORE_RELAYED);
    assert_int_equal(rig_settle(rig->a, made.key, "ann"), STORE_OK); /* as ann's own */
    assert_int_equal(rig_ask(rig->b, THREADS_TAKE, take(made)), THREADS_SETTLED);
    assert_int_equal(rig_ask(rig->a, THREADS_WITHDRAW, withdraw(made, "ann")), THREADS_SETTLED);
    assert_int_equal(rig_ask(rig->a, THREADS_OFFER, offer(made, LONG_MS)), THREADS_SETTLED);
    expect_history(rig, made, "offered taken", false);
}

static void withdrawn(struct rig *rig)
{
    struct made made = prepare_offer(rig, LONG_MS);

    assert_int_equal(rig_ask(rig->b, THREADS_WITHDRAW, withdraw(made, "bob")), THREADS_SETTLED);
    expect_history(rig, made, "offered", true);
    assert_int_equal(rig_ask(rig->a, THREADS_WITHDRAW, withdraw(made, "ann")), THREADS_DONE);
    assert_int_equal(rig_ask(rig->a, THREADS_WITHDRAW, withdraw(made, "ann")), THREADS_DONE);
    assert_int_equal(rig_ask(rig->b, THREADS_TAKE, take(made)), THREADS_SETTLED);
    assert_int_equal(rig_ask(rig->a, THREADS_OFFER, offer(made, LONG_MS)), THREADS_SETTLED);
    expect_history(rig, made, "offered withdrawn", false);
    assert_int_equal(rig_claim(rig->b, made.key, "bob"), STORE_IN_FLIGHT);
}

static void one_at_a_time(struct rig *rig)
{
    struct made first = prepare_offer(rig, LONG_MS), second = first;
    struct ask others = offer(first, LONG_MS);

    second.id = rig_name(rig, "o");
    others.owner = "bob";
    assert_int_equal(rig_ask(rig->b, THREADS_OFFER, offer(second, LONG_MS)), THREADS_BUSY);
    assert_int_equal(rig_ask(rig->b, THREADS_OFFER, others), THREADS_BUSY);
    assert_int_equal(rig_ask(rig->b, THREADS_TAKE, take(second)), THREADS_SETTLED);
    assert_int_equal(rig_ask(rig->a, THREADS_OFFER, offer(first, LONG_MS)), THREADS_DONE);
    expect_history(rig, first, "offered", true); /* once */
    assert_int_equal(rig_ask(rig->a, THREADS_WITHDRAW, withdraw(first, "ann")), THREADS_DONE);
    assert_int_equal(rig_ask(rig->b, THREADS_OFFER, offer(second, LONG_MS)), THREADS_DONE);
    assert_int_equal(rig_ask(rig->b, THREADS_TAKE, take(first)), THREADS_SETTLED);
    expect_history(rig, second, "offered withdrawn offered", true);
}

static void expires(struct rig *rig)
{
    struct made first = prepare_offer(rig, SHORT_MS), second = first;

    second.id = rig_name(rig, "o");
    rig_wait(rig, 2 * SHORT_MS);
    expect_history(rig, first, "offered", false);
    assert_int_equal(rig_ask(rig->b, THREADS_TAKE, take(first)), THREADS_SETTLED);
    assert_int_equal(rig_claim(rig->b, first.key, "bob"), STORE_IN_FLIGHT);
    assert_int_equal(rig_ask(rig->b, THREADS_OFFER, offer(second, LONG_MS)), THREADS_DONE);
    assert_int_equal(rig_ask(rig->a, THREADS_WITHDRAW, withdraw(first, "ann")), THREADS_DONE);
    expect_history(rig, second, "offered offered withdrawn", true);
    assert_int_equal(rig_ask(rig->b, THREADS_TAKE, take(second)), THREADS_DONE);
}

/* An offer that comes after its own withdrawal, over a connection that was slow. */
static void withdrawn_before_it_came(struct rig *rig)
{
    struct made made = prepare(rig);

    assert_int_equal(rig_ask(rig->a, THREADS_WITHDRAW, withdraw(made, "ann")), THREADS_DONE);
    assert_int_equal(rig_ask(rig->a, THREADS_OFFER, offer(made, LONG_MS)), THREADS_SETTLED);
    assert_int_equal(rig_ask(rig->b, THREADS_TAKE, take(made)), THREADS_SETTLED);
    assert_int_equal(rig_claim(rig->b, made.key, "bob"), STORE_IN_FLIGHT);
}

/* The wake is elsewhere by now: nobody takes it here. */
static void claim_is_anothers(struct rig *rig)
{
    struct made others = prepare(rig), fired = prepare_offer(rig, LONG_MS);
    struct ask by_bob = offer(others, LONG_MS);

    by_bob.owner = "bob"; /* the claim is ann's */
    assert_int_equal(rig_ask(rig->a, THREADS_OFFER, by_bob), THREADS_DONE);
    assert_int_equal(rig_ask(rig->b, THREADS_TAKE, take(others)), THREADS_SETTLED);
    expect_history(rig, others, "offered", false);
    assert_int_equal(rig_claim(rig->b, others.key, "ann"), STORE_CLAIMED);
    rig_settle(rig->a, fired.key, "ann");
    assert_int_equal(rig_ask(rig->b, THREADS_TAKE, take(fired)), THREADS_SETTLED);
    expect_history(rig, fired, "offered", false);
    assert_int_equal(rig_ask(rig->a, THREADS_WITHDRAW, withdraw(fired, "ann")), THREADS_DONE);
}

static void claim_is_gone(struct rig *rig)
{
    struct made made = {rig_name(rig, "t"), rig_name(rig, "o"), rig_name(rig, "r/t/d")};

    rig_ask(rig->b, THREADS_PRESENT, present(made.thread, "one", 2, LONG_MS));
    assert_int_equal(rig_ask(rig->a, THREADS_OFFER, offer(made, LONG_MS)), THREADS_DONE);
    assert_int_equal(rig_ask(rig->b, THREADS_TAKE, take(made)), THREADS_DONE);
    assert_int_equal(rig_claim(rig->b, made.key, "bob"), STORE_RELAYED);
}

/* Which id is which thread's, whatever bytes they are made of. */
static void names_do_not_mix(struct rig *rig)
{
    struct made one = prepare(rig), other = prepare(rig);

    one.thread = "b:{c}";
    one.id = "x";
    other.thread = "c}";
    other.id = "x:{b";
    rig_ask(rig->b, THREADS_PRESENT, present(one.thread, "one", 1, LONG_MS));
    rig_ask(rig->b, THREADS_PRESENT, present(other.thread, "one", 1, LONG_MS));
    assert_int_equal(rig_ask(rig->a, THREADS_OFFER, offer(one, LONG_MS)), THREADS_DONE);
    assert_int_equal(rig_ask(rig->b, THREADS_TAKE, take(other)), THREADS_SETTLED);
    assert_int_equal(rig_ask(rig->a, THREADS_OFFER, offer(other, LONG_MS)), THREADS_DONE);
    assert_int_equal(rig_ask(rig->b, THREADS_TAKE, take(other)), THREADS_DONE);
    expect_history(rig, one, "offered", true);
    assert_int_equal(rig_ask(rig->b, THREADS_TAKE, take(one)), THREADS_DONE);
}

const struct threads_case offer_cases[] = {
    {"nobody is there", nobody, 0},
    {"one of many instances is enough", presence_of_many, 0},
    {"presence expires", presence_expires, 0},
    {"a take settles the claim", taken, 0},
    {"a withdrawal leaves the claim", withdrawn, 0},
    {"one offer at a time", one_at_a_time, 0},
    {"an offer expires by itself", expires, 0},
    {"an offer that was withdrawn before it came", withdrawn_before_it_came, 0},
    {"a wake that went elsewhere is not taken", claim_is_anothers, 0},
    {"a claim that is gone becomes relayed", claim_is_gone, 0},
    {"names do not mix", names_do_not_mix, 0},
    {0},
};
