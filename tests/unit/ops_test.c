/* SPDX-License-Identifier: Apache-2.0 */
/* With a store that answers when told to, and an exchange_answer of the test's own. */
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/ops.h"

enum { ASKERS = 70 };

struct asker {
    struct exchange exchange;
    unsigned answers, status;
    char allow[16], type[64], body[512];
};

struct bench {
    struct store store; /* first member */
    uv_loop_t loop;
    uv_timer_t tick;
    struct turn turn;
    struct ops ops;
    struct store_op *asked; /* waits for its answer */
    unsigned pings, told;
    bool closed;
    struct asker askers[ASKERS];
};

void exchange_answer(struct exchange *exchange, const struct http_answer *answer)
{
    struct asker *asker = CONTAINER_OF(exchange, struct asker, exchange);

    asker->answers++;
    asker->status = answer->status;
    snprintf(asker->allow, sizeof(asker->allow), "%s", answer->allow ? answer->allow : "");
    snprintf(asker->type, sizeof(asker->type), "%s", answer->content_type);
    snprintf(asker->body, sizeof(asker->body), "%.*s", SLICE_ARG(answer->body));
    memset(exchange, 0xa5, sizeof(*exchange)); /* it is gone */
}

static void submit(struct store *store, struct store_op *op)
{
    struct bench *bench = CONTAINER_OF(store, struct bench, store);

    assert_null(bench->asked);
    assert_int_equal(op->verb, STORE_PING);
    bench->asked = op;
    bench->pings++;
}

static const struct store_impl fake_impl = {.submit = submit};

static void on_tick(uv_timer_t *timer)
{
    (void)timer;
}

static void on_closed(void *context)
{
    ((struct bench *)context)->closed = true;
}

static int set_up(void **state)
{
    static struct bench bench;

    bench = (struct bench){.store.impl = &fake_impl};
    for (size_t i = 0; i < ASKERS; i++)
        bench.askers[i].exchange.method = SLICE("GET");
    uv_loop_init(&bench.loop);
    turn_open(&bench.turn, &bench.loop);
    uv_timer_init(&bench.loop, &bench.tick);
    uv_timer_start(&bench.tick, on_tick, 5, 5);
    ops_open(&bench.ops, &bench.turn, &bench.store);
    *state = &bench;
    return 0;
}

static void answer_ping(struct bench *bench, enum store_answer answer, const char *why)
{
    struct store_op *op = bench->asked;

    bench->asked = NULL;
    op->answer = answer;
    err_set(&op->err, "%s", why);
    op_finish(&op->op, &bench->turn);
    for (int i = 0; i < 3; i++)
        uv_run(&bench->loop, UV_RUN_NOWAIT);
}

static int tear_down(void **state)
{
    struct bench *bench = *state;

    if (!bench->ops.closed)
        ops_close(&bench->ops, on_closed, bench);
    if (bench->asked)
        answer_ping(bench, STORE_OK, "");
    while (!bench->closed)
        uv_run(&bench->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&bench->tick, NULL);
    turn_close(&bench->turn);
    uv_run(&bench->loop, UV_RUN_DEFAULT);
    metrics_free();
    return uv_loop_close(&bench->loop);
}

static void expect(const struct asker *asker, unsigned status, const char *body)
{
    assert_int_equal(asker->answers, 1);
    assert_int_equal(asker->status, status);
    assert_string_equal(asker->body, body);
}

static void test_livez(void **state)
{
    struct bench *bench = *state;

    ops_livez(&bench->ops, &bench->askers[0].exchange);
    expect(&bench->askers[0], 200, "{\"status\":\"ok\"}");
    assert_string_equal(bench->askers[0].type, "application/json");
    assert_int_equal(bench->pings, 0);
}

static void test_methods(void **state)
{
    struct bench *bench = *state;

    bench->askers[0].exchange.method = SLICE("HEAD");
    ops_livez(&bench->ops, &bench->askers[0].exchange);
    assert_int_equal(bench->askers[0].status, 200);
    for (size_t i = 1; i < 4; i++)
        bench->askers[i].exchange.method = SLICE("POST");
    ops_livez(&bench->ops, &bench->askers[1].exchange);
    ops_readyz(&bench->ops, &bench->askers[2].exchange);
    ops_metrics(&bench->ops, &bench->askers[3].exchange);
    for (size_t i = 1; i < 4; i++) {
        assert_int_equal(bench->askers[i].status, 405);
        assert_string_equal(bench->askers[i].allow, "GET, HEAD");
        assert_non_null(strstr(bench->askers[i].body, "\"code\":\"method_not_allowed\""));
    }
}

static void test_ready_shares_a_ping(void **state)
{
    struct bench *bench = *state;

    for (size_t i = 0; i < 3; i++)
        ops_readyz(&bench->ops, &bench->askers[i].exchange);
    uv_run(&bench->loop, UV_RUN_NOWAIT);
    assert_int_equal(bench->pings, 1);
    assert_int_equal(bench->askers[0].answers, 0);
    answer_ping(bench, STORE_OK, "");
    for (size_t i = 0; i < 3; i++)
        expect(&bench->askers[i], 200, "{\"status\":\"ok\"}");
    ops_readyz(&bench->ops, &bench->askers[3].exchange);
    assert_int_equal(bench->pings, 2); /* each round asks anew */
}

static void test_store_fails(void **state)
{
    struct bench *bench = *state;

    ops_readyz(&bench->ops, &bench->askers[0].exchange);
    answer_ping(bench, STORE_UNSURE, "no \"store\"");
    expect(&bench->askers[0], 503,
           "{\"status\":\"store_unavailable\",\"message\":\"no \\\"store\\\"\"}");
    ops_readyz(&bench->ops, &bench->askers[1].exchange);
    answer_ping(bench, STORE_UNSURE, "\xff");
    expect(&bench->askers[1], 503, "{\"status\":\"store_unavailable\"}");
}

static void test_slow_store(void **state)
{
    struct bench *bench = *state;

    ops_readyz(&bench->ops, &bench->askers[0].exchange);
    while (bench->askers[0].answers == 0)
        uv_run(&bench->loop, UV_RUN_ONCE);
    assert_int_equal(bench->askers[0].status, 503);
    assert_non_null(strstr(bench->askers[0].body, "in time"));
    ops_readyz(&bench->ops, &bench->askers[1].exchange);
    assert_int_equal(bench->pings, 1); /* the first one is still out */
    answer_ping(bench, STORE_OK, "");
    expect(&bench->askers[1], 200, "{\"status\":\"ok\"}");
    assert_int_equal(bench->askers[0].answers, 1);
}

static void test_too_many_wait(void **state)
{
    struct bench *bench = *state;
    unsigned answered = 0;

    for (size_t i = 0; i < ASKERS; i++)
        ops_readyz(&bench->ops, &bench->askers[i].exchange);
    for (size_t i = 0; i < ASKERS; i++)
        answered += bench->askers[i].answers;
    assert_int_equal(answered, ASKERS - 64);
    assert_int_equal(bench->askers[ASKERS - 1].status, 503);
    answer_ping(bench, STORE_OK, "");
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(bench->askers[i].status, 200);
}

static void test_draining(void **state)
{
    struct bench *bench = *state;

    ops_readyz(&bench->ops, &bench->askers[0].exchange);
    bench->ops.draining = true;
    ops_readyz(&bench->ops, &bench->askers[1].exchange);
    expect(&bench->askers[1], 503, "{\"status\":\"draining\"}");
    answer_ping(bench, STORE_OK, "");
    expect(&bench->askers[0], 503, "{\"status\":\"draining\"}");
    ops_livez(&bench->ops, &bench->askers[2].exchange);
    assert_int_equal(bench->askers[2].status, 200); /* lives on */
}

static void test_close_waits_for_the_ping(void **state)
{
    struct bench *bench = *state;

    ops_readyz(&bench->ops, &bench->askers[0].exchange);
    ops_close(&bench->ops, on_closed, bench);
    expect(&bench->askers[0], 503, "{\"status\":\"draining\"}");
    for (int i = 0; i < 5; i++)
        uv_run(&bench->loop, UV_RUN_ONCE);
    assert_false(bench->closed);
    answer_ping(bench, STORE_OK, "");
    assert_true(bench->closed);
}

static void on_store_answered(void *owner)
{
    ((struct bench *)owner)->told++;
}

static void await_ping(struct bench *bench)
{
    while (!bench->asked)
        uv_run(&bench->loop, UV_RUN_ONCE);
}

static void test_first_answer(void **state)
{
    struct bench *bench = *state;

    ops_await_store(&bench->ops, on_store_answered, bench);
    for (unsigned i = 1; i <= 3; i++) {
        await_ping(bench);
        assert_int_equal(bench->pings, i);
        answer_ping(bench, STORE_DOWN, "not yet");
    }
    assert_int_equal(bench->told, 0);
    await_ping(bench);
    answer_ping(bench, STORE_OK, "");
    assert_int_equal(bench->told, 1);
    for (int i = 0; i < 10; i++) /* longer than it takes to ask again */
        uv_run(&bench->loop, UV_RUN_ONCE);
    assert_int_equal(bench->pings, 4);
    assert_int_equal(bench->told, 1);
}

static void test_no_first_answer(void **state)
{
    struct bench *bench = *state;

    ops_await_store(&bench->ops, on_store_answered, bench);
    while (bench->told == 0)
        uv_run(&bench->loop, UV_RUN_ONCE);
    assert_int_equal(bench->pings, 1); /* and still the only one */
    answer_ping(bench, STORE_OK, "");
    assert_int_equal(bench->told, 1);
}

static void test_closed_before_the_first_answer(void **state)
{
    struct bench *bench = *state;

    ops_await_store(&bench->ops, on_store_answered, bench);
    ops_close(&bench->ops, on_closed, bench);
    answer_ping(bench, STORE_OK, "");
    assert_true(bench->closed);
    assert_int_equal(bench->told, 0);
}

static void test_metrics(void **state)
{
    struct bench *bench = *state;

    ops_metrics(&bench->ops, &bench->askers[0].exchange);
    assert_int_equal(bench->askers[0].status, 200);
    assert_string_equal(bench->askers[0].type, "text/plain; version=0.0.4; charset=utf-8");
    assert_non_null(strstr(bench->askers[0].body, "# HELP wakegate_"));
}

static unsigned long observed_stalls(void)
{
    struct buf text = BUF_INIT(1 << 20);
    unsigned long count = 0;

    metrics_write(&text);
    const char *at = strstr(buf_text(&text), "\nwakegate_loop_stall_seconds_count ");
    assert_non_null(at);
    count = strtoul(strchr(at, ' '), NULL, 10);
    buf_release(&text);
    return count;
}

static void test_meter(void **state)
{
    struct bench *bench = *state;
    unsigned long before = observed_stalls();

    for (uint64_t begin = uv_hrtime(); uv_hrtime() - begin < 250 * 1000000;)
        uv_run(&bench->loop, UV_RUN_ONCE);
    assert_true(observed_stalls() > before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_livez, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_methods, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ready_shares_a_ping, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_store_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_slow_store, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_many_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_draining, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_close_waits_for_the_ping, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_first_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_first_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_closed_before_the_first_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_metrics, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_meter, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
