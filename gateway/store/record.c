/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bucket counts in parts of a token, as many as an hour has milliseconds: then `per_hour` parts
 * come in each millisecond, and nothing is ever rounded.
 */
#include "gateway/store/record.h"

#include <assert.h>

#define TOKEN     INT64_C(3600000)
#define BURST_MAX (INT64_MAX / TOKEN)

/* No sum of three such numbers overflows. */
#define NUMBER_MAX (INT64_MAX / 4)

struct gate_record gate_record_new(void)
{
    return (struct gate_record){.parts = INT64_MAX};
}

static bool is_sound(int64_t number)
{
    return number >= 0 && number <= NUMBER_MAX;
}

bool record_is_sound(const struct record *record)
{
    return record->state <= RECORD_HELD && is_sound(record->since_ms) && is_sound(record->for_ms) &&
           is_sound(record->expires_ms) && is_sound(record->generation);
}

bool gate_record_is_sound(const struct gate_record *gate)
{
    return is_sound(gate->rest_since_ms) && is_sound(gate->rest_for_ms) && gate->parts >= 0 &&
           is_sound(gate->filled_ms);
}

static void answer(struct store_op *op, enum store_answer what, int64_t ms)
{
    op->answer = what;
    op->answer_ms = ms;
}

/* What is left of a state that began at `*since_ms`; 0 when it is over. */
static int64_t time_left(int64_t *since_ms, int64_t for_ms, int64_t now_ms, bool *changed)
{
    if (*since_ms > now_ms) {
        *since_ms = now_ms;
        *changed = true;
    }
    int64_t gone = now_ms - *since_ms;
    return gone < for_ms ? for_ms - gone : 0;
}

static void set_state(struct record *record, enum record_state state, const struct store_op *op,
                      int64_t now_ms, int64_t window_ms)
{
    int64_t for_ms = state == RECORD_CLAIMED || state == RECORD_HELD ? op->for_ms : 0;

    *record = (struct record){
        .state = state,
        .owner = op->owner,
        .since_ms = now_ms,
        .generation = record->generation,
        .after = record->after,
        .for_ms = for_ms,
        .expires_ms = now_ms + for_ms + window_ms,
        .changed = true,
    };
}

static void fill(struct gate_record *gate, const struct pace *pace, int64_t now_ms)
{
    int64_t full = (pace->burst < BURST_MAX ? pace->burst : BURST_MAX) * TOKEN;
    int64_t elapsed = now_ms - gate->filled_ms;

    if (elapsed < 0) {
        elapsed = 0;
        gate->changed = true;
    }
    gate->filled_ms = now_ms;
    if (gate->parts >= full || elapsed > (full - gate->parts) / pace->per_hour)
        gate->parts = full;
    else
        gate->parts += elapsed * pace->per_hour;
}

/* Takes a token where the gate has a bucket. false: the operation is answered. */
static bool pass_gate(struct store_op *op, struct gate_record *gate, int64_t now_ms)
{
    int64_t rest = time_left(&gate->rest_since_ms, gate->rest_for_ms, now_ms, &gate->changed);

    if (rest > 0) {
        answer(op, STORE_RESTING, rest);
        return false;
    }
    if (op->pace.per_hour == 0)
        return true;
    fill(gate, &op->pace, now_ms);
    if (gate->parts < TOKEN) {
        int64_t missing = TOKEN - gate->parts;
        answer(op, STORE_PACED, 1 + (missing - 1) / op->pace.per_hour);
        return false;
    }
    gate->parts -= TOKEN;
    gate->changed = true;
    return true;
}

static enum store_repeats repeats(enum record_state state, bool ours)
{
    if (state == RECORD_HELD)
        return REPEATS_ENDED_HOLD;
    return state == RECORD_CLAIMED && !ours ? REPEATS_ENDED_LEASE : REPEATS_NOTHING;
}

static void claim(struct store_op *op, struct record *record, struct gate_record *gate,
                  int64_t now_ms, int64_t window_ms)
{
    bool ours = slice_eq(record->owner, op->owner);
    int64_t left = time_left(&record->since_ms, record->for_ms, now_ms, &record->changed);

    bool relayed = record->state == RECORD_RELAYED;
    bool taken =
        left > 0 && (record->state == RECORD_HELD || (record->state == RECORD_CLAIMED && !ours));

    if (taken && !op->force) {
        answer(op, record->state == RECORD_HELD ? STORE_HELD : STORE_IN_FLIGHT, left);
        return;
    }
    if (relayed && (op->again_ms == 0 || now_ms - record->since_ms < op->again_ms)) {
        record->expires_ms = now_ms + window_ms;
        record->changed = true;
        answer(op, STORE_RELAYED, now_ms - record->since_ms);
        return;
    }
    if (op->gate.len > 0 && !pass_gate(op, gate, now_ms))
        return;
    op->repeats = taken ? REPEATS_NOTHING : repeats(record->state, ours);
    if (relayed || taken) {
        record->generation++;
        record->after = REPEATS_NOTHING;
    } else if (op->repeats != REPEATS_NOTHING) {
        record->after = op->repeats;
    }
    op->generation = record->generation;
    set_state(record, RECORD_CLAIMED, op, now_ms, window_ms);
    answer(op, STORE_CLAIMED, 0);
}

static void settle(struct store_op *op, struct record *record, int64_t now_ms, int64_t window_ms)
{
    bool ours = slice_eq(record->owner, op->owner);
    int64_t left = time_left(&record->since_ms, record->for_ms, now_ms, &record->changed);
    bool claimed = record->state == RECORD_CLAIMED && left > 0;
    bool relayed = record->state == RECORD_RELAYED;

    answer(op, (claimed || relayed) && !ours ? STORE_LOST : STORE_OK, 0);
    if (op->answer == STORE_OK && !relayed)
        set_state(record, RECORD_RELAYED, op, now_ms, window_ms);
}

static void release(struct store_op *op, struct record *record, int64_t now_ms, int64_t window_ms)
{
    static const enum record_state before[] = {[REPEATS_NOTHING] = RECORD_FREE,
                                               [REPEATS_ENDED_LEASE] = RECORD_CLAIMED,
                                               [REPEATS_ENDED_HOLD] = RECORD_HELD};

    answer(op, STORE_OK, 0);
    if (record->state != RECORD_CLAIMED || !slice_eq(record->owner, op->owner))
        return;
    set_state(record, before[record->after], op, now_ms, window_ms);
    if (record->state == RECORD_FREE)
        return;
    record->owner = (struct slice){0}; /* nobody's, and over */
    record->for_ms = 0;
    record->expires_ms = now_ms + window_ms;
}

static void hold(struct store_op *op, struct record *record, struct gate_record *gate,
                 int64_t now_ms, int64_t window_ms)
{
    bool ours = slice_eq(record->owner, op->owner);
    int64_t left = time_left(&record->since_ms, record->for_ms, now_ms, &record->changed);

    if (record->state != RECORD_RELAYED && (ours || left == 0))
        set_state(record, RECORD_HELD, op, now_ms, window_ms);
    answer(op, STORE_OK, 0);
    if (op->gate.len == 0)
        return;
    int64_t rest = time_left(&gate->rest_since_ms, gate->rest_for_ms, now_ms, &gate->changed);
    if (rest >= op->for_ms)
        return;
    gate->rest_since_ms = now_ms;
    gate->rest_for_ms = op->for_ms;
    gate->changed = true;
}

void record_decide(struct store_op *op, struct record *record, struct gate_record *gate,
                   int64_t now_ms, int64_t window_ms)
{
    op->repeats = REPEATS_NOTHING;
    op->generation = 0;
    if (record->expires_ms > 0 && record->expires_ms <= now_ms)
        *record = (struct record){.changed = true};
    switch (op->verb) {
    case STORE_PING:
        answer(op, STORE_OK, 0);
        return;
    case STORE_CLAIM:
        claim(op, record, gate, now_ms, window_ms);
        return;
    case STORE_SETTLE:
        settle(op, record, now_ms, window_ms);
        return;
    case STORE_RELEASE:
        release(op, record, now_ms, window_ms);
        return;
    case STORE_HOLD:
        hold(op, record, gate, now_ms, window_ms);
        return;
    }
    assert(false); /* no such verb */
}
