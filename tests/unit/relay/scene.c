/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/relay/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/clock.h"
#include "gateway/core/metrics.h"

struct scene *scene;

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
    if (op->verb == STORE_CLAIM) {
        scene->lease_ms = op->for_ms;
        scene->again_ms = op->again_ms;
        scene->forced = op->force;
        scene->gated = op->gate.len > 0;
        op->generation = scene->generation;
    }
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

void end_delivery(enum outcome_code code)
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

struct destination *make_destination(size_t leaves)
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

int set_up(void **state)
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

int tear_down(void **state)
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

void begin_with(struct waiter *waiter, const char *id, uint64_t budget_ms)
{
    struct wake wake = {0};

    wake_reserve(&wake, slice_from(id), 0);
    wake.delivery_id = wake_keep(&wake, slice_from(id));
    struct shared_wake *shared = shared_wake_new(&wake);
    *waiter = (struct waiter){.told = told};
    relays_begin(&scene->relays, scene->to, shared, clock_steady_us() / 1000 + budget_ms, waiter);
    shared_wake_drop(shared);
}

void begin_again(struct waiter *waiter, const char *id, bool force)
{
    struct wake wake = {0};

    wake_reserve(&wake, slice_from(id), 0);
    wake.delivery_id = wake_keep(&wake, slice_from(id));
    struct shared_wake *shared = shared_wake_new(&wake);
    *waiter = (struct waiter){.told = told};
    relays_begin_again(&scene->relays, scene->to, shared, force, clock_steady_us() / 1000 + 8000,
                       waiter);
    shared_wake_drop(shared);
}

void run_until_told(unsigned waiters)
{
    while (scene->told < waiters)
        uv_run(&scene->loop, UV_RUN_ONCE);
    uv_run(&scene->loop, UV_RUN_NOWAIT);
}

void run_until_over(void)
{
    while (scene->relays.count > 0)
        uv_run(&scene->loop, UV_RUN_ONCE);
    uv_run(&scene->loop, UV_RUN_NOWAIT);
}

void script_store(int a, int b, int c)
{
    scene->store_script[0] = a;
    scene->store_script[1] = b;
    scene->store_script[2] = c;
}

void run_one(enum outcome_code expected, const char *asked)
{
    struct waiter waiter;

    begin_with(&waiter, "id-1", 8000);
    run_until_told(1);
    run_until_over();
    assert_int_equal(scene->told, 1);
    assert_int_equal(scene->outcome.code, expected);
    assert_string_equal(scene->asked, asked);
}
