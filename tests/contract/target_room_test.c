/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target that is a room: what becomes of a delivery whatever the store, the clients and the
 * relay do, at every step of it. Never may an offer be taken and be called unavailable.
 */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/metrics.h"
#include "relay/room/rooms.h"
#include "relay/target.h"
#include "tests/fakes/thread_desk.h"

struct scene {
    uv_loop_t loop;
    struct turn turn;
    struct thread_desk desk;
    struct rooms_settings settings;
    struct rooms *rooms;
    struct target *target;
    struct wake wake;
    struct delivery delivery;
    unsigned done, closed;
};

static struct scene *scene;

static void run_turn(void)
{
    uv_run(&scene->loop, UV_RUN_NOWAIT);
}

static void settle(void)
{
    for (int i = 0; i < 20; i++)
        run_turn();
}

/* --- the stage --- */

static int open_scene(void **state)
{
    struct err err;

    (void)state;
    scene = mem_new(sizeof(*scene));
    uv_loop_init(&scene->loop);
    turn_open(&scene->turn, &scene->loop);
    desk_open(&scene->desk, &scene->turn);
    scene->settings = (struct rooms_settings){
        .path = mem_text(SLICE("/socket.io/")),
        .history = {.kept = 100, .kept_ms = 3600000, .window_ms = 3600000},
        .socketio = {.engine = {.ping_interval_ms = 25000,
                                .ping_timeout_ms = 20000,
                                .upgrade_timeout_ms = 10000,
                                .max_payload = 100000,
                                .queue_bytes = 100000,
                                .sessions = 10},
                     .connect_timeout_ms = 45000,
                     .acks_pending = 8},
    };
    scene->rooms = rooms_open(&scene->settings, &scene->turn, &scene->desk.store, &err);
    assert_non_null(scene->rooms);
    scene->desk.present = 1;
    return 0;
}

static void open_target(const char *members)
{
    const struct world world = {.loop = &scene->loop, .turn = &scene->turn, .rooms = scene->rooms};
    const struct route_facts route = {
        .name = SLICE("relay"), .handle = SLICE("@a"), .budget_ms = 8000, .rooms = true};
    struct settings_report report;
    struct settings settings;
    char text[256];

    snprintf(text, sizeof(text), "{\"room\": {\"thread\": \"wakes\"%s}}", members);
    json_t *object = json_loads(text, 0, NULL);
    settings_report_init(&report, "test.json");
    settings_begin(&settings, &report, "target", object);
    scene->target = target_open(&settings, &route, &world);
    settings_end(&settings);
    if (!scene->target)
        fail_msg("%s", buf_text(&report.mistakes));
    settings_report_release(&report);
    json_decref(object);
    settle();
}

static void on_closed(void *context)
{
    (void)context;
    scene->closed++;
}

/* A test that failed may have left something open. */
static void end_all(void)
{
    for (int verb = 0; verb < DESK_VERBS; verb++)
        if (scene->desk.kept[verb])
            desk_answer(&scene->desk, (enum threads_verb)verb);
    settle();
    if (scene->delivery.op.running)
        target_cancel(scene->target, &scene->delivery);
    settle();
}

static int close_scene(void **state)
{
    (void)state;
    end_all();
    rooms_close(scene->rooms, on_closed, NULL);
    while (scene->closed == 0)
        uv_run(&scene->loop, UV_RUN_ONCE);
    target_close(scene->target); /* as the config does, later */
    turn_close(&scene->turn);
    uv_run(&scene->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&scene->loop), 0);
    desk_release(&scene->desk);
    free(scene->settings.path);
    metrics_free();
    free(scene);
    return 0;
}

static void on_done(struct op *op)
{
    assert_ptr_equal(op, &scene->delivery.op);
    scene->done++;
}

static void deliver(void)
{
    scene->wake.delivery_id = SLICE("d-1");
    scene->wake.summary = SLICE("Two new messages.");
    scene->wake.handle = SLICE("@a");
    scene->wake.version = 1;
    scene->done = 0;
    scene->delivery = (struct delivery){.claim = SLICE("relay/wakes/d-1"), .owner = SLICE("own-1")};
    target_deliver(scene->target, &scene->delivery, &scene->wake, SLICE("d-1-wakes"), on_done);
    assert_int_equal(scene->done, 0); /* never before it returned */
    settle();
}

static void cancel(void)
{
    target_cancel(scene->target, &scene->delivery);
    settle();
}

static void expect(enum outcome_code code)
{
    assert_int_equal(scene->done, 1);
    if (scene->delivery.outcome.code != code)
        fail_msg("%s (%s)", outcome_name(scene->delivery.outcome.code),
                 scene->delivery.outcome.detail);
    assert_int_equal(scene->delivery.outcome.run[0] != '\0', code == OUTCOME_ACCEPTED);
    /* What others see: taken and nothing else, or not taken and never to be. */
    if (code == OUTCOME_UNAVAILABLE)
        assert_false(desk_take(&scene->desk, "too-late"));
    if (scene->desk.state == DESK_TAKEN)
        assert_int_not_equal(code, OUTCOME_UNAVAILABLE);
}

static void expect_waiting(void)
{
    assert_int_equal(scene->done, 0);
    assert_int_equal(scene->desk.state, DESK_OFFERED);
}

static void lay(enum threads_verb verb, enum desk_how how, enum threads_answer answer)
{
    scene->desk.how[verb] = how;
    scene->desk.answer[verb] = answer;
}

/* The type of each entry's event, in order. */
static const char *types(void)
{
    static char text[1024];
    size_t len = 0;

    for (size_t i = 0; i < scene->desk.entry_count; i++) {
        json_t *json = json_loads(scene->desk.entries[i], 0, NULL);
        const char *type =
            json_string_value(json_object_get(json_object_get(json, "event"), "type"));
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "",
                                strncmp(type, "TEXT_MESSAGE_", 13) == 0 ? type + 13 : type);
        json_decref(json);
    }
    text[len] = '\0';
    return text;
}

#define STORED    "RUN_STARTED START CONTENT END RUN_FINISHED"
#define OFFERED   "RUN_STARTED START CONTENT END INTERRUPT RUN_PAUSED RUN_FINISHED"
#define ANNOUNCED " RUN_STARTED START CONTENT END RUN_FINISHED"

/* --- stored --- */

static void test_stored(void **state)
{
    (void)state;
    open_target(", \"accept\": \"stored\"");
    assert_true(scene->target->idempotent);
    scene->desk.present = 0;
    deliver();
    expect(OUTCOME_ACCEPTED);
    assert_string_equal(types(), STORED);
}

static void test_stored_down(void **state)
{
    (void)state;
    open_target(", \"accept\": \"stored\"");
    lay(THREADS_APPEND, INSTEAD, THREADS_DOWN);
    deliver();
    expect(OUTCOME_UNAVAILABLE);
    assert_string_equal(types(), "");
}

/* Unclear, and done: the next try finds the message there. */
static void test_stored_unsure(void **state)
{
    (void)state;
    open_target(", \"accept\": \"stored\"");
    lay(THREADS_APPEND, INSTEAD, THREADS_UNSURE);
    deliver();
    expect(OUTCOME_AMBIGUOUS);
    lay(THREADS_APPEND, AFTER_DOING, THREADS_UNSURE);
    deliver();
    expect(OUTCOME_AMBIGUOUS);
    deliver();
    expect(OUTCOME_ACCEPTED);
    assert_string_equal(types(), STORED);
    assert_int_equal(scene->desk.asked[THREADS_APPEND], 2);
}

static void test_stored_cancelled(void **state)
{
    (void)state;
    open_target(", \"accept\": \"stored\"");
    scene->desk.keep_back[THREADS_APPEND] = true;
    deliver();
    cancel();
    assert_int_equal(scene->done, 0); /* it is on its way */
    desk_answer(&scene->desk, THREADS_APPEND);
    settle();
    expect(OUTCOME_ACCEPTED);
}

static void test_wake_that_is_no_text(void **state)
{
    (void)state;
    open_target("");
    scene->wake.text = SLICE("\xff\xfe");
    deliver();
    expect(OUTCOME_REFUSED);
}

/* --- answered --- */

static void test_taken(void **state)
{
    (void)state;
    open_target("");
    assert_false(scene->target->idempotent);
    deliver();
    expect_waiting();
    assert_string_equal(types(), OFFERED);
    assert_string_equal(scene->desk.key, "relay/wakes/d-1");
    assert_string_equal(scene->desk.owner, "own-1");
    assert_true(scene->desk.for_ms > 8000);
    assert_true(desk_take(&scene->desk, "worker"));
    settle();
    expect(OUTCOME_ACCEPTED);
    assert_int_equal(scene->desk.asked[THREADS_WITHDRAW], 0);
    assert_string_equal(types(), OFFERED ANNOUNCED);
}

/* This instance's own client took it: its answer comes before the announcement. */
static void test_taken_here(void **state)
{
    (void)state;
    open_target("");
    deliver();
    struct room *room = rooms_find(scene->rooms, SLICE("wakes"));
    room_settle(room, SLICE("of-something-else"), SLICE("worker"));
    settle();
    expect_waiting();
    scene->desk.state = DESK_TAKEN;
    room_settle(room, slice_from(scene->desk.offer), SLICE("worker"));
    settle();
    expect(OUTCOME_ACCEPTED);
}

static void test_nobody(void **state)
{
    (void)state;
    open_target("");
    scene->desk.present = 0;
    deliver();
    expect(OUTCOME_UNAVAILABLE);
    assert_string_equal(types(), "");
}

static void test_busy(void **state)
{
    (void)state;
    open_target("");
    lay(THREADS_OFFER, INSTEAD, THREADS_BUSY);
    deliver();
    expect(OUTCOME_UNAVAILABLE);
}

static void test_down(void **state)
{
    (void)state;
    open_target("");
    lay(THREADS_OFFER, INSTEAD, THREADS_DOWN);
    deliver();
    expect(OUTCOME_UNAVAILABLE);
}

static void test_withdrawn(void **state)
{
    (void)state;
    open_target("");
    deliver();
    cancel();
    expect(OUTCOME_UNAVAILABLE);
    assert_int_equal(scene->desk.state, DESK_WITHDRAWN);
    assert_string_equal(types(), OFFERED ANNOUNCED);
    deliver(); /* the same wake once more: another run and another offer */
    expect_waiting();
    assert_true(desk_take(&scene->desk, "worker"));
    settle();
    expect(OUTCOME_ACCEPTED);
}

static void test_expired(void **state)
{
    (void)state;
    open_target("");
    deliver();
    desk_expire(&scene->desk);
    cancel();
    expect(OUTCOME_UNAVAILABLE);
}

/* --- cancelled at every step --- */

static void test_cancelled_while_offering(void **state)
{
    (void)state;
    open_target("");
    scene->desk.keep_back[THREADS_OFFER] = true;
    deliver();
    cancel();
    assert_int_equal(scene->done, 0);
    desk_answer(&scene->desk, THREADS_OFFER);
    settle();
    expect(OUTCOME_UNAVAILABLE);
    assert_int_equal(scene->desk.state, DESK_WITHDRAWN);
}

static void test_cancelled_while_offering_to_nobody(void **state)
{
    (void)state;
    open_target("");
    scene->desk.keep_back[THREADS_OFFER] = true;
    scene->desk.present = 0;
    deliver();
    cancel();
    desk_answer(&scene->desk, THREADS_OFFER);
    settle();
    expect(OUTCOME_UNAVAILABLE);
    assert_int_equal(scene->desk.asked[THREADS_WITHDRAW], 0);
}

static void test_cancelled_twice(void **state)
{
    (void)state;
    open_target("");
    deliver();
    scene->desk.keep_back[THREADS_WITHDRAW] = true;
    cancel();
    cancel();
    assert_int_equal(scene->done, 0);
    assert_int_equal(scene->desk.asked[THREADS_WITHDRAW], 1);
    desk_answer(&scene->desk, THREADS_WITHDRAW);
    settle();
    expect(OUTCOME_UNAVAILABLE);
}

/* Somebody takes it while the withdrawal is on its way: the store decides. */
static void test_taken_while_withdrawing(void **state)
{
    (void)state;
    open_target("");
    deliver();
    scene->desk.keep_back[THREADS_WITHDRAW] = true;
    cancel();
    assert_true(desk_take(&scene->desk, "worker"));
    settle();
    assert_int_equal(scene->done, 0); /* the operation is still running */
    desk_answer(&scene->desk, THREADS_WITHDRAW);
    settle();
    expect(OUTCOME_ACCEPTED);
}

/* The withdrawal says that it was taken before the followed history does. */
static void test_taken_and_not_announced_yet(void **state)
{
    (void)state;
    open_target("");
    deliver();
    scene->desk.keep_back[THREADS_READ] = true;
    assert_true(desk_take(&scene->desk, "worker"));
    cancel();
    assert_non_null(scene->desk.kept[THREADS_READ]);
    expect(OUTCOME_ACCEPTED);
    desk_answer(&scene->desk, THREADS_READ);
    settle();
    expect(OUTCOME_ACCEPTED);
}

static void test_taken_and_cancelled_in_one_turn(void **state)
{
    (void)state;
    open_target("");
    deliver();
    assert_true(desk_take(&scene->desk, "worker"));
    cancel();
    expect(OUTCOME_ACCEPTED);
}

/* The announcement is quicker than the answer to the offer. */
static void test_taken_before_the_offer_is_answered(void **state)
{
    (void)state;
    open_target("");
    lay(THREADS_OFFER, AFTER_DOING, THREADS_DONE);
    deliver();
    expect_waiting();
    cancel();
    expect(OUTCOME_UNAVAILABLE);
    scene->desk.keep_back[THREADS_OFFER] = true;
    deliver();
    struct threads_op *kept = scene->desk.kept[THREADS_OFFER];
    char offer[64];
    snprintf(offer, sizeof(offer), "%.*s", SLICE_ARG(kept->offer));
    room_settle(rooms_find(scene->rooms, SLICE("wakes")), slice_from(offer), SLICE("worker"));
    assert_int_equal(scene->done, 0);
    desk_answer(&scene->desk, THREADS_OFFER);
    scene->desk.state = DESK_TAKEN;
    settle();
    expect(OUTCOME_ACCEPTED);
}

/* --- a store that does not say --- */

static void test_offer_unsure(void **state)
{
    (void)state;
    open_target("");
    lay(THREADS_OFFER, AFTER_DOING, THREADS_UNSURE);
    deliver();
    expect(OUTCOME_UNAVAILABLE);
    assert_int_equal(scene->desk.state, DESK_WITHDRAWN);
    lay(THREADS_OFFER, INSTEAD, THREADS_UNSURE); /* it never came: withdrawn all the same */
    deliver();
    expect(OUTCOME_UNAVAILABLE);
}

static void test_offer_unsure_but_taken(void **state)
{
    (void)state;
    open_target("");
    lay(THREADS_OFFER, AFTER_DOING, THREADS_UNSURE);
    scene->desk.keep_back[THREADS_WITHDRAW] = true;
    deliver();
    assert_true(desk_take(&scene->desk, "worker"));
    desk_answer(&scene->desk, THREADS_WITHDRAW);
    settle();
    expect(OUTCOME_ACCEPTED);
}

static void test_nothing_is_known(void **state)
{
    (void)state;
    open_target("");
    lay(THREADS_OFFER, AFTER_DOING, THREADS_UNSURE);
    lay(THREADS_WITHDRAW, INSTEAD, THREADS_DOWN);
    deliver();
    expect(OUTCOME_AMBIGUOUS);
}

static void test_withdrawal_unsure(void **state)
{
    (void)state;
    open_target("");
    deliver();
    lay(THREADS_WITHDRAW, INSTEAD, THREADS_UNSURE);
    cancel();
    expect(OUTCOME_AMBIGUOUS);
}

static void test_withdrawal_unsure_but_announced(void **state)
{
    (void)state;
    open_target("");
    deliver();
    scene->desk.keep_back[THREADS_WITHDRAW] = true;
    lay(THREADS_WITHDRAW, INSTEAD, THREADS_UNSURE);
    cancel();
    assert_true(desk_take(&scene->desk, "worker"));
    settle();
    desk_answer(&scene->desk, THREADS_WITHDRAW);
    settle();
    expect(OUTCOME_ACCEPTED);
}

/* --- by itself --- */

static void test_own_timeout(void **state)
{
    (void)state;
    open_target(", \"timeout\": \"100ms\"");
    deliver();
    expect_waiting();
    while (scene->done == 0)
        uv_run(&scene->loop, UV_RUN_ONCE);
    expect(OUTCOME_UNAVAILABLE);
}

/* The history could not be read when the room was made: it is read later, and followed. */
static void test_history_is_read_later(void **state)
{
    (void)state;
    lay(THREADS_READ, INSTEAD, THREADS_DOWN);
    open_target("");
    deliver();
    expect_waiting();
    assert_true(desk_take(&scene->desk, "worker"));
    settle();
    while (scene->done == 0) /* until the rooms look again */
        uv_run(&scene->loop, UV_RUN_ONCE);
    expect(OUTCOME_ACCEPTED);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_scene, close_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_stored),
        TEST(test_stored_down),
        TEST(test_stored_unsure),
        TEST(test_stored_cancelled),
        TEST(test_wake_that_is_no_text),
        TEST(test_taken),
        TEST(test_taken_here),
        TEST(test_nobody),
        TEST(test_busy),
        TEST(test_down),
        TEST(test_withdrawn),
        TEST(test_expired),
        TEST(test_cancelled_while_offering),
        TEST(test_cancelled_while_offering_to_nobody),
        TEST(test_cancelled_twice),
        TEST(test_taken_while_withdrawing),
        TEST(test_taken_and_not_announced_yet),
        TEST(test_taken_and_cancelled_in_one_turn),
        TEST(test_taken_before_the_offer_is_answered),
        TEST(test_offer_unsure),
        TEST(test_offer_unsure_but_taken),
        TEST(test_nothing_is_known),
        TEST(test_withdrawal_unsure),
        TEST(test_withdrawal_unsure_but_announced),
        TEST(test_own_timeout),
        TEST(test_history_is_read_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
