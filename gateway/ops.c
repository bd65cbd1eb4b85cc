/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ready means that the store did something just now. All who ask at the same time wait for the same
 * ping; a ping that takes too long answers them with 503 but stays the only one, so that a store
 * that hangs is not asked again and again.
 */
#include "gateway/ops.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>

#include "gateway/core/buf.h"
#include "gateway/core/clock.h"

enum {
    READY_WITHIN_MS = 2000,
    WAITING_MAX = 64,
    METER_MS = 100,
    LOOK_MS = 10, /* a store that is being connected to refuses at once */
    LOOKS_MAX = 100,
    METRICS_BYTES = 16 * 1024 * 1024,
};

static const char as_json[] = "application/json";

static void answer_status(struct exchange *exchange, unsigned status, const char *text,
                          const char *message)
{
    /* A message that is no UTF-8 is left out. */
    json_t *body = json_pack("{s:s, s:o*}", "status", text, "message", json_string(message));
    char *dump = json_dumps(body, JSON_COMPACT);

    assert(dump);
    exchange_answer(
        exchange,
        &(struct http_answer){.status = status, .content_type = as_json, .body = slice_from(dump)});
    free(dump);
    json_decref(body);
}

/* false: the exchange is answered. */
static bool is_read(struct exchange *exchange)
{
    if (slice_eq(exchange->method, SLICE("GET")) || slice_eq(exchange->method, SLICE("HEAD")))
        return true;
    exchange_answer(exchange, &(struct http_answer){
                                  .status = 405,
                                  .content_type = as_json,
                                  .allow = "GET, HEAD",
                                  .body = SLICE("{\"code\":\"method_not_allowed\","
                                                "\"message\":\"GET and HEAD are understood\"}"),
                              });
    return false;
}

void ops_livez(struct ops *ops, struct exchange *exchange)
{
    (void)ops;
    if (is_read(exchange))
        answer_status(exchange, 200, "ok", NULL);
}

void ops_metrics(struct ops *ops, struct exchange *exchange)
{
    struct buf text = BUF_INIT(METRICS_BYTES);

    (void)ops;
    if (!is_read(exchange))
        return;
    metrics_write(&text);
    exchange_answer(exchange, &(struct http_answer){
                                  .status = text.overflow ? 500 : 200,
                                  .content_type = "text/plain; version=0.0.4; charset=utf-8",
                                  .body = buf_slice(&text),
                              });
    buf_release(&text);
}

/* ---- ready */

/* `problem` NULL: the store works. */
static void answer_ready(const struct ops *ops, struct exchange *exchange, const char *problem)
{
    const char *warning = ops->store->warning.text;

    if (ops->draining)
        answer_status(exchange, 503, "draining", NULL);
    else if (problem)
        answer_status(exchange, 503, "store_unavailable", problem);
    else
        answer_status(exchange, 200, "ok", warning[0] ? warning : NULL);
}

static void answer_waiting(struct ops *ops, const char *problem)
{
    struct exchange *waiting = ops->waiting;

    ops->waiting = NULL;
    ops->waiting_count = 0;
    deadline_clear(&ops->deadline);
    while (waiting) {
        struct exchange *next = waiting->context;
        waiting->context = NULL;
        answer_ready(ops, waiting, problem);
        waiting = next;
    }
}

static void close_handles(struct ops *ops);

static void end_await(struct ops *ops)
{
    void (*answered)(void *owner) = ops->answered;

    if (!answered)
        return;
    ops->answered = NULL;
    deadline_clear(&ops->look);
    answered(ops->owner);
}

static void on_ping(struct op *op)
{
    struct store_op *ping = CONTAINER_OF(op, struct store_op, op);
    struct ops *ops = CONTAINER_OF(ping, struct ops, ping);

    answer_waiting(ops, ping->answer == STORE_OK ? NULL : ping->err.text);
    if (ping->answer == STORE_OK)
        end_await(ops);
    if (ops->closed)
        close_handles(ops);
}

static void on_deadline(struct deadline *deadline)
{
    struct ops *ops = CONTAINER_OF(deadline, struct ops, deadline);

    answer_waiting(ops, "the store has not answered in time");
}

static void begin_ping(struct ops *ops)
{
    if (ops->ping.op.running)
        return;
    ops->ping = (struct store_op){0};
    store_ping(ops->store, &ops->ping, on_ping);
}

void ops_readyz(struct ops *ops, struct exchange *exchange)
{
    if (!is_read(exchange))
        return;
    if (ops->draining) {
        answer_ready(ops, exchange, NULL);
        return;
    }
    if (ops->waiting_count == WAITING_MAX) {
        answer_ready(ops, exchange, "too many wait for the store's answer");
        return;
    }
    if (!ops->waiting)
        deadline_set(&ops->deadline, READY_WITHIN_MS);
    exchange->context = ops->waiting;
    ops->waiting = exchange;
    ops->waiting_count++;
    begin_ping(ops);
}

/* ---- the store's first answer */

static void on_look(struct deadline *deadline)
{
    struct ops *ops = CONTAINER_OF(deadline, struct ops, look);

    if (ops->looks++ == LOOKS_MAX) {
        end_await(ops);
        return;
    }
    begin_ping(ops);
    deadline_set(deadline, LOOK_MS);
}

void ops_await_store(struct ops *ops, void (*answered)(void *owner), void *owner)
{
    ops->answered = answered;
    ops->owner = owner;
    on_look(&ops->look);
}

/* ---- the meter of the loop's stalls */

static void on_meter(uv_timer_t *meter)
{
    struct ops *ops = CONTAINER_OF(meter, struct ops, meter);
    uint64_t now_us = clock_steady_us(), due_us = ops->met_us + METER_MS * 1000;

    histogram_observe(ops->stalls, now_us > due_us ? now_us - due_us : 0);
    ops->met_us = now_us;
}

/* ---- opening and closing */

void ops_open(struct ops *ops, struct turn *turn, struct store *store)
{
    *ops = (struct ops){.turn = turn, .store = store, .met_us = clock_steady_us()};
    ops->stalls = metrics_histogram(METRIC_STALL_SECONDS, NULL, NULL);
    deadline_open(&ops->deadline, turn->loop, on_deadline);
    deadline_open(&ops->look, turn->loop, on_look);
    uv_timer_init(turn->loop, &ops->meter);
    uv_timer_start(&ops->meter, on_meter, METER_MS, METER_MS);
    uv_unref((uv_handle_t *)&ops->meter);
}

void ops_close(struct ops *ops, void (*closed)(void *context), void *context)
{
    ops->draining = true;
    ops->answered = NULL;
    deadline_clear(&ops->look);
    ops->closed = closed;
    ops->context = context;
    answer_waiting(ops, NULL);
    if (!ops->ping.op.running)
        close_handles(ops);
}

static void meter_closed(uv_handle_t *handle)
{
    struct ops *ops = CONTAINER_OF(handle, struct ops, meter);

    ops->closed(ops->context);
}

static void look_closed(struct deadline *deadline)
{
    struct ops *ops = CONTAINER_OF(deadline, struct ops, look);

    uv_close((uv_handle_t *)&ops->meter, meter_closed);
}

static void deadline_closed(struct deadline *deadline)
{
    struct ops *ops = CONTAINER_OF(deadline, struct ops, deadline);

    deadline_close(&ops->look, look_closed);
}

static void close_handles(struct ops *ops)
{
    deadline_close(&ops->deadline, deadline_closed);
}
