/* SPDX-License-Identifier: Apache-2.0 */
/* The relay's steps against a scripted store and a scripted target. */
#include "tests/unit/relay/scene.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/clock.h"
#include "gateway/core/metrics.h"

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

static void test_again_is_a_generation_of_its_own(void **state)
{
    struct waiter waiter;

    (void)state;
    scene->generation = 3;
    script_store(STORE_CLAIMED, STORE_OK, 0);
    scene->target_script[0] = STAY_OPEN;
    begin_again(&waiter, "id-1", false);
    while (!scene->open_delivery)
        uv_run(&scene->loop, UV_RUN_ONCE);
    assert_true(scene->again_ms > 0 && !scene->forced && scene->gated);
    assert_string_equal(scene->open_delivery->key.data, "id-1-one-3");
    end_delivery(OUTCOME_ACCEPTED);
    run_until_over();
    assert_int_equal(scene->outcome.code, OUTCOME_ACCEPTED);
    assert_int_equal(scene->outcome.generation, 3);
    assert_string_equal(scene->asked, "claim deliver settle");
}

static void test_again_does_not_join(void **state)
{
    struct waiter first, second, third;

    (void)state;
    script_store(STORE_CLAIMED, STORE_CLAIMED, STORE_OK);
    scene->target_script[0] = STAY_OPEN;
    begin_with(&first, "id-1", 8000);
    while (!scene->open_delivery)
        uv_run(&scene->loop, UV_RUN_ONCE);
    assert_true(scene->again_ms == 0 && !scene->forced);
    struct delivery *running = scene->open_delivery;
    begin_again(&second, "id-1", false);
    assert_int_equal(scene->told, 1);
    assert_int_equal(scene->outcome.code, OUTCOME_IN_FLIGHT);
    assert_string_equal(scene->asked, "claim deliver");

    scene->target_script[1] = OUTCOME_ACCEPTED;
    begin_again(&third, "id-1", true);
    run_until_told(2);
    assert_true(scene->forced && !scene->gated);
    assert_int_equal(scene->outcome.code, OUTCOME_ACCEPTED);
    assert_string_equal(scene->asked, "claim deliver claim deliver settle");
    scene->store_script[3] = STORE_LOST;
    scene->open_delivery = running;
    end_delivery(OUTCOME_ACCEPTED);
    run_until_told(3);
    run_until_over();
    assert_int_equal(scene->outcome.code, OUTCOME_ACCEPTED);
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
        CASE(test_again_is_a_generation_of_its_own),
        CASE(test_again_does_not_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
