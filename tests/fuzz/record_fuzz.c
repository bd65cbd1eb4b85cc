/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of a claim: any operations by three owners, with a clock that goes both ways, starting
 * from nothing or from any numbers that a damaged file might hold.
 *
 * Whatever happens: no time that is answered is negative or longer than what was asked for, and
 * between two settlements that count, by different owners, the window or a stated exception lies.
 *
 * Each line is one operation: its verb's letter (c s r h; a: claim again, f: by force), the
 * owner's, and by how many milliseconds the clock moves. A first line of numbers is the record and
 * the gate to begin with.
 */
#include "tests/fuzz/fuzz.h"

#include "gateway/store/record.h"

enum { NUMBERS = 9 };
#define WINDOW_MS INT64_C(172800000)
#define FOR_MS    INT64_C(360000)
#define AGAIN_MS  INT64_C(60000)

struct world {
    struct record record;
    struct gate_record gate;
    int64_t now_ms;
    bool damaged;    /* it did not begin with nothing */
    char settled_by; /* whose settlement stands; 0: nobody's */
    char owners[3];
};

static bool read_number(struct slice text, int64_t *number)
{
    const bool negative = slice_starts(text, SLICE("-"));
    uint64_t size = 0;

    if (!slice_number(slice_from_at(text, negative), &size) || size > INT64_MAX)
        return false;
    *number = negative ? -(int64_t)size - 1 : (int64_t)size; /* so that INT64_MIN can be said */
    return true;
}

static bool read_numbers(struct slice line, int64_t numbers[static NUMBERS])
{
    struct slice word;

    for (size_t i = 0; i < NUMBERS; i++) {
        slice_cut(line, ' ', &word, &line);
        if (!read_number(word, &numbers[i]))
            return false;
    }
    return true;
}

static void begin(struct world *world, struct slice line)
{
    const struct gate_record gate = world->gate;
    int64_t numbers[NUMBERS];

    if (!read_numbers(line, numbers))
        return;
    world->damaged = true;
    world->record = (struct record){.state = (enum record_state)(numbers[0] & 3),
                                    .owner = {.data = world->owners, .len = 1},
                                    .since_ms = numbers[1],
                                    .for_ms = numbers[2],
                                    .expires_ms = numbers[3],
                                    .generation = numbers[8]};
    world->gate = (struct gate_record){.rest_since_ms = numbers[4],
                                       .rest_for_ms = numbers[5],
                                       .parts = numbers[6],
                                       .filled_ms = numbers[7]};
    if (record_is_sound(&world->record) && gate_record_is_sound(&world->gate))
        return;
    world->record = (struct record){0}; /* a store refuses it */
    world->gate = gate;
    world->damaged = false;
}

/* What is relayed is claimed only where that is meant, and then under a new generation. */
static void check_claimed(struct world *world, const struct store_op *op, char owner,
                          const struct record *before)
{
    assert(world->record.state == RECORD_CLAIMED && world->record.owner.data[0] == owner);
    assert(op->generation == world->record.generation && op->generation >= before->generation);
    if (before->state != RECORD_RELAYED)
        return;
    assert(op->again_ms > 0 && op->generation == before->generation + 1);
    world->settled_by = 0;
}

static void check_answer(struct world *world, const struct store_op *op, char owner,
                         const struct record *before)
{
    assert(op->answer < STORE_DOWN && op->answer_ms >= 0);
    if (!world->damaged && op->answer != STORE_RELAYED)
        assert(op->answer_ms <= FOR_MS * 10);
    if (op->verb == STORE_CLAIM && op->answer == STORE_CLAIMED)
        check_claimed(world, op, owner, before);
    if (op->verb == STORE_SETTLE && op->answer == STORE_OK) {
        assert(world->record.state == RECORD_RELAYED);
        assert(world->damaged || world->settled_by == 0 || world->settled_by == owner);
        world->settled_by = owner;
    }
    if (op->verb == STORE_RELEASE || op->verb == STORE_HOLD) /* never undo a settlement */
        assert(before->state != RECORD_RELAYED || world->record.state == RECORD_RELAYED);
}

static void operate(struct world *world, struct slice line)
{
    static const char letters[] = "csrhaf";
    static const enum store_verb verbs[] = {STORE_CLAIM, STORE_SETTLE, STORE_RELEASE,
                                            STORE_HOLD,  STORE_CLAIM,  STORE_CLAIM};
    const unsigned letter = fuzz_byte(&line), who = fuzz_byte(&line) % 3;
    const char *verb = letter ? strchr(letters, (int)letter) : NULL;
    int64_t step = 0;

    if (!verb)
        return;
    if (read_number(line, &step) && step > -WINDOW_MS * 2 && step < WINDOW_MS * 2 &&
        world->now_ms + step > 0)
        world->now_ms += step;
    struct record before = world->record;
    if (before.expires_ms <= world->now_ms) { /* forgotten, as it should be */
        world->settled_by = 0;
        before = (struct record){.state = RECORD_FREE};
    }
    struct store_op op = {.verb = verbs[verb - letters],
                          .again_ms = *verb == 'a' ? AGAIN_MS : 0,
                          .force = *verb == 'f',
                          .owner = {.data = &world->owners[who], .len = 1},
                          .gate = SLICE("gate"),
                          .for_ms = FOR_MS,
                          .pace = {.per_hour = 3600, .burst = 2}};
    record_decide(&op, &world->record, &world->gate, world->now_ms, WINDOW_MS);
    check_answer(world, &op, world->owners[who], &before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world world = {
        .gate = gate_record_new(), .now_ms = INT64_C(1794474000123), .owners = {'a', 'b', 'c'}};
    struct slice input = fuzz_slice(data, size);

    begin(&world, fuzz_line(&input));
    for (int i = 0; input.len > 0 && i < 200; i++)
        operate(&world, fuzz_line(&input));
    return 0;
}
