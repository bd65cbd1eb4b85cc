/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/contract/redis_store/rig.h"

#include <stdio.h>
#include <string.h>

enum { TICK_MS = 5, LEASE_MS = 60 * 1000, WINDOW_MS = 27 * 3600 * 1000 };

static void on_tick(uv_timer_t *timer)
{
    (void)timer;
}

static void on_answer(struct op *op)
{
    struct store_op *store_op = CONTAINER_OF(op, struct store_op, op);
    struct question *question = CONTAINER_OF(store_op, struct question, op);

    assert_false(question->answered);
    question->answered = true;
    uv_stop(&question->rig->loop);
}

static void on_closed(void *context)
{
    *(bool *)context = true;
}

void rig_open(struct rig *rig, const char *url)
{
    uv_loop_init(&rig->loop);
    rig_open_on(rig, url);
}

void rig_open_on(struct rig *rig, const char *url)
{
    struct err err = {0};

    turn_open(&rig->turn, &rig->loop);
    uv_timer_init(&rig->loop, &rig->tick);
    uv_timer_start(&rig->tick, on_tick, TICK_MS, TICK_MS);
    if (!store_open(slice_from(url), WINDOW_MS, &rig->turn, &rig->store, &err))
        fail_msg("%s", err.text);
}

void rig_close(struct rig *rig)
{
    bool closed = false;

    store_close(rig->store, on_closed, &closed);
    assert_false(closed);
    while (!closed)
        rig_turn(rig);
    turn_close(&rig->turn);
    uv_close((uv_handle_t *)&rig->tick, NULL);
    while (uv_run(&rig->loop, UV_RUN_DEFAULT))
        continue;
    assert_int_equal(uv_loop_close(&rig->loop), 0);
}

void rig_turn(struct rig *rig)
{
    uv_run(&rig->loop, UV_RUN_ONCE);
}

void rig_start(struct rig *rig, struct question *question, const char *key)
{
    *question = (struct question){.rig = rig};
    if (!key) {
        store_ping(rig->store, &question->op, on_answer);
        return;
    }
    snprintf(question->key, sizeof(question->key), "r/t/%s", key);
    question->op.key = slice_from(question->key);
    question->op.owner = SLICE("me");
    question->op.for_ms = LEASE_MS;
    store_claim(rig->store, &question->op, on_answer);
}

void rig_finish(struct rig *rig, const struct question *question)
{
    uint64_t begin = uv_hrtime();

    while (!question->answered) {
        rig_turn(rig);
        assert_true((uv_hrtime() - begin) / 1000000 < PATIENCE_MS);
    }
}

struct store_op rig_ask(struct rig *rig, const char *key)
{
    struct question question;

    rig_start(rig, &question, key);
    assert_false(question.answered);
    rig_finish(rig, &question);
    return question.op;
}

void rig_run(struct question *question,
             void (*start)(struct store *, struct store_op *, void (*)(struct op *)))
{
    question->answered = false;
    start(question->rig->store, &question->op, on_answer);
    rig_finish(question->rig, question);
}

static void turn_until(struct rig *rig, const char *key, const char *text)
{
    uint64_t begin = uv_hrtime();

    for (;;) {
        struct store_op ping = rig_ask(rig, key);
        if (!text && ping.answer == STORE_OK)
            return;
        if (text && ping.answer != STORE_OK && strstr(ping.err.text, text))
            return;
        if ((uv_hrtime() - begin) / 1000000 > PATIENCE_MS)
            fail_msg("waited for \"%s\", last was answer %d, \"%s\"", text ? text : "up",
                     ping.answer, ping.err.text);
        rig_turn(rig);
    }
}

void rig_until_up(struct rig *rig)
{
    turn_until(rig, NULL, NULL);
}

void rig_until_down(struct rig *rig, const char *text)
{
    turn_until(rig, NULL, text);
}

void rig_until_down_at(struct rig *rig, const char *key, const char *text)
{
    turn_until(rig, key, text);
}

void rig_begin(struct server *server, struct rig *rig, const char *const *args)
{
    server_init(server, "fault");
    server_start(server, args);
    rig_open(rig, server->url);
    rig_until_up(rig);
}

void rig_end(struct server *server, struct rig *rig)
{
    rig_close(rig);
    server_stop(server);
}

void rig_expect_failed(const struct store_op *op, enum store_answer answer, const char *text)
{
    assert_int_equal(op->answer, answer);
    if (!strstr(op->err.text, text))
        fail_msg("\"%s\" is not in \"%s\"", text, op->err.text);
}
