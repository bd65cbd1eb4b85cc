/* SPDX-License-Identifier: Apache-2.0 */
/* From polling to a WebSocket, and all the ways in which that does not come to pass. */
#include "tests/contract/engine/rig.h"

#include <string.h>

static void open_with_probe(char sid[static SID_TEXT], struct client *polling, struct client *probe)
{
    *polling = open_polling(sid);
    *probe = ws_open_for(sid);
}

static void test_upgrade(void **state)
{
    char sid[SID_TEXT];
    struct client polling, probe;

    (void)state;
    open_with_probe(sid, &polling, &probe);
    poll_for(&polling, sid);
    rig_turns(house.rig, 5);
    ws_say(&probe, WEBSOCKET_TEXT, "2probe");
    assert_ws(&probe, "3probe");
    assert_answer(&polling, 200, "6");
    ws_say(&probe, WEBSOCKET_TEXT, "5");
    ws_say(&probe, WEBSOCKET_TEXT, "4hello");
    assert_ws(&probe, "4hello");
    poll_for(&polling, sid);
    assert_answer(&polling, 400, "{\"code\":3,\"message\":\"Bad request\"}");
    post(&polling, sid, "4x");
    assert_answer(&polling, 400, "{\"code\":3,\"message\":\"Bad request\"}");
    assert_int_equal(house.closed, 0);
    assert_int_equal(house.opened, 1);
    hang_up(&polling);
    ws_say(&probe, WEBSOCKET_TEXT, "4there");
    assert_ws(&probe, "4there");
    hang_up(&probe);
    assert_closed(1, "transport close");
}

/* Between 3probe and 5 the client still may do both. */
static void test_polling_goes_on(void **state)
{
    char sid[SID_TEXT];
    struct client polling, probe;

    (void)state;
    open_with_probe(sid, &polling, &probe);
    ws_say(&probe, WEBSOCKET_TEXT, "2probe");
    assert_ws(&probe, "3probe");
    post(&polling, sid, "4a");
    assert_answer(&polling, 200, "ok");
    poll_for(&polling, sid);
    assert_answer(&polling, 200, "4a"); /* an event that came meanwhile */
    poll_for(&polling, sid);
    assert_answer(&polling, 200, "6"); /* none waits */
    post(&polling, sid, "4b");
    assert_answer(&polling, 200, "ok");
    rig_turns(house.rig, 5);
    assert_int_equal(probe.in.len, 0);
    ws_say(&probe, WEBSOCKET_TEXT, "5");
    assert_ws(&probe, "4b"); /* what nobody fetched */
    hang_up(&polling);
    hang_up(&probe);
}

static void test_second_websocket(void **state)
{
    char sid[SID_TEXT];
    struct client polling, probe, second;

    (void)state;
    open_with_probe(sid, &polling, &probe);
    second = ws_open_for(sid);
    assert_ws_closes(&second, WEBSOCKET_NO_STATUS);
    hang_up(&second);
    ws_say(&probe, WEBSOCKET_TEXT, "2probe");
    assert_ws(&probe, "3probe");
    ws_say(&probe, WEBSOCKET_TEXT, "5");
    ws_say(&probe, WEBSOCKET_TEXT, "4x");
    assert_ws(&probe, "4x");
    second = ws_open_for(sid);
    assert_ws_closes(&second, WEBSOCKET_NO_STATUS);
    hang_up(&second);
    ws_say(&probe, WEBSOCKET_TEXT, "4y");
    assert_ws(&probe, "4y");
    assert_int_equal(house.closed, 0);
    hang_up(&polling);
    hang_up(&probe);
}

static void assert_probe_fails(const char *first, const char *second, unsigned status)
{
    char sid[SID_TEXT];
    struct client polling, probe;

    open_with_probe(sid, &polling, &probe);
    ws_say(&probe, WEBSOCKET_TEXT, first);
    if (second) {
        assert_ws(&probe, "3probe");
        ws_say(&probe, WEBSOCKET_TEXT, second);
    }
    assert_ws_closes(&probe, status);
    hang_up(&probe);
    post(&polling, sid, "4still");
    assert_answer(&polling, 200, "ok");
    poll_for(&polling, sid);
    assert_answer(&polling, 200, "4still");
    poll_for(&polling, sid);
    rig_turns(house.rig, 10);
    assert_int_equal(polling.in.len, 0); /* it waits as before */
    probe = ws_open_for(sid);            /* another may try */
    ws_say(&probe, WEBSOCKET_TEXT, "2probe");
    assert_ws(&probe, "3probe");
    hang_up(&polling);
    hang_up(&probe);
}

static void test_failures(void **state)
{
    (void)state;
    assert_probe_fails("4a", NULL, WEBSOCKET_NO_STATUS);
    assert_probe_fails("2", NULL, WEBSOCKET_NO_STATUS);
    assert_probe_fails("2prob", NULL, WEBSOCKET_NO_STATUS);
    assert_probe_fails("3probe", NULL, WEBSOCKET_NO_STATUS);
    assert_probe_fails("x", NULL, WEBSOCKET_NO_STATUS);
    assert_probe_fails("2probe", "4a", WEBSOCKET_NO_STATUS);
    assert_probe_fails("2\xff", NULL, 1007);
    assert_int_equal(house.messages, 7); /* the ones that were posted */
}

static void test_binary_on_a_probe(void **state)
{
    char sid[SID_TEXT];
    struct client polling, probe;

    (void)state;
    open_with_probe(sid, &polling, &probe);
    ws_say_frame(&probe, 0x80 | WEBSOCKET_BINARY, SLICE("2probe"));
    assert_ws_closes(&probe, WEBSOCKET_NO_STATUS);
    assert_int_equal(house.closed, 0);
    hang_up(&polling);
    hang_up(&probe);
}

static void test_probe_leaves(void **state)
{
    char sid[SID_TEXT];
    struct client polling, probe;

    (void)state;
    open_with_probe(sid, &polling, &probe);
    ws_say(&probe, WEBSOCKET_TEXT, "2probe");
    assert_ws(&probe, "3probe");
    hang_up(&probe);
    RIG_WAIT(house.rig, *metrics_value(METRIC_CONNECTIONS, NULL, NULL, NULL) == 1);
    poll_for(&polling, sid);
    rig_turns(house.rig, 10);
    assert_int_equal(polling.in.len, 0);
    assert_int_equal(house.closed, 0);
    hang_up(&polling);
}

static void test_timeout(void **state)
{
    struct engine_settings settings = house_settings();
    char sid[SID_TEXT];
    struct client polling, probe;

    house_tear_down(state);
    settings.upgrade_timeout_ms = 200;
    house_open(&settings);
    open_with_probe(sid, &polling, &probe);
    assert_ws_closes(&probe, WEBSOCKET_NO_STATUS);
    hang_up(&probe);
    probe = ws_open_for(sid);
    ws_say(&probe, WEBSOCKET_TEXT, "2probe");
    assert_ws(&probe, "3probe");
    assert_ws_closes(&probe, WEBSOCKET_NO_STATUS);
    hang_up(&probe);
    post(&polling, sid, "4x");
    assert_answer(&polling, 200, "ok");
    probe = ws_open_for(sid);
    ws_say(&probe, WEBSOCKET_TEXT, "5"); /* as the reference: the question may be left out */
    assert_ws(&probe, "4x");
    house_turn_for(500); /* there is no time-out any more */
    ws_say(&probe, WEBSOCKET_TEXT, "4y");
    assert_ws(&probe, "4y");
    hang_up(&polling);
    hang_up(&probe);
}

static void test_session_ends_meanwhile(void **state)
{
    char sid[SID_TEXT];
    struct client polling, probe;

    (void)state;
    open_with_probe(sid, &polling, &probe);
    ws_say(&probe, WEBSOCKET_TEXT, "2probe");
    assert_ws(&probe, "3probe");
    post(&polling, sid, "1");
    assert_answer(&polling, 200, "ok");
    assert_ws_closes(&probe, WEBSOCKET_NO_STATUS);
    assert_closed(1, "transport close");
    hang_up(&polling);
    hang_up(&probe);
}

/* A session that is to end takes the WebSocket to say so, if that is there first. */
static void test_ends_while_upgrading(void **state)
{
    char sid[SID_TEXT];
    struct client polling, probe;

    (void)state;
    open_with_probe(sid, &polling, &probe);
    ws_say(&probe, WEBSOCKET_TEXT, "2probe");
    assert_ws(&probe, "3probe");
    post(&polling, sid,
         "4last\x1e"
         "4end");
    assert_answer(&polling, 200, "ok");
    assert_int_equal(house.closed, 0);
    ws_say(&probe, WEBSOCKET_TEXT, "5");
    assert_ws(&probe, "4last");
    assert_ws_closes(&probe, WEBSOCKET_NO_STATUS);
    assert_closed(1, "forced close");
    hang_up(&polling);
    hang_up(&probe);
}

static void test_heartbeat_moves_along(void **state)
{
    struct engine_settings settings = house_settings();
    char sid[SID_TEXT];
    struct client polling, probe;

    house_tear_down(state);
    settings.ping_interval_ms = 200;
    settings.ping_timeout_ms = 400;
    house_open(&settings);
    open_with_probe(sid, &polling, &probe);
    ws_say(&probe, WEBSOCKET_TEXT, "5");
    for (int i = 0; i < 3; i++) {
        assert_ws(&probe, "2");
        ws_say(&probe, WEBSOCKET_TEXT, "3");
    }
    assert_ws(&probe, "2");
    assert_ws_closes(&probe, WEBSOCKET_NO_STATUS);
    assert_closed(1, "ping timeout");
    hang_up(&polling);
    hang_up(&probe);
}

const struct CMUnitTest upgrade_cases[] = {
    CASE(test_upgrade),
    CASE(test_polling_goes_on),
    CASE(test_second_websocket),
    CASE(test_failures),
    CASE(test_binary_on_a_probe),
    CASE(test_probe_leaves),
    CASE(test_timeout),
    CASE(test_session_ends_meanwhile),
    CASE(test_ends_while_upgrading),
    CASE(test_heartbeat_moves_along),
};
const size_t upgrade_case_count = sizeof(upgrade_cases) / sizeof(upgrade_cases[0]);
