/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/contract/threads/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"

enum { TICK_MS = 5, SETTLE_MS = 60, NAMES = 1000, NAME_SIZE = 64 };

static struct buf answer = BUF_INIT(64 * 1024 * 1024);

/* --- the loop --- */

static void on_tick(uv_timer_t *timer)
{
    (void)timer;
}

void rig_turn(struct rig *rig)
{
    uv_run(&rig->loop, UV_RUN_ONCE);
}

static uint64_t now_ms(void)
{
    return uv_hrtime() / 1000000;
}

void rig_wait(struct rig *rig, int64_t ms)
{
    uint64_t until = now_ms() + (uint64_t)ms;

    while (now_ms() < until)
        rig_turn(rig);
}

const char *rig_name(struct rig *rig, const char *name)
{
    static char names[NAMES][NAME_SIZE];
    static unsigned next;
    char *text = names[next++ % NAMES];

    (void)rig;
    snprintf(text, NAME_SIZE, "%s-%u", name, next);
    return text;
}

/* --- opening and closing --- */

static void on_entry(struct instance *at, struct slice thread, const struct threads_entry *entry)
{
    at->told = mem_grow(at->told, (at->count + 1) * sizeof(*at->told));
    at->told[at->count] = (struct told){
        .thread = mem_text(thread),
        .position = mem_text(entry->position),
        .text = mem_text(entry->text),
    };
    at->count++;
    if (at->on_told)
        at->on_told(at, &at->told[at->count - 1]);
}

static void on_appended(void *context, struct slice thread, const struct threads_entry *entries,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        on_entry(context, thread, &entries[i]);
}

static void open_instance(struct rig *rig, struct instance *at, const char *url, int64_t kept_ms)
{
    struct err err = {0};
    const struct threads_settings settings = {
        .kept = KEPT,
        .kept_ms = kept_ms ? kept_ms : LONG_MS,
        .window_ms = WINDOW_MS,
    };

    *at = (struct instance){.rig = rig};
    if (!store_open(slice_from(url), WINDOW_MS, &rig->turn, &at->store, &err))
        fail_msg("%s", err.text);
    at->threads = threads_open(at->store, &settings, &rig->turn, on_appended, at, &err);
    if (!at->threads)
        fail_msg("%s", err.text);
    rig_insist(at, THREADS_APPEND, (struct ask){.thread = "up"});
}

void rig_open(struct rig *rig, const char *url, bool two, int64_t kept_ms)
{
    *rig = (struct rig){0};
    uv_loop_init(&rig->loop);
    turn_open(&rig->turn, &rig->loop);
    uv_timer_init(&rig->loop, &rig->tick);
    uv_timer_start(&rig->tick, on_tick, TICK_MS, TICK_MS);
    rig->a = &rig->instances[0];
    rig->b = &rig->instances[two ? 1 : 0];
    open_instance(rig, rig->a, url, kept_ms);
    if (two)
        open_instance(rig, rig->b, url, kept_ms);
}

static void on_closed(void *context)
{
    *(bool *)context = true;
}

static void close_instance(struct rig *rig, struct instance *at)
{
    bool closed = false;

    threads_close(at->threads, on_closed, &closed);
    assert_false(closed);
    while (!closed)
        rig_turn(rig);
    closed = false;
    store_close(at->store, on_closed, &closed);
    while (!closed)
        rig_turn(rig);
    for (size_t i = 0; i < at->count; i++) {
        free(at->told[i].thread);
        free(at->told[i].position);
        free(at->told[i].text);
    }
    free(at->told);
}

void rig_close(struct rig *rig)
{
    close_instance(rig, rig->a);
    if (rig->b != rig->a)
        close_instance(rig, rig->b);
    turn_close(&rig->turn);
    uv_close((uv_handle_t *)&rig->tick, NULL);
    while (uv_run(&rig->loop, UV_RUN_DEFAULT))
        continue;
    assert_int_equal(uv_loop_close(&rig->loop), 0);
    buf_release(&answer);
}

/* --- questions --- */

static void on_answer(struct op *op)
{
    struct threads_op *threads_op = CONTAINER_OF(op, struct threads_op, op);
    struct question *question = CONTAINER_OF(threads_op, struct question, op);

    assert_false(question->answered);
    question->answered = true;
}

void rig_start(struct instance *at, struct question *question, enum threads_verb verb,
               struct ask ask)
{
    *question = (struct question){.rig = at->rig};
    struct threads_op *op = &question->op;
    op->thread = slice_from(ask.thread);
    op->offer = slice_from(ask.offer);
    op->owner = slice_from(ask.owner);
    op->taker = slice_from(ask.taker);
    op->key = slice_from(ask.key);
    op->instance = slice_from(ask.instance);
    op->after = slice_from(ask.after);
    op->count = ask.count;
    op->for_ms = ask.for_ms;
    while (op->entry_count < 3 && ask.entries[op->entry_count]) {
        op->entries[op->entry_count] = slice_from(ask.entries[op->entry_count]);
        op->entry_count++;
    }
    threads_submit(at->threads, op, verb, on_answer);
    assert_false(question->answered);
}

void rig_finish(struct question *question)
{
    uint64_t begin = now_ms();

    while (!question->answered) {
        rig_turn(question->rig);
        assert_true(now_ms() - begin < PATIENCE_MS);
    }
}

enum threads_answer rig_ask(struct instance *at, enum threads_verb verb, struct ask ask)
{
    struct question question;

    rig_start(at, &question, verb, ask);
    rig_finish(&question);
    threads_op_release(&question.op);
    return question.op.answer;
}

enum threads_answer rig_append(struct instance *at, const char *thread, const char *text)
{
    return rig_ask(at, THREADS_APPEND, (struct ask){.thread = thread, .entries = {text}});
}

void rig_insist(struct instance *at, enum threads_verb verb, struct ask ask)
{
    uint64_t begin = now_ms();

    while (rig_ask(at, verb, ask) != THREADS_DONE) {
        rig_turn(at->rig);
        assert_true(now_ms() - begin < PATIENCE_MS);
    }
}

const char *rig_read(struct instance *at, const char *thread, const char *after, char *end,
                     size_t end_size)
{
    struct question question;
    uint64_t begin = now_ms();

    do {
        assert_true(now_ms() - begin < PATIENCE_MS);
        rig_start(at, &question, THREADS_READ, (struct ask){.thread = thread, .after = after});
        rig_finish(&question);
    } while (question.op.answer != THREADS_DONE);
    assert_true(question.op.end.len > 0);
    if (end)
        snprintf(end, end_size, "%.*s", SLICE_ARG(question.op.end));
    buf_clear(&answer);
    for (size_t i = 0; i < question.op.read_count; i++) {
        const struct threads_entry *entry = &question.op.read[i];
        buf_append(&answer, i > 0 ? SLICE(" ") : SLICE(""));
        buf_append(&answer, entry->text);
        assert_true(i == 0 || threads_compare(entry[-1].position, entry->position) < 0);
    }
    buf_append_char(&answer, '|');
    buf_append(&answer, slice_from(question.op.pending));
    threads_op_release(&question.op);
    return buf_text(&answer);
}

/* --- claims --- */

static void on_claim(struct op *op)
{
    (void)op;
}

static enum store_answer ask_store(struct instance *at, const char *key, const char *owner,
                                   void (*start)(struct store *, struct store_op *,
                                                 void (*)(struct op *)))
{
    struct store_op op = {.key = slice_from(key), .owner = slice_from(owner), .for_ms = LONG_MS};
    uint64_t begin = now_ms();

    start(at->store, &op, on_claim);
    while (op.op.running) {
        rig_turn(at->rig);
        assert_true(now_ms() - begin < PATIENCE_MS);
    }
    return op.answer;
}

enum store_answer rig_claim(struct instance *at, const char *key, const char *owner)
{
    return ask_store(at, key, owner, store_claim);
}

enum store_answer rig_settle(struct instance *at, const char *key, const char *owner)
{
    return ask_store(at, key, owner, store_settle);
}

/* --- following --- */

void rig_follow(struct instance *at, const char *thread, const char *after)
{
    threads_follow(at->threads, slice_from(thread), slice_from(after));
}

void rig_until_told(struct instance *at, size_t count)
{
    uint64_t begin = now_ms();

    while (at->count < count) {
        rig_turn(at->rig);
        if (now_ms() - begin > PATIENCE_MS)
            fail_msg("told of %zu, not of %zu, last \"%s\"", at->count, count,
                     at->count > 0 ? at->told[at->count - 1].text : "");
    }
    rig_wait(at->rig, SETTLE_MS);
    assert_int_equal(at->count, count);
}

const char *rig_told(struct instance *at, const char *thread)
{
    buf_clear(&answer);
    for (size_t i = 0; i < at->count; i++) {
        if (strcmp(at->told[i].thread, thread) != 0)
            continue;
        buf_append(&answer, answer.len > 0 ? SLICE(" ") : SLICE(""));
        buf_append(&answer, slice_from(at->told[i].text));
    }
    return buf_text(&answer);
}
