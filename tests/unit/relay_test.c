/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay's steps against a scripted store and a scripted target on a real event loop. The store
 * and the target note what they are asked and end each operation with what the script says; an
 * operation whose script says so stays open until the test ends it.
 */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/clock.h"
#include "gateway/core/metrics.h"
#include "relay/relays.h"

enum { STAY_OPEN = -1, STEPS = 16 };

struct scene {
    uv_loop_t loop;
    struct turn turn;
    struct store store;
    struct world world;
    struct relays relays;
    struct destination *to;
    struct target targets[2];

    int store_script[STEPS], target_script[STEPS]; /* answers in order; STAY_OPEN: none yet */
    enum store_repeats repeats;                    /* of the first claim */
    size_t store_at, target_at;
    struct store_op *open_op;
    struct delivery *open_delivery;
    bool unsent;
    char asked[256]; /* what was asked so far: "claim deliver settle ..." */
    int64_t lease_ms;

    unsigned told;
    struct outcome outcome;
    unsigned emptied;
};

static struct scene *scene;

static void note(const char *what)
{
    size_t len = strlen(scene->asked);

    snprintf(scene->asked + len, sizeof(scene->asked) - len, "%s%s", len > 0 ? " " : "", what);
}

static void fake_submit(struct store *store, struct store_op *op)
{
    static const char *const verbs[] = {"ping", "claim", "settle", "release", "hold"};
    int answer = scene->store_script[scene->store_at++];

    (void)store;
    note(verbs[op->verb]);
    if (op->verb == STORE_CLAIM)
        scene->lease_ms = op->for_ms;
    if (answer == STAY_OPEN) {
        scene->open_op = op;
        return;
    }
    op->answer = (enum store_answer)answer;
    op->answer_ms = 1234;
    op->repeats = scene->store_at == 1 ? scene->repeats : REPEATS_NOTHING;
    op_finish(&op->op, &scene->turn);
}

static void fake_deliver(struct target *target, struct delivery *delivery)
{
    int code = scene->target_script[scene->target_at++];

    note(target == &scene->targets[0] ? "deliver" : "deliver2");
    if (code == STAY_OPEN) {
        scene->open_delivery = delivery;
        return;
    }
    delivery->outcome.code = (enum outcome_code)code;
    op_finish(&delivery->op, &scene->turn);
}

static void end_delivery(enum outcome_code code)
{
    scene->open_delivery->outcome.code = code;
    op_finish(&scene->open_delivery->op, &scene->turn);
    scene->open_delivery = NULL;
}

static void fake_cancel(struct target *target, struct delivery *delivery)
{
    (void)target;
    assert_ptr_equal(delivery, scene->open_delivery);
    note("cancel");
    end_delivery(scene->unsent ? OUTCOME_UNAVAILABLE : OUTCOME_AMBIGUOUS);
}

static bool fake_is_unsent(const struct delivery *delivery)
{
    assert_ptr_equal(delivery, scene->open_delivery);
    return scene->unsent;
}

static void fake_close(struct target *target)
{
    (void)target;
}

static const struct store_impl fake_store = {.submit = fake_submit};
static const struct target_kind fake_kind = {
    .name = "fake",
    .deliver = fake_deliver,
    .cancel = fake_cancel,
    .is_unsent = fake_is_unsent,
    .close = fake_close,
};

static struct destination *make_destination(size_t leaves)
{
    struct destination *to = mem_new(sizeof(*to));

    to->references = 1;
    to->route = mem_text(SLICE("r"));
    to->id = mem_text(SLICE("d"));
    for (size_t i = 0; i < leaves; i++) {
        scene->targets[i] = (struct target){.kind = &fake_kind,
                                            .id = mem_text(slice_from(i == 0 ? "one" : "two")),
                                            .hold_ms = 240000,
                                            .timeout_ms = 20000};
        to->leaves[i] =
            (struct leaf){.target = &scene->targets[i],
                          .gate = mem_text(SLICE("r/one")),
                          .seconds = metrics_histogram(METRIC_TARGET_SECONDS, "r", "one")};
    }
    to->leaf_count = leaves;
    return to;
}

static int set_up(void **state)
{
    scene = mem_new(sizeof(*scene));
    uv_loop_init(&scene->loop);
    turn_open(&scene->turn, &scene->loop);
    scene->store.impl = &fake_store;
    scene->world =
        (struct world){.loop = &scene->loop, .turn = &scene->turn, .store = &scene->store};
    relays_open(&scene->relays, &scene->world, 100);
    scene->to = make_destination(1);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(scene->relays.count, 0);
    assert_int_equal(scene->to->references, 1); /* no relay kept its hold */
    destination_drop(scene->to);
    turn_close(&scene->turn);
    uv_run(&scene->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&scene->loop), 0);
    free(scene);
    metrics_free();
    return 0;
}

static void told(struct waiter *waiter, const struct outcome *outcome)
{
    (void)waiter;
    scene->told++;
    scene->outcome = *outcome;
}

static void begin_with(struct waiter *waiter, const char *id, uint64_t budget_ms)
{
    struct wake wake = {0};

    wake_reserve(&wake, slice_from(id));
    wake.delivery_id = wake_keep(&wake, slice_from(id));
    struct shared_wake *shared = shared_wake_new(&wake);
    *waiter = (struct waiter){.told = told};
    relays_begin(&scene->relays, scene->to, shared, clock_steady_us() / 1000 + budget_ms, waiter);
    shared_wake_drop(shared);
}

/* Runs the loop until `waiters` were told, and then what is due at once. */
static void run_until_told(unsigned waiters)
{
    while (scene->told < waiters)
        uv_run(&scene->loop, UV_RUN_ONCE);
    uv_run(&scene->loop, UV_RUN_NOWAIT);
}

static void run_until_over(void)
{
    while (scene->relays.count > 0)
        uv_run(&scene->loop, UV_RUN_ONCE);
    uv_run(&scene->loop, UV_RUN_NOWAIT);
}

static void script_store(int a, int b, int c)
{
    scene->store_script[0] = a;
    scene->store_script[1] = b;
    scene->store_script[2] = c;
}

static void run_one(enum outcome_code expected, const char *asked)
{
    struct waiter waiter;

    begin_with(&waiter, "id-1", 8000);
    run_until_told(1);
    run_until_over();
    assert_int_equal(scene->told, 1);
    assert_int_equal(scene->outcome.code, expected);
    assert_string_equal(scene->asked, asked);
}

static void test_accepted(void **state)
{
    (void)state;
    script_store(STORE_CLAIMED, STORE_OK, 0);
    scene->target_script[0] = OUTCOME_ACCEPTED;
    run_one(OUTCOME_ACCEPTED, "claim deliver settle");
    /* the lease outlasts the budget, the target's time-out and a hold */
    assert_true(scene->lease_ms > 8000 - 100 + 20000 + 240000);
}

static uint64_t ended_leases(void)
{
    return *metrics_value(METRIC_REPEATS, "r", "ended_lease", NULL);
}

static void test_repeat_is_counted(void **state)
{
    (void)state;
    scene->repeats = REPEATS_ENDED_LEASE;
    script_store(STORE_CLAIMED, STORE_OK, 0);
    scene->target_script[0] = OUTCOME_ACCEPTED;
    run_one(OUTCOME_ACCEPTED, "claim deliver settle");
    assert_int_equal(ended_leases(), 1);
}

static void test_unclear_repeat_is_counted(void **state)
{
    (void)state;
    scene->repeats = REPEATS_ENDED_LEASE;
    script_store(STORE_CLAIMED, STORE_OK, 0);
    scene->target_script[0] = OUTCOME_AMBIGUOUS;
    run_one(OUTCOME_AMBIGUOUS, "claim deliver hold");
    assert_int_equal(ended_leases(), 1);
}

/* Its release makes the next claim say again what it repeats. */
static void test_refused_repeat_is_not_counted(void **state)
{
    (void)state;
    scene->repeats = REPEATS_ENDED_LEASE;
    script_store(STORE_CLAIMED, STORE_OK, 0);
    scene->target_script[0] = OUTCOME_REFUSED;
    run_one(OUTCOME_REFUSED, "claim deliver release");
    assert_int_equal(ended_leases(), 0);
}

static void test_repeat_of_a_chain_is_counted_once(void **state)
{
    (void)state;
    destination_drop(scene->to);
    scene->to = make_destination(2);
    scene->repeats = REPEATS_ENDED_LEASE;
    script_store(STORE_CLAIMED, STORE_CLAIMED, STORE_OK);
    scene->target_script[0] = OUTCOME_REFUSED;
    scene->target_script[1] = OUTCOME_ACCEPTED;
    run_one(OUTCOME_ACCEPTED, "claim deliver claim deliver2 settle");
    assert_int_equal(ended_leases(), 1);
}

static void test_not_ours(void **state)
{
    static const struct {
        enum store_answer answer;
        enum outcome_code outcome;
    } cases[] = {
        {STORE_RELAYED, OUTCOME_DUPLICATE}, {STORE_IN_FLIGHT, OUTCOME_IN_FLIGHT},
        {STORE_HELD, OUTCOME_HELD},         {STORE_PACED, OUTCOME_PACED},
        {STORE_RESTING, OUTCOME_RESTING},   {STORE_DOWN, OUTCOME_STORE_UNAVAILABLE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        scene->store_at = 0;
        scene->told = 0;
        scene->asked[0] = '\0';
        script_store((int)cases[i].answer, 0, 0);
        run_one(cases[i].outcome, "claim"); /* nothing is called, nothing was taken */
    }
}

static void test_refused_is_released(void **state)
{
    (void)state;
    script_store(STORE_CLAIMED, STORE_OK, 0);
    scene->target_script[0] = OUTCOME_REFUSED;
    run_one(OUTCOME_REFUSED, "claim deliver release");
}

static void test_ambiguous_is_held(void **state)
{
    (void)state;
    script_store(STORE_CLAIMED, STORE_OK, 0);
    scene->target_script[0] = OUTCOME_AMBIGUOUS;
    run_one(OUTCOME_AMBIGUOUS, "claim deliver hold");
}

static void test_ambiguous_at_an_idempotent_target(void **state)
{
    (void)state;
    scene->targets[0].idempotent = true;
    script_store(STORE_CLAIMED, STORE_OK, 0);
    scene->target_script[0] = OUTCOME_AMBIGUOUS;
    run_one(OUTCOME_AMBIGUOUS, "claim deliver release");
    assert_true(scene->lease_ms < 240000);
}

static void test_unsure_claim_is_given_back(void **state)
{
    (void)state;
    script_store(STORE_UNSURE, STORE_UNSURE, STORE_OK);
    run_one(OUTCOME_STORE_UNAVAILABLE, "claim release release");
}

static void test_settlement_is_tried_again(void **state)
{
    struct waiter waiter, late;

    (void)state;
    script_store(STORE_CLAIMED, STORE_UNSURE, STORE_OK);
    scene->target_script[0] = OUTCOME_ACCEPTED;
    begin_with(&waiter, "id-1", 8000);
    run_until_told(1);
    assert_int_equal(scene->outcome.code, OUTCOME_ACCEPTED); /* told before it is written */
    assert_int_equal(scene->relays.count, 1);
    begin_with(&late, "id-1", 8000);
    assert_int_equal(scene->told, 2);
    assert_int_equal(scene->outcome.code, OUTCOME_DUPLICATE);
    run_until_over();
    assert_string_equal(scene->asked, "claim deliver settle settle");
}

static void test_second_request_joins(void **state)
{
    struct waiter first, second, earlier, hasty;

    (void)state;
    script_store(STORE_CLAIMED, STORE_OK, 0);
    scene->target_script[0] = STAY_OPEN;
    begin_with(&first, "id-1", 8000);
    while (!scene->open_delivery)
        uv_run(&scene->loop, UV_RUN_ONCE);
    begin_with(&second, "id-1", 9000);
    begin_with(&earlier, "id-1", 7500); /* its head came before the first one's */
    assert_int_equal(scene->told, 0);
    begin_with(&hasty, "id-1", 1000); /* its time ends before the relay's */
    assert_int_equal(scene->told, 1);
    assert_int_equal(scene->outcome.code, OUTCOME_IN_FLIGHT);
    end_delivery(OUTCOME_ACCEPTED);
    run_until_told(4);
    run_until_over();
    assert_int_equal(scene->outcome.code, OUTCOME_ACCEPTED);
    assert_string_equal(scene->asked, "claim deliver settle");
}

static void test_other_ids_do_not_join(void **state)
{
    struct waiter first, second;

    (void)state;
    script_store(STORE_CLAIMED, STORE_CLAIMED, STORE_OK);
    scene->store_script[3] = STORE_OK;
    scene->target_script[0] = OUTCOME_ACCEPTED;
    scene->target_script[1] = OUTCOME_ACCEPTED;
    begin_with(&first, "id-1", 8000);
    begin_with(&second, "id-2", 8000);
    run_until_told(2);
    run_until_over();
    assert_int_equal(scene->target_at, 2);
}

static void test_budget_ends_while_delivering(void **state)
{
    struct waiter waiter;

    (void)state;
    script_store(STORE_CLAIMED, STORE_OK, 0);
    scene->target_script[0] = STAY_OPEN;
    begin_with(&waiter, "id-1", 300);
    run_until_told(1);
    run_until_over();
    assert_int_equal(scene->outcome.code, OUTCOME_AMBIGUOUS);
    assert_string_equal(scene->asked, "claim deliver cancel hold");
}

static void test_idempotent_target_works_on(void **state)
{
    struct waiter waiter, again;

    (void)state;
    scene->targets[0].idempotent = true;
    script_store(STORE_CLAIMED, STORE_OK, 0);
    scene->target_script[0] = STAY_OPEN;
    begin_with(&waiter, "id-1", 300);
    run_until_told(1);
    assert_int_equal(scene->outcome.code, OUTCOME_AMBIGUOUS);
    begin_with(&again, "id-1", 8000);
    assert_int_equal(scene->outcome.code, OUTCOME_IN_FLIGHT);
    end_delivery(OUTCOME_ACCEPTED);
    run_until_over();
    assert_string_equal(scene->asked, "claim deliver settle");
}

static void test_late_claim_is_given_back(void **state)
{
    struct waiter waiter;

    (void)state;
    script_store(STAY_OPEN, STORE_OK, 0);
    begin_with(&waiter, "id-1", 50);
    run_until_told(1);
    assert_int_equal(scene->outcome.code, OUTCOME_STORE_UNAVAILABLE);
    scene->open_op->answer = STORE_CLAIMED;
    op_finish(&scene->open_op->op, &scene->turn);
    run_until_over();
    assert_string_equal(scene->asked, "claim release"); /* and nothing was sent */
}

static void two_leaves(void)
{
    destination_drop(scene->to);
    scene->to = make_destination(2);
}

static void test_what_was_not_sent_is_not_unclear(void **state)
{
    (void)state;
    for (int idempotent = 0; idempotent < 2; idempotent++) {
        struct waiter waiter;
        two_leaves();
        scene->asked[0] = '\0';
        scene->told = 0;
        scene->store_at = scene->target_at = 0;
        scene->targets[0].idempotent = idempotent;
        scene->targets[0].wait_ms = 50;
        scene->unsent = true;
        script_store(STORE_CLAIMED, STORE_CLAIMED, STORE_OK);
        scene->target_script[0] = STAY_OPEN;
        scene->target_script[1] = OUTCOME_ACCEPTED;
        begin_with(&waiter, "id-1", 8000);
        run_until_told(1);
        run_until_over();
        assert_int_equal(scene->outcome.code, OUTCOME_ACCEPTED);
        assert_string_equal(scene->asked, "claim deliver cancel claim deliver2 settle");
    }
}

static void test_chain_falls_through(void **state)
{
    (void)state;
    two_leaves();
    script_store(STORE_CLAIMED, STORE_CLAIMED, STORE_OK);
    scene->target_script[0] = OUTCOME_UNAVAILABLE;
    scene->target_script[1] = OUTCOME_ACCEPTED;
    run_one(OUTCOME_ACCEPTED, "claim deliver claim deliver2 settle");
}

static void test_chain_passes_a_shut_gate(void **state)
{
    (void)state;
    two_leaves();
    script_store(STORE_PACED, STORE_CLAIMED, STORE_OK);
    scene->target_script[0] = OUTCOME_ACCEPTED;
    run_one(OUTCOME_ACCEPTED, "claim claim deliver2 settle");
}

static void test_chain_ends_at_an_unclear_outcome(void **state)
{
    (void)state;
    two_leaves();
    script_store(STORE_CLAIMED, STORE_OK, 0);
    scene->target_script[0] = OUTCOME_AMBIGUOUS;
    run_one(OUTCOME_AMBIGUOUS, "claim deliver hold");
}

static void test_chain_all_shut_after_a_refusal(void **state)
{
    (void)state;
    two_leaves();
    script_store(STORE_CLAIMED, STORE_RESTING, STORE_OK);
    scene->target_script[0] = OUTCOME_REFUSED;
    run_one(OUTCOME_RESTING, "claim deliver claim release");
}

static void count_emptied(struct relays *relays)
{
    (void)relays;
    scene->emptied++;
}

static void test_drain_releases_what_is_not_sent(void **state)
{
    struct waiter waiter;

    (void)state;
    scene->relays.emptied = count_emptied;
    script_store(STAY_OPEN, STORE_OK, 0);
    begin_with(&waiter, "id-1", 8000);
    relays_drain(&scene->relays);
    assert_int_equal(scene->emptied, 0);
    scene->open_op->answer = STORE_CLAIMED;
    op_finish(&scene->open_op->op, &scene->turn);
    run_until_over();
    assert_int_equal(scene->outcome.code, OUTCOME_DRAINING);
    assert_string_equal(scene->asked, "claim release");
    assert_int_equal(scene->emptied, 1);
}

static void test_drain_lets_sent_ones_finish(void **state)
{
    struct waiter waiter;

    (void)state;
    scene->relays.emptied = count_emptied;
    script_store(STORE_CLAIMED, STORE_OK, 0);
    scene->target_script[0] = STAY_OPEN;
    begin_with(&waiter, "id-1", 8000);
    while (!scene->open_delivery)
        uv_run(&scene->loop, UV_RUN_ONCE);
    relays_drain(&scene->relays);
    uv_run(&scene->loop, UV_RUN_NOWAIT);
    assert_int_equal(scene->emptied, 0);
    end_delivery(OUTCOME_ACCEPTED);
    run_until_over();
    assert_int_equal(scene->outcome.code, OUTCOME_ACCEPTED);
    assert_int_equal(scene->emptied, 1);
}

static void test_cut_short_holds_what_was_sent(void **state)
{
    struct waiter waiter;

    (void)state;
    script_store(STORE_CLAIMED, STORE_OK, 0);
    scene->target_script[0] = STAY_OPEN;
    begin_with(&waiter, "id-1", 8000);
    while (!scene->open_delivery)
        uv_run(&scene->loop, UV_RUN_ONCE);
    relays_drain(&scene->relays);
    relays_cut_short(&scene->relays);
    run_until_over();
    assert_int_equal(scene->outcome.code, OUTCOME_AMBIGUOUS);
    assert_string_equal(scene->asked, "claim deliver cancel hold");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_accepted),
        CASE(test_repeat_is_counted),
        CASE(test_unclear_repeat_is_counted),
        CASE(test_refused_repeat_is_not_counted),
        CASE(test_repeat_of_a_chain_is_counted_once),
        CASE(test_not_ours),
        CASE(test_refused_is_released),
        CASE(test_ambiguous_is_held),
        CASE(test_ambiguous_at_an_idempotent_target),
        CASE(test_unsure_claim_is_given_back),
        CASE(test_settlement_is_tried_again),
        CASE(test_second_request_joins),
        CASE(test_other_ids_do_not_join),
        CASE(test_budget_ends_while_delivering),
        CASE(test_idempotent_target_works_on),
        CASE(test_late_claim_is_given_back),
        CASE(test_what_was_not_sent_is_not_unclear),
        CASE(test_chain_falls_through),
        CASE(test_chain_passes_a_shut_gate),
        CASE(test_chain_ends_at_an_unclear_outcome),
        CASE(test_chain_all_shut_after_a_refusal),
        CASE(test_drain_releases_what_is_not_sent),
        CASE(test_drain_lets_sent_ones_finish),
        CASE(test_cut_short_holds_what_was_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
