/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a key. What must be over is waited for; what must not be over lasts ten minutes. */
#include "tests/contract/store/rig.h"

static struct store_op claim(struct rig *rig, const char *key, const char *owner, int64_t for_ms)
{
    return rig_ask(rig, STORE_CLAIM, (struct ask){.key = key, .owner = owner, .for_ms = for_ms});
}

static void expect_claimed(const struct store_op *op, enum store_repeats repeats)
{
    assert_int_equal(op->answer, STORE_CLAIMED);
    assert_int_equal(op->repeats, repeats);
}

static void expect_left(const struct store_op *op, enum store_answer answer)
{
    assert_int_equal(op->answer, answer);
    assert_in_range(op->answer_ms, 1, LONG_MS);
}

static void free_key(struct rig *rig)
{
    struct store_op first = claim(rig, "a", "ann", LONG_MS), second = claim(rig, "b", "bob", 1);

    expect_claimed(&first, REPEATS_NOTHING);
    expect_claimed(&second, REPEATS_NOTHING);
}

static void in_flight(struct rig *rig)
{
    claim(rig, "a", "ann", LONG_MS);
    struct store_op other = claim(rig, "a", "bob", LONG_MS);
    expect_left(&other, STORE_IN_FLIGHT);
    struct store_op again = claim(rig, "a", "ann", LONG_MS);
    expect_claimed(&again, REPEATS_NOTHING);
}

static void own_claim_renews(struct rig *rig)
{
    claim(rig, "a", "ann", SHORT_MS);
    struct store_op again = claim(rig, "a", "ann", LONG_MS);
    assert_int_equal(again.answer, STORE_CLAIMED);
    rig_wait(rig, 2 * SHORT_MS);
    struct store_op other = claim(rig, "a", "bob", LONG_MS);
    expect_left(&other, STORE_IN_FLIGHT);
}

static void lease_ends(struct rig *rig)
{
    claim(rig, "a", "ann", SHORT_MS);
    rig_wait(rig, 2 * SHORT_MS);
    struct store_op next = claim(rig, "a", "bob", LONG_MS);
    expect_claimed(&next, REPEATS_ENDED_LEASE);
    struct store_op late = claim(rig, "a", "ann", LONG_MS);
    expect_left(&late, STORE_IN_FLIGHT);
}

/* Whoever claimed it in between may not have learned what it repeats. */
static void released_repeat(struct rig *rig)
{
    claim(rig, "a", "ann", SHORT_MS);
    rig_hold(rig, "b", "ann", SHORT_MS);
    rig_wait(rig, 2 * SHORT_MS);
    claim(rig, "a", "bob", LONG_MS);
    claim(rig, "b", "bob", LONG_MS);
    claim(rig, "a", "bob", LONG_MS); /* for its next target */
    assert_int_equal(rig_release(rig, "a", "bob"), STORE_OK);
    assert_int_equal(rig_release(rig, "b", "bob"), STORE_OK);
    struct store_op lease = claim(rig, "a", "cat", LONG_MS), hold = claim(rig, "b", "cat", LONG_MS);
    expect_claimed(&lease, REPEATS_ENDED_LEASE);
    expect_claimed(&hold, REPEATS_ENDED_HOLD);
    assert_int_equal(rig_release(rig, "a", "cat"), STORE_OK);
    assert_int_equal(rig_settle(rig, "a", "ann"), STORE_OK); /* late, and nobody has it */
    assert_int_equal(rig_claim(rig, "a", "dan", LONG_MS), STORE_RELAYED);
}

static void late_owner_changes_nothing(struct rig *rig)
{
    claim(rig, "a", "ann", SHORT_MS);
    rig_wait(rig, 2 * SHORT_MS);
    claim(rig, "a", "bob", LONG_MS);
    assert_int_equal(rig_settle(rig, "a", "ann"), STORE_LOST);
    assert_int_equal(rig_release(rig, "a", "ann"), STORE_OK);
    assert_int_equal(rig_hold(rig, "a", "ann", LONG_MS), STORE_OK);
    struct store_op third = claim(rig, "a", "cat", LONG_MS);
    expect_left(&third, STORE_IN_FLIGHT);
    assert_int_equal(rig_settle(rig, "a", "bob"), STORE_OK);
    assert_int_equal(rig_claim(rig, "a", "ann", LONG_MS), STORE_RELAYED);
}

static void settled(struct rig *rig)
{
    claim(rig, "a", "ann", LONG_MS);
    assert_int_equal(rig_settle(rig, "a", "ann"), STORE_OK);
    rig_wait(rig, 2 * SHORT_MS);
    struct store_op other = claim(rig, "a", "bob", LONG_MS);
    assert_int_equal(other.answer, STORE_RELAYED);
    assert_true(other.answer_ms >= SHORT_MS);
    struct store_op own = claim(rig, "a", "ann", LONG_MS);
    assert_int_equal(own.answer, STORE_RELAYED);
    assert_true(own.answer_ms >= other.answer_ms); /* counted from the settling */
    assert_int_equal(rig_settle(rig, "a", "ann"), STORE_OK);
}

static void settled_unclaimed(struct rig *rig)
{
    assert_int_equal(rig_settle(rig, "a", "ann"), STORE_OK);
    assert_int_equal(rig_claim(rig, "a", "bob", LONG_MS), STORE_RELAYED);
}

static void settled_after_lease(struct rig *rig)
{
    claim(rig, "own", "ann", SHORT_MS);
    claim(rig, "other", "bob", SHORT_MS);
    rig_wait(rig, 2 * SHORT_MS);
    assert_int_equal(rig_settle(rig, "own", "ann"), STORE_OK);
    assert_int_equal(rig_settle(rig, "other", "ann"), STORE_OK);
    assert_int_equal(rig_claim(rig, "own", "cat", LONG_MS), STORE_RELAYED);
    assert_int_equal(rig_claim(rig, "other", "cat", LONG_MS), STORE_RELAYED);
}

static void settled_over_hold(struct rig *rig)
{
    rig_hold(rig, "own", "ann", LONG_MS);
    rig_hold(rig, "other", "bob", LONG_MS);
    rig_hold(rig, "over", "bob", SHORT_MS);
    rig_wait(rig, 2 * SHORT_MS);
    assert_int_equal(rig_settle(rig, "own", "ann"), STORE_OK);
    assert_int_equal(rig_settle(rig, "other", "ann"), STORE_OK);
    assert_int_equal(rig_settle(rig, "over", "ann"), STORE_OK);
    assert_int_equal(rig_claim(rig, "own", "cat", LONG_MS), STORE_RELAYED);
    assert_int_equal(rig_claim(rig, "other", "cat", LONG_MS), STORE_RELAYED);
    assert_int_equal(rig_claim(rig, "over", "cat", LONG_MS), STORE_RELAYED);
}

static void lost(struct rig *rig)
{
    claim(rig, "a", "ann", LONG_MS);
    assert_int_equal(rig_settle(rig, "a", "bob"), STORE_LOST);
    struct store_op other = claim(rig, "a", "cat", LONG_MS);
    expect_left(&other, STORE_IN_FLIGHT);
    assert_int_equal(rig_settle(rig, "a", "ann"), STORE_OK);
}

static void accepted_twice(struct rig *rig)
{
    rig_settle(rig, "a", "ann");
    assert_int_equal(rig_settle(rig, "a", "bob"), STORE_LOST);
    assert_int_equal(rig_settle(rig, "a", "ann"), STORE_OK);
}

static void own_ended_lease(struct rig *rig)
{
    claim(rig, "a", "ann", SHORT_MS);
    rig_wait(rig, 2 * SHORT_MS);
    struct store_op again = claim(rig, "a", "ann", LONG_MS);
    expect_claimed(&again, REPEATS_NOTHING);
}

static void released(struct rig *rig)
{
    claim(rig, "a", "ann", LONG_MS);
    assert_int_equal(rig_release(rig, "a", "ann"), STORE_OK);
    struct store_op next = claim(rig, "a", "bob", LONG_MS);
    expect_claimed(&next, REPEATS_NOTHING);
    assert_int_equal(rig_release(rig, "a", "ann"), STORE_OK); /* had been done */
    assert_int_equal(rig_claim(rig, "a", "ann", LONG_MS), STORE_IN_FLIGHT);
}

static void released_only_claims(struct rig *rig)
{
    assert_int_equal(rig_release(rig, "nothing", "ann"), STORE_OK);
    rig_settle(rig, "relayed", "ann");
    rig_hold(rig, "held", "ann", LONG_MS);
    assert_int_equal(rig_release(rig, "relayed", "ann"), STORE_OK);
    assert_int_equal(rig_release(rig, "held", "ann"), STORE_OK);
    assert_int_equal(rig_claim(rig, "relayed", "bob", LONG_MS), STORE_RELAYED);
    assert_int_equal(rig_claim(rig, "held", "bob", LONG_MS), STORE_HELD);
}

static void held(struct rig *rig)
{
    claim(rig, "a", "ann", LONG_MS);
    assert_int_equal(rig_hold(rig, "a", "ann", LONG_MS), STORE_OK);
    assert_int_equal(rig_hold(rig, "unclaimed", "ann", LONG_MS), STORE_OK);
    struct store_op other = claim(rig, "a", "bob", LONG_MS);
    struct store_op own = claim(rig, "a", "ann", LONG_MS);
    struct store_op unclaimed = claim(rig, "unclaimed", "bob", LONG_MS);
    expect_left(&other, STORE_HELD);
    expect_left(&own, STORE_HELD);
    expect_left(&unclaimed, STORE_HELD);
}

static void hold_ends(struct rig *rig)
{
    claim(rig, "a", "ann", LONG_MS);
    rig_hold(rig, "a", "ann", SHORT_MS);
    rig_wait(rig, 2 * SHORT_MS);
    struct store_op next = claim(rig, "a", "bob", LONG_MS);
    expect_claimed(&next, REPEATS_ENDED_HOLD);
    struct store_op other = claim(rig, "a", "ann", LONG_MS);
    expect_left(&other, STORE_IN_FLIGHT);
}

static void hold_replaces_no_others(struct rig *rig)
{
    claim(rig, "claimed", "ann", LONG_MS);
    rig_settle(rig, "relayed", "ann");
    assert_int_equal(rig_hold(rig, "claimed", "bob", LONG_MS), STORE_OK);
    assert_int_equal(rig_hold(rig, "relayed", "bob", LONG_MS), STORE_OK);
    assert_int_equal(rig_claim(rig, "claimed", "cat", LONG_MS), STORE_IN_FLIGHT);
    assert_int_equal(rig_claim(rig, "relayed", "cat", LONG_MS), STORE_RELAYED);
    assert_int_equal(rig_settle(rig, "claimed", "ann"), STORE_OK);
}

static struct store_op claim_again(struct rig *rig, const char *owner, int64_t again_ms, bool force)
{
    return rig_ask(
        rig, STORE_CLAIM,
        (struct ask){
            .key = "a", .owner = owner, .for_ms = LONG_MS, .again_ms = again_ms, .force = force});
}

static void expect_generation(const struct store_op *op, int64_t generation)
{
    expect_claimed(op, REPEATS_NOTHING);
    assert_int_equal(op->generation, generation);
}

static void relayed_again(struct rig *rig)
{
    rig_settle(rig, "a", "ann");
    struct store_op early = claim_again(rig, "bob", LONG_MS, false);
    assert_int_equal(early.answer, STORE_RELAYED);
    rig_wait(rig, 2 * SHORT_MS);
    struct store_op second = claim_again(rig, "bob", SHORT_MS, false);
    expect_generation(&second, 1);
    struct store_op other = claim_again(rig, "cat", SHORT_MS, false);
    expect_left(&other, STORE_IN_FLIGHT);
    struct store_op next_target = claim_again(rig, "bob", SHORT_MS, false);
    expect_generation(&next_target, 1);
    assert_int_equal(rig_settle(rig, "a", "bob"), STORE_OK);
    struct store_op soon = claim_again(rig, "cat", LONG_MS, false);
    assert_int_equal(soon.answer, STORE_RELAYED);
    struct store_op never = claim_again(rig, "cat", 0, false);
    assert_int_equal(never.answer, STORE_RELAYED);
    rig_wait(rig, 2 * SHORT_MS);
    struct store_op third = claim_again(rig, "cat", SHORT_MS, false);
    expect_generation(&third, 2);
}

/* The second generation's key must not look like the first's to whoever drops repeats. */
static void generation_outlasts_release(struct rig *rig)
{
    rig_settle(rig, "a", "ann");
    rig_wait(rig, 2 * SHORT_MS);
    claim_again(rig, "bob", SHORT_MS, false);
    assert_int_equal(rig_release(rig, "a", "bob"), STORE_OK);
    struct store_op next = claim(rig, "a", "cat", LONG_MS);
    expect_generation(&next, 1);
    assert_int_equal(rig_hold(rig, "a", "cat", SHORT_MS), STORE_OK);
    rig_wait(rig, 2 * SHORT_MS);
    struct store_op after = claim(rig, "a", "dan", LONG_MS);
    expect_claimed(&after, REPEATS_ENDED_HOLD);
    assert_int_equal(after.generation, 1);
}

static void forced(struct rig *rig)
{
    claim(rig, "a", "ann", LONG_MS);
    struct store_op over_claim = claim_again(rig, "bob", 0, true);
    expect_generation(&over_claim, 1);
    assert_int_equal(rig_settle(rig, "a", "ann"), STORE_LOST);
    rig_hold(rig, "a", "bob", LONG_MS);
    struct store_op over_hold = claim_again(rig, "cat", 0, true);
    expect_generation(&over_hold, 2);
    rig_settle(rig, "a", "cat");
    struct store_op relayed = claim_again(rig, "dan", 0, true);
    assert_int_equal(relayed.answer, STORE_RELAYED);
}

static void window_ends(struct rig *rig)
{
    rig_settle(rig, "relayed", "ann");
    claim(rig, "claimed", "ann", SHORT_MS);
    rig_hold(rig, "held", "ann", SHORT_MS);
    rig_wait(rig, SHORT_MS + 2 * SHORT_MS);
    struct store_op relayed = claim(rig, "relayed", "bob", LONG_MS);
    struct store_op claimed = claim(rig, "claimed", "bob", LONG_MS);
    struct store_op was_held = claim(rig, "held", "bob", LONG_MS);
    expect_claimed(&relayed, REPEATS_NOTHING);
    expect_claimed(&claimed, REPEATS_NOTHING);
    expect_claimed(&was_held, REPEATS_NOTHING);
}

/* One look within the window after another, until more than a window has passed since the first.
 * false: the machine was too slow to look in time. */
static bool slides(struct rig *rig, const char *key, int64_t window_ms)
{
    uint64_t seen = uv_hrtime(), begin = seen, window_ns = (uint64_t)window_ms * 1000000;

    rig_settle(rig, key, "ann");
    while (uv_hrtime() - begin < 2 * window_ns) {
        rig_wait(rig, window_ms / 4);
        enum store_answer answer = rig_claim(rig, key, "bob", LONG_MS);
        if (uv_hrtime() - seen >= window_ns)
            return false;
        assert_int_equal(answer, STORE_RELAYED);
        seen = uv_hrtime();
    }
    return true;
}

enum { SLIDING_WINDOW_MS = 300 };

static void window_slides(struct rig *rig)
{
    static const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (slides(rig, keys[i], SLIDING_WINDOW_MS))
            return;
    fail_msg("in none of the tries was the window of %d ms kept open", SLIDING_WINDOW_MS);
}

static void any_bytes(struct rig *rig)
{
    static const char *const keys[] = {
        "a b", "{a}", "a:b", "a'b", "a\"b", "a\r\nb", "$1", "%s", "\xc3\xa9", "\xff\xfe", "a*", "?",
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        assert_int_equal(rig_claim(rig, keys[i], "an\r\nn '\"{}", LONG_MS), STORE_CLAIMED);
        assert_int_equal(rig_claim(rig, keys[i], "bob", LONG_MS), STORE_IN_FLIGHT);
        assert_int_equal(rig_settle(rig, keys[i], "an\r\nn '\"{}"), STORE_OK);
        assert_int_equal(rig_claim(rig, keys[i], "bob", LONG_MS), STORE_RELAYED);
    }
}

static void long_keys(struct rig *rig)
{
    char key[300];

    for (size_t i = 0; i < sizeof(key); i++)
        key[i] = (char)('a' + i % 26);
    key[sizeof(key) - 1] = '\0';
    assert_int_equal(rig_claim(rig, key, "ann", LONG_MS), STORE_CLAIMED);
    key[sizeof(key) - 2] = '!';
    assert_int_equal(rig_claim(rig, key, "bob", LONG_MS), STORE_CLAIMED);
}

const struct store_case claim_cases[] = {
    {"a free key is claimed", free_key, 0},
    {"another owner's claim is in flight", in_flight, 0},
    {"an owner's next claim renews the lease", own_claim_renews, 0},
    {"an ended lease is free, and told", lease_ends, 0},
    {"an owner that comes too late changes nothing", late_owner_changes_nothing, 0},
    {"a settled key is relayed", settled, 0},
    {"a settlement needs no claim", settled_unclaimed, 0},
    {"a settlement after the lease", settled_after_lease, 0},
    {"a settlement over a hold", settled_over_hold, 0},
    {"a settlement of another owner's claim is lost", lost, 0},
    {"a settlement after another owner's is lost", accepted_twice, 0},
    {"an owner does not repeat itself", own_ended_lease, 0},
    {"a release frees the owner's claim", released, 0},
    {"a release frees nothing but a claim", released_only_claims, 0},
    {"a held key is held for everybody", held, 0},
    {"a hold that is over is free, and told", hold_ends, 0},
    {"a hold replaces no other's record", hold_replaces_no_others, 0},
    {"what is relayed is claimed again on purpose", relayed_again, 0},
    {"a generation outlasts a release and a hold", generation_outlasts_release, 0},
    {"what a released claim repeats is told again", released_repeat, 0},
    {"force takes what is claimed or held", forced, 0},
    {"the window ends", window_ends, SHORT_MS},
    {"the window slides", window_slides, SLIDING_WINDOW_MS},
    {"keys and owners are any bytes", any_bytes, 0},
    {"long keys differ in their last byte", long_keys, 0},
    {0},
};
