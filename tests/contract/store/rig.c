/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/contract/store/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gateway/core/metrics.h"

enum { TICK_MS = 5, PATIENCE_MS = 30 * 1000 };

static void on_tick(uv_timer_t *timer)
{
    (void)timer;
}

static void on_answer(struct op *op)
{
    struct store_op *store_op = CONTAINER_OF(op, struct store_op, op);
    struct question *question = CONTAINER_OF(store_op, struct question, op);

    question->answered = true;
    uv_stop(&question->rig->loop); /* whoever turns it looks for answers */
}

static void on_closed(void *context)
{
    *(bool *)context = true;
}

static int64_t steady_ms(void)
{
    return (int64_t)(uv_hrtime() / 1000000);
}

void rig_turn(struct rig *rig)
{
    uv_run(&rig->loop, UV_RUN_ONCE);
}

void rig_wait(struct rig *rig, int64_t ms)
{
    for (int64_t begin = steady_ms(); steady_ms() - begin <= ms;)
        rig_turn(rig);
}

void rig_open(struct rig *rig, const char *url, int64_t window_ms)
{
    static unsigned count;
    struct err err = {0};

    *rig = (struct rig){.url = url};
    snprintf(rig->prefix, sizeof(rig->prefix), "r%ld-%u", (long)getpid(), count++);
    uv_loop_init(&rig->loop);
    turn_open(&rig->turn, &rig->loop);
    uv_timer_init(&rig->loop, &rig->tick);
    uv_timer_start(&rig->tick, on_tick, TICK_MS, TICK_MS);
    if (!store_open(slice_from(url), window_ms, &rig->turn, &rig->store, &err))
        fail_msg("%s", err.text);
    int64_t begin = steady_ms();
    struct store_op ping = rig_ask(rig, STORE_PING, (struct ask){0});
    while (ping.answer != STORE_OK && steady_ms() - begin < PATIENCE_MS) {
        rig_wait(rig, SHORT_MS);
        ping = rig_ask(rig, STORE_PING, (struct ask){0});
    }
    if (ping.answer != STORE_OK)
        fail_msg("%s", ping.err.text);
}

void rig_close(struct rig *rig)
{
    bool closed = false;

    store_close(rig->store, on_closed, &closed);
    while (!closed)
        rig_turn(rig);
    turn_close(&rig->turn);
    uv_close((uv_handle_t *)&rig->tick, NULL);
    while (uv_run(&rig->loop, UV_RUN_DEFAULT))
        continue;
    assert_int_equal(uv_loop_close(&rig->loop), 0);
}

static struct slice name(char *text, size_t size, const struct rig *rig, const char *what)
{
    if (!what)
        return (struct slice){0};
    snprintf(text, size, "%s/%s", rig->prefix, what);
    return slice_from(text);
}

void rig_start(struct rig *rig, struct question *question, enum store_verb verb, struct ask ask)
{
    static void (*const start[])(struct store *, struct store_op *, void (*)(struct op *)) = {
        [STORE_PING] = store_ping,       [STORE_CLAIM] = store_claim, [STORE_SETTLE] = store_settle,
        [STORE_RELEASE] = store_release, [STORE_HOLD] = store_hold,
    };

    question->rig = rig;
    question->answered = false;
    snprintf(question->owner, sizeof(question->owner), "%s", ask.owner ? ask.owner : "");
    question->op = (struct store_op){
        .key = name(question->key, sizeof(question->key), rig, ask.key),
        .gate = name(question->gate, sizeof(question->gate), rig, ask.gate),
        .owner = slice_from(question->owner),
        .for_ms = ask.for_ms,
        .pace = ask.pace,
        .again_ms = ask.again_ms,
        .force = ask.force,
    };
    start[verb](rig->store, &question->op, on_answer);
}

void rig_finish(struct rig *rig, const struct question *question)
{
    int64_t begin = steady_ms();

    while (!question->answered) {
        rig_turn(rig);
        assert_true(steady_ms() - begin < PATIENCE_MS);
    }
}

struct store_op rig_ask(struct rig *rig, enum store_verb verb, struct ask ask)
{
    struct question question = {0};

    rig_start(rig, &question, verb, ask);
    assert_false(question.answered); /* never before the call returned */
    rig_finish(rig, &question);
    return question.op;
}

enum store_answer rig_claim(struct rig *rig, const char *key, const char *owner, int64_t for_ms)
{
    struct ask ask = {.key = key, .owner = owner, .for_ms = for_ms};

    return rig_ask(rig, STORE_CLAIM, ask).answer;
}

enum store_answer rig_settle(struct rig *rig, const char *key, const char *owner)
{
    return rig_ask(rig, STORE_SETTLE, (struct ask){.key = key, .owner = owner}).answer;
}

enum store_answer rig_release(struct rig *rig, const char *key, const char *owner)
{
    return rig_ask(rig, STORE_RELEASE, (struct ask){.key = key, .owner = owner}).answer;
}

enum store_answer rig_hold(struct rig *rig, const char *key, const char *owner, int64_t for_ms)
{
    struct ask ask = {.key = key, .owner = owner, .for_ms = for_ms};

    return rig_ask(rig, STORE_HOLD, ask).answer;
}
