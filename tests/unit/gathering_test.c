/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cases of data/gathering.json, on a clock that the test cranks: deadlines are a list here, and
 * no time passes but between the steps. The store is the real rules (record.h) over a small table;
 * the target notes what it gets and answers when a step says so. The same cases are gone through
 * end to end by e2e/gathering.test.mjs.
 */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/clock.h"
#include "gateway/core/metrics.h"
#include "gateway/store/record.h"
#include "relay/relays.h"

enum { MOST = LIMIT_GATHERED + 16, START_MS = 10000000, HOUR_MS = 3600 * 1000, QUIET_MS = 400 };

struct kept {
    char key[RELAY_KEY_SIZE], owner[RELAY_OWNER_SIZE];
    struct record record;
};

struct sender {
    struct waiter waiter;
    char id[8];
    uint64_t until_ms;
    unsigned told;
    enum outcome_code code;
};

struct scene {
    uv_loop_t loop;
    struct turn turn;
    struct store store;
    struct world world;
    struct relays relays;
    struct target targets[2];
    struct destination *to;
    uint64_t now_ms;
    struct deadline *deadlines[MOST], *closing[MOST];
    uint64_t due_ms[MOST]; /* 0: not set */
    struct kept kept[MOST];
    size_t kept_count;
    struct gate_record gates[2];
    struct delivery *open;
    struct sender senders[MOST];
    size_t sender_count;
    json_t *deliveries; /* as they were made */
};

static struct scene *scene;

/* --- the clock --- */

uint64_t __wrap_clock_steady_us(void);
void __wrap_deadline_open(struct deadline *deadline, uv_loop_t *loop,
                          void (*due)(struct deadline *deadline));
void __wrap_deadline_set(struct deadline *deadline, uint64_t ms);
void __wrap_deadline_clear(struct deadline *deadline);
void __wrap_deadline_close(struct deadline *deadline, void (*closed)(struct deadline *deadline));

uint64_t __wrap_clock_steady_us(void)
{
    return scene->now_ms * 1000;
}

static size_t place_of(const struct deadline *deadline)
{
    size_t at = 0;

    while (at < MOST && scene->deadlines[at] != deadline)
        at++;
    assert_true(at < MOST);
    return at;
}

void __wrap_deadline_open(struct deadline *deadline, uv_loop_t *loop,
                          void (*due)(struct deadline *deadline))
{
    (void)loop;
    size_t at = place_of(NULL);
    scene->deadlines[at] = deadline;
    scene->due_ms[at] = 0;
    deadline->due = due;
}

void __wrap_deadline_set(struct deadline *deadline, uint64_t ms)
{
    scene->due_ms[place_of(deadline)] = scene->now_ms + ms;
}

void __wrap_deadline_clear(struct deadline *deadline)
{
    scene->due_ms[place_of(deadline)] = 0;
}

void __wrap_deadline_close(struct deadline *deadline, void (*closed)(struct deadline *deadline))
{
    size_t at = place_of(deadline);

    deadline->closed = closed;
    scene->deadlines[at] = NULL;
    for (at = 0; scene->closing[at]; at++)
        continue;
    scene->closing[at] = deadline;
}

static void settle_down(void)
{
    for (int i = 0; i < 3; i++)
        uv_run(&scene->loop, UV_RUN_NOWAIT);
    for (size_t i = 0; i < MOST; i++)
        if (scene->closing[i]) {
            scene->closing[i]->closed(scene->closing[i]);
            scene->closing[i] = NULL;
        }
}

static size_t earliest(void)
{
    size_t found = MOST;

    for (size_t i = 0; i < MOST; i++)
        if (scene->deadlines[i] && scene->due_ms[i] > 0 &&
            (found == MOST || scene->due_ms[i] < scene->due_ms[found]))
            found = i;
    return found;
}

static void advance_to(uint64_t now_ms)
{
    settle_down();
    for (size_t at; (at = earliest()) < MOST && scene->due_ms[at] <= now_ms;) {
        scene->now_ms = scene->due_ms[at];
        scene->due_ms[at] = 0;
        scene->deadlines[at]->due(scene->deadlines[at]);
        settle_down();
    }
    scene->now_ms = now_ms;
}

/* --- the store --- */

static struct kept *kept_for(struct slice key)
{
    for (size_t i = 0; i < scene->kept_count; i++)
        if (slice_eq(slice_from(scene->kept[i].key), key))
            return &scene->kept[i];
    assert_true(scene->kept_count < MOST);
    struct kept *kept = &scene->kept[scene->kept_count++];
    snprintf(kept->key, sizeof(kept->key), "%.*s", SLICE_ARG(key));
    return kept;
}

static void memory_submit(struct store *store, struct store_op *op)
{
    struct kept *kept = kept_for(op->key);
    size_t gate = slice_ends(op->gate, SLICE("two")) ? 1 : 0;

    (void)store;
    record_decide(op, &kept->record, &scene->gates[gate], (int64_t)scene->now_ms, 48 * HOUR_MS);
    if (kept->record.owner.data != kept->owner)
        snprintf(kept->owner, sizeof(kept->owner), "%.*s", SLICE_ARG(kept->record.owner));
    kept->record.owner = slice_from(kept->owner);
    op_finish(&op->op, &scene->turn);
}

static const char *state_of(const char *id)
{
    char key[RELAY_KEY_SIZE];
    static const char *const names[] = {"free", "claimed", "relayed", "held"};

    snprintf(key, sizeof(key), "r/d/%s", id);
    return names[kept_for(slice_from(key))->record.state];
}

/* --- the target --- */

static void memory_deliver(struct target *target, struct delivery *delivery)
{
    const struct wake *wake = delivery->wake;
    json_t *conversations = json_array();

    for (size_t i = 0; i < wake->conversation_count; i++)
        json_array_append_new(conversations, json_stringn(wake->conversations[i].id.data,
                                                          wake->conversations[i].id.len));
    json_t *made =
        json_pack("{s:I, s:s%, s:o, s:s%}", "at", (json_int_t)(scene->now_ms - START_MS), "id",
                  wake->delivery_id.data, wake->delivery_id.len, "conversations", conversations,
                  "reason", wake_reason(wake).data, wake_reason(wake).len);
    if (target == &scene->targets[1])
        json_object_set_new(made, "target", json_integer(2));
    json_array_append_new(scene->deliveries, made);
    assert_null(scene->open);
    scene->open = delivery;
}

static void end_delivery(enum outcome_code code)
{
    struct delivery *delivery = scene->open;

    scene->open = NULL;
    assert_non_null(delivery);
    delivery->outcome.code = code;
    op_finish(&delivery->op, &scene->turn);
}

static void memory_cancel(struct target *target, struct delivery *delivery)
{
    (void)target;
    assert_ptr_equal(delivery, scene->open);
    end_delivery(OUTCOME_AMBIGUOUS);
}

static void memory_close(struct target *target)
{
    (void)target;
}

static const struct store_impl memory_store = {.submit = memory_submit};
static const struct target_kind memory_kind = {
    .name = "memory", .deliver = memory_deliver, .cancel = memory_cancel, .close = memory_close};

/* --- one case --- */

static void add_leaf(size_t i, const json_t *pace)
{
    static const char *const ids[] = {"one", "two"}, *const gates[] = {"r/one", "r/two"};

    scene->targets[i] = (struct target){
        .kind = &memory_kind,
        .id = mem_text(slice_from(ids[i])),
        .hold_ms = 240000,
        .timeout_ms = 20000,
        .pace = {.per_hour = json_integer_value(json_object_get(pace, "per_hour")),
                 .burst = json_integer_value(json_object_get(pace, "burst"))},
    };
    scene->to->leaves[i] =
        (struct leaf){.target = &scene->targets[i],
                      .gate = mem_text(slice_from(gates[i])),
                      .seconds = metrics_histogram(METRIC_TARGET_SECONDS, "r", ids[i])};
    scene->gates[i] = gate_record_new();
}

static void open_scene(const json_t *test)
{
    json_int_t leaves = json_integer_value(json_object_get(test, "targets"));

    scene = mem_new(sizeof(*scene));
    scene->now_ms = START_MS - HOUR_MS / 2;
    uv_loop_init(&scene->loop);
    turn_open(&scene->turn, &scene->loop);
    scene->store.impl = &memory_store;
    scene->world =
        (struct world){.loop = &scene->loop, .turn = &scene->turn, .store = &scene->store};
    relays_open(&scene->relays, &scene->world, 100);
    scene->deliveries = json_array();
    scene->to = mem_new(sizeof(*scene->to));
    scene->to->references = 1;
    scene->to->route = mem_text(SLICE("r"));
    scene->to->id = mem_text(SLICE("d"));
    scene->to->gathering.quiet_ms = QUIET_MS;
    scene->to->leaf_count = leaves > 0 ? (size_t)leaves : 1;
    for (size_t i = 0; i < scene->to->leaf_count; i++)
        add_leaf(i, json_object_get(test, "pace"));
}

static void close_scene(void)
{
    assert_int_equal(scene->relays.count, 0);
    assert_null(scene->to->gathering.first);
    assert_null(scene->to->gathering.onward);
    assert_int_equal(scene->to->references, 1);
    destination_drop(scene->to);
    json_decref(scene->deliveries);
    turn_close(&scene->turn);
    uv_run(&scene->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&scene->loop), 0);
    free(scene);
    metrics_free();
}

static void on_told(struct waiter *waiter, const struct outcome *outcome)
{
    struct sender *sender = waiter->context;

    sender->told++;
    sender->code = outcome->code;
    assert_true(scene->now_ms <= sender->until_ms);
}

static void send_wake(const char *id, const char *reason, uint64_t budget_ms)
{
    struct sender *sender = &scene->senders[scene->sender_count++];
    struct wake wake = {0};

    *sender = (struct sender){.waiter = {.told = on_told, .context = sender},
                              .until_ms = scene->now_ms + budget_ms};
    snprintf(sender->id, sizeof(sender->id), "%s", id);
    wake_reserve_for(&wake, 1, 64);
    wake.version = 1;
    wake.delivery_id = wake_keep(&wake, slice_from(id));
    wake.reason = wake_keep(&wake, slice_from(reason));
    wake.conversations[0] = (struct conversation){.id = wake.delivery_id, .unread = 1};
    wake.conversation_count = 1;
    struct shared_wake *shared = shared_wake_new(&wake);
    relays_begin(&scene->relays, scene->to, shared, sender->until_ms, &sender->waiter);
    shared_wake_drop(shared);
}

static enum outcome_code outcome_by_name(const char *name)
{
    enum outcome_code code = 0;

    while (strcmp(outcome_name(code), name) != 0)
        code++;
    return code;
}

static uint64_t number(const json_t *object, const char *key, uint64_t fallback)
{
    const json_t *value = json_object_get(object, key);

    return value ? (uint64_t)json_integer_value(value) : fallback;
}

static void step(const json_t *step, uint64_t budget_ms)
{
    const char *id = json_string_value(json_object_get(step, "wake"));
    const char *reason = json_string_value(json_object_get(step, "reason"));
    const char *answer = json_string_value(json_object_get(step, "answer"));

    advance_to(START_MS + number(step, "at", 0));
    if (id)
        send_wake(id, reason ? reason : "messages", number(step, "budget", budget_ms));
    if (answer)
        end_delivery(outcome_by_name(answer));
    if (json_object_get(step, "drain"))
        relays_drain(&scene->relays);
    if (json_object_get(step, "cut"))
        relays_cut_short(&scene->relays);
    settle_down();
}

/* Together, so that a bucket loses one token. */
static void relay_before(const json_t *ids)
{
    const json_t *id;
    size_t i;

    json_array_foreach (ids, i, id)
        send_wake(json_string_value(id), "messages", 8000);
    if (json_array_size(ids) == 0)
        return;
    advance_to(scene->now_ms + QUIET_MS);
    end_delivery(OUTCOME_ACCEPTED);
    settle_down();
    json_array_clear(scene->deliveries);
    scene->sender_count = 0;
}

static void check(const json_t *test)
{
    const json_t *told = json_object_get(test, "told"), *expected;
    const char *id;

    char *made = json_dumps(scene->deliveries, JSON_SORT_KEYS);
    char *wanted = json_dumps(json_object_get(test, "deliveries"), JSON_SORT_KEYS);
    assert_string_equal(made, wanted);
    free(made);
    free(wanted);
    for (size_t i = 0; i < scene->sender_count; i++) {
        const struct sender *sender = &scene->senders[i];
        assert_int_equal(sender->told, 1);
        assert_string_equal(outcome_name(sender->code),
                            json_string_value(json_object_get(told, sender->id)));
    }
    json_object_foreach (json_object_get(test, "left"), id, expected)
        assert_string_equal(state_of(id), json_string_value(expected));
}

static void test_cases(void **state)
{
    json_t *cases = json_load_file(TESTS_DIR "/unit/data/gathering.json", 0, NULL);
    const json_t *test, *each;
    size_t i, j;

    (void)state;
    assert_true(json_array_size(cases) > 20);
    json_array_foreach (cases, i, test) {
        uint64_t budget_ms = number(test, "budget", 8000);
        print_message("%s\n", json_string_value(json_object_get(test, "name")));
        open_scene(test);
        relay_before(json_object_get(test, "before"));
        json_array_foreach (json_object_get(test, "steps"), j, each)
            step(each, budget_ms);
        advance_to(scene->now_ms + HOUR_MS);
        check(test);
        close_scene();
    }
    json_decref(cases);
}

/* More than fit into one delivery go with the one after. */
static void test_too_many_for_one(void **state)
{
    enum { COUNT = LIMIT_GATHERED + 2 };
    char id[8];

    (void)state;
    open_scene(NULL);
    for (int i = 0; i < COUNT; i++) {
        snprintf(id, sizeof(id), "n%d", i);
        send_wake(id, "messages", 8000);
    }
    advance_to(scene->now_ms + QUIET_MS);
    end_delivery(OUTCOME_ACCEPTED);
    settle_down();
    end_delivery(OUTCOME_ACCEPTED);
    settle_down();
    assert_int_equal(json_array_size(scene->deliveries), 2);
    for (int i = 0; i < COUNT; i++) {
        snprintf(id, sizeof(id), "n%d", i);
        assert_string_equal(state_of(id), "relayed");
    }
    close_scene();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_too_many_for_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
