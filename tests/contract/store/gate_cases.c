/* SPDX-License-Identifier: Apache-2.0 */
/* The gate of a target: its rest and its bucket. One token an hour is as good as none. */
#include "tests/contract/store/rig.h"

static const struct pace slow_one = {.per_hour = 1, .burst = 1};
static const struct pace slow_two = {.per_hour = 1, .burst = 2};
static const struct pace fast_one = {.per_hour = 180000, .burst = 1}; /* one in SHORT_MS */

static struct store_op claim(struct rig *rig, const char *key, const char *gate, const char *owner,
                             struct pace pace)
{
    struct ask ask = {.key = key, .gate = gate, .owner = owner, .for_ms = LONG_MS, .pace = pace};

    return rig_ask(rig, STORE_CLAIM, ask);
}

static void hold(struct rig *rig, const char *key, const char *gate, const char *owner, int64_t ms)
{
    struct ask ask = {.key = key, .gate = gate, .owner = owner, .for_ms = ms};

    assert_int_equal(rig_ask(rig, STORE_HOLD, ask).answer, STORE_OK);
}

static void hold_rests_the_gate(struct rig *rig)
{
    claim(rig, "a", "g", "ann", (struct pace){0});
    hold(rig, "a", "g", "ann", LONG_MS);
    struct store_op other = claim(rig, "b", "g", "bob", (struct pace){0});
    assert_int_equal(other.answer, STORE_RESTING);
    assert_in_range(other.answer_ms, 1, LONG_MS);
    assert_int_equal(claim(rig, "b", "h", "cat", (struct pace){0}).answer, STORE_CLAIMED);
    assert_int_equal(rig_claim(rig, "c", "bob", LONG_MS), STORE_CLAIMED); /* no gate, no rest */
}

static void rest_leaves_the_key_free(struct rig *rig)
{
    hold(rig, "a", "g", "ann", LONG_MS);
    assert_int_equal(claim(rig, "b", "g", "bob", slow_one).answer, STORE_RESTING);
    struct store_op next = claim(rig, "b", "h", "cat", (struct pace){0});
    assert_int_equal(next.answer, STORE_CLAIMED);
    assert_int_equal(next.repeats, REPEATS_NOTHING);
}

static void rest_ends(struct rig *rig)
{
    hold(rig, "a", "g", "ann", SHORT_MS);
    rig_wait(rig, 2 * SHORT_MS);
    assert_int_equal(claim(rig, "b", "g", "bob", (struct pace){0}).answer, STORE_CLAIMED);
    struct store_op again = claim(rig, "a", "g", "bob", (struct pace){0});
    assert_int_equal(again.answer, STORE_CLAIMED);
    assert_int_equal(again.repeats, REPEATS_ENDED_HOLD);
}

static void longest_rest_counts(struct rig *rig)
{
    hold(rig, "a", "g", "ann", LONG_MS);
    hold(rig, "b", "g", "bob", SHORT_MS);
    hold(rig, "c", "h", "ann", SHORT_MS);
    hold(rig, "d", "h", "bob", LONG_MS);
    rig_wait(rig, 2 * SHORT_MS);
    assert_int_equal(claim(rig, "e", "g", "cat", (struct pace){0}).answer, STORE_RESTING);
    assert_int_equal(claim(rig, "e", "h", "cat", (struct pace){0}).answer, STORE_RESTING);
}

/* What is known of the key is said before what is known of the target. */
static void key_comes_before_gate(struct rig *rig)
{
    claim(rig, "claimed", NULL, "ann", (struct pace){0});
    rig_settle(rig, "relayed", "ann");
    hold(rig, "held", "g", "ann", LONG_MS);
    assert_int_equal(claim(rig, "claimed", "g", "bob", slow_one).answer, STORE_IN_FLIGHT);
    assert_int_equal(claim(rig, "relayed", "g", "bob", slow_one).answer, STORE_RELAYED);
    assert_int_equal(claim(rig, "held", "g", "bob", slow_one).answer, STORE_HELD);
}

static void chain_goes_on(struct rig *rig)
{
    hold(rig, "x", "second", "bob", LONG_MS);
    assert_int_equal(claim(rig, "a", "first", "ann", (struct pace){0}).answer, STORE_CLAIMED);
    assert_int_equal(claim(rig, "a", "second", "ann", (struct pace){0}).answer, STORE_RESTING);
    assert_int_equal(claim(rig, "a", NULL, "bob", (struct pace){0}).answer, STORE_IN_FLIGHT);
    struct store_op third = claim(rig, "a", "third", "ann", slow_one);
    assert_int_equal(third.answer, STORE_CLAIMED);
    assert_int_equal(third.repeats, REPEATS_NOTHING);
    assert_int_equal(claim(rig, "b", "third", "bob", slow_one).answer, STORE_PACED);
    assert_int_equal(rig_settle(rig, "a", "ann"), STORE_OK);
}

static void bucket_empties(struct rig *rig)
{
    assert_int_equal(claim(rig, "a", "g", "ann", slow_two).answer, STORE_CLAIMED);
    assert_int_equal(claim(rig, "b", "g", "ann", slow_two).answer, STORE_CLAIMED);
    struct store_op third = claim(rig, "c", "g", "ann", slow_two);
    assert_int_equal(third.answer, STORE_PACED);
    assert_in_range(third.answer_ms, 1, 3600 * 1000);
    assert_int_equal(claim(rig, "c", "h", "bob", slow_two).answer, STORE_CLAIMED); /* was free */
}

static void bucket_refills(struct rig *rig)
{
    assert_int_equal(claim(rig, "a", "g", "ann", fast_one).answer, STORE_CLAIMED);
    rig_wait(rig, 2 * SHORT_MS);
    assert_int_equal(claim(rig, "b", "g", "ann", fast_one).answer, STORE_CLAIMED);
}

/* After a rest of eight tokens' time, eight claims in one turn get the one that fits; and what came
 * while they ran. */
static void bucket_holds_no_more_than_a_burst(struct rig *rig)
{
    enum { EACH_MS = 50, TRIES = 8 };
    struct ask ask = {.gate = "g", .owner = "ann", .for_ms = LONG_MS};
    struct question questions[TRIES];
    char key[TRIES + 1] = "kkkkkkkk";
    uint64_t claimed = 0;

    ask.pace = (struct pace){.per_hour = 3600 * 1000 / EACH_MS, .burst = 1};
    claim(rig, "a", "g", "ann", ask.pace);
    rig_wait(rig, TRIES * EACH_MS);
    uint64_t begin = uv_hrtime();
    for (size_t i = 0; i < TRIES; i++) {
        ask.key = key + i;
        rig_start(rig, &questions[i], STORE_CLAIM, ask);
    }
    for (size_t i = 0; i < TRIES; i++) {
        rig_finish(rig, &questions[i]);
        claimed += questions[i].op.answer == STORE_CLAIMED;
    }
    uint64_t elapsed_ms = (uv_hrtime() - begin) / 1000000;
    assert_in_range(claimed, 1, 2 + elapsed_ms / EACH_MS);
}

static void only_a_claim_takes_a_token(struct rig *rig)
{
    assert_int_equal(claim(rig, "a", "g", "ann", slow_two).answer, STORE_CLAIMED);
    rig_settle(rig, "b", "ann");
    assert_int_equal(claim(rig, "a", "g", "bob", slow_two).answer, STORE_IN_FLIGHT);
    assert_int_equal(claim(rig, "b", "g", "bob", slow_two).answer, STORE_RELAYED);
    assert_int_equal(claim(rig, "c", "g", "bob", slow_two).answer, STORE_CLAIMED);
    assert_int_equal(claim(rig, "d", "g", "bob", slow_two).answer, STORE_PACED);
}

static void paced_says_when(struct rig *rig)
{
    struct pace pace = {.per_hour = 72000, .burst = 1};

    claim(rig, "a", "g", "ann", pace);
    struct store_op next = claim(rig, "b", "g", "ann", pace);
    for (int tries = 0; next.answer == STORE_PACED && tries < 100; tries++) {
        assert_in_range(next.answer_ms, 1, 50);
        rig_wait(rig, next.answer_ms);
        next = claim(rig, "b", "g", "ann", pace);
    }
    assert_int_equal(next.answer, STORE_CLAIMED);
}

static void rest_and_bucket_are_apart(struct rig *rig)
{
    claim(rig, "a", "g", "ann", slow_two);
    hold(rig, "a", "g", "ann", SHORT_MS);
    rig_wait(rig, 2 * SHORT_MS);
    assert_int_equal(claim(rig, "b", "g", "ann", slow_two).answer, STORE_CLAIMED);
    assert_int_equal(claim(rig, "c", "g", "ann", slow_two).answer, STORE_PACED);
}

const struct store_case gate_cases[] = {
    {"a hold rests its gate", hold_rests_the_gate, 0},
    {"a resting gate leaves the key free", rest_leaves_the_key_free, 0},
    {"a rest ends", rest_ends, 0},
    {"the longest rest counts", longest_rest_counts, 0},
    {"the key comes before the gate", key_comes_before_gate, 0},
    {"an owner goes on to the next gate", chain_goes_on, 0},
    {"a bucket empties", bucket_empties, 0},
    {"a bucket refills", bucket_refills, 0},
    {"a bucket holds no more than a burst", bucket_holds_no_more_than_a_burst, 0},
    {"only a claim takes a token", only_a_claim_takes_a_token, 0},
    {"an empty bucket says when to come again", paced_says_when, 0},
    {"a rest leaves the bucket alone", rest_and_bucket_are_apart, 0},
    {0},
};
