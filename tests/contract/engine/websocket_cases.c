/* SPDX-License-Identifier: Apache-2.0 */
/* The transport of a WebSocket. */
#include "tests/contract/engine/rig.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static uint64_t connections(void)
{
    return *metrics_value(METRIC_CONNECTIONS, NULL, NULL, NULL);
}

static void test_handshake(void **state)
{
    struct client client = ws_dial("EIO=4&transport=websocket");
    struct reply reply;
    char sid[SID_TEXT], expected[256];

    (void)state;
    assert_true(hear(&client, &reply));
    assert_int_equal(reply.status, 101);
    assert_true(client.in.len > 0); /* the first packet came along with it */
    struct slice packet = ws_hear(&client, WEBSOCKET_TEXT);
    snprintf(sid, sizeof(sid), "%.20s", packet.data + strlen("0{\"sid\":\""));
    snprintf(expected, sizeof(expected),
             "0{\"sid\":\"%s\",\"upgrades\":[],\"pingInterval\":60000,\"pingTimeout\":60000,"
             "\"maxPayload\":100000}",
             sid);
    assert_string_equal(packet.data, expected);
    hang_up(&client);
    assert_closed(1, "transport close");
}

static void test_echo(void **state)
{
    char sid[SID_TEXT];
    struct client client = ws_open(sid);

    (void)state;
    ws_say(&client, WEBSOCKET_TEXT, "4hello");
    assert_ws(&client, "4hello");
    ws_say(&client, WEBSOCKET_TEXT, "4");
    assert_ws(&client, "4");
    ws_say_frame(&client, 0x80 | WEBSOCKET_BINARY, SLICE("\x01\x02\x00\x04"));
    struct slice bytes = ws_hear(&client, WEBSOCKET_BINARY);
    assert_int_equal(bytes.len, 4);
    assert_memory_equal(bytes.data, "\x01\x02\x00\x04", 4);
    ws_say_frame(&client, WEBSOCKET_TEXT, SLICE("4in "));
    ws_say(&client, WEBSOCKET_PING, "between");
    ws_say_frame(&client, WEBSOCKET_CONTINUATION, SLICE("three "));
    ws_say_frame(&client, 0x80 | WEBSOCKET_CONTINUATION, SLICE("parts"));
    assert_string_equal(ws_hear(&client, WEBSOCKET_PONG).data, "between");
    assert_ws(&client, "4in three parts");
    assert_int_equal(house.closed, 0);
    hang_up(&client);
}

/* The handshake and the first frames in one segment. */
static void test_early_bytes(void **state)
{
    struct buf text = BUF_INIT(1024);
    struct client client = dial(house.rig);
    struct reply reply;

    (void)state;
    buf_append(
        &text,
        SLICE("GET /engine.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: x\r\n" HANDSHAKE_FIELDS
              "\r\n"));
    buf_append(&text, SLICE("\x81\x83\0\0\0\0"
                            "4ab"
                            "\x81\x84\0\0\0\0"
                            "4c"));
    assert_true(say_bytes(&client, buf_slice(&text)));
    buf_release(&text);
    assert_true(hear(&client, &reply));
    assert_int_equal(reply.status, 101);
    ws_hear(&client, WEBSOCKET_TEXT); /* the opening still comes first */
    assert_ws(&client, "4ab");
    assert_true(say(&client, "de"));
    assert_ws(&client, "4cde");
    hang_up(&client);
}

static void test_byte_by_byte(void **state)
{
    static const char frames[] = "\x81\x83\0\0\0\0"
                                 "4ab"
                                 "\x81\x83\0\0\0\0"
                                 "4cd";
    char sid[SID_TEXT];
    struct client client = ws_open(sid);

    (void)state;
    for (size_t i = 0; i < sizeof(frames) - 1; i++) {
        assert_true(say_bytes(&client, (struct slice){.data = frames + i, .len = 1}));
        rig_turns(house.rig, 2);
    }
    assert_ws(&client, "4ab");
    assert_ws(&client, "4cd");
    hang_up(&client);
}

static void assert_fault(struct slice frame, unsigned status, const char *why)
{
    unsigned before = house.closed;
    char sid[SID_TEXT];
    struct client client = ws_open(sid);

    say_bytes(&client, frame);
    assert_ws_closes(&client, status);
    assert_closed(before + 1, why);
    hang_up(&client);
}

static void test_faults(void **state)
{
    (void)state;
    assert_fault(SLICE("\x81\x02"
                       "4a"),
                 1002, "transport error"); /* not masked */
    assert_fault(SLICE("\xc1\x82\0\0\0\0"
                       "4a"),
                 1002, "transport error");
    assert_fault(SLICE("\x83\x80\0\0\0\0"), 1002, "transport error");
    assert_fault(SLICE("\x80\x81\0\0\0\0"
                       "a"),
                 1002, "transport error");
    assert_fault(SLICE("\x09\x80\0\0\0\0"), 1002, "transport error");
    assert_fault(SLICE("\x81\x82\0\0\0\0"
                       "4\xff"),
                 1007, "transport error");
    assert_fault(SLICE("\x81\xff\0\0\0\0\0\x01\x86\xa1\0\0\0\0"), 1009, "transport error");
    assert_fault(SLICE("\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0"), 1009,
                 "transport error");
    assert_fault(SLICE("\x81\x80\0\0\0\0"), WEBSOCKET_NO_STATUS, "parse error");
    assert_fault(SLICE("\x81\x83\0\0\0\0"
                       "abc"),
                 WEBSOCKET_NO_STATUS, "parse error");
    assert_fault(SLICE("\x81\x81\0\0\0\0"
                       "2"),
                 WEBSOCKET_NO_STATUS, "transport error");
    assert_fault(SLICE("\x81\x86\0\0\0\0"
                       "2probe"),
                 WEBSOCKET_NO_STATUS, "transport error");
    assert_fault(SLICE("\x81\x81\0\0\0\0"
                       "1"),
                 WEBSOCKET_NO_STATUS, "transport close");
    assert_fault(SLICE("\x88\x80\0\0\0\0"), WEBSOCKET_NO_STATUS, "transport close");
    assert_fault(SLICE("\x88\x82\0\0\0\0\x03\xe8"), 1000, "transport close");
    assert_fault(SLICE("\x88\x85\0\0\0\0\x0f\xa0"
                       "bye"),
                 4000, "transport close");
    assert_fault(SLICE("\x88\x82\0\0\0\0\x03\xed"), 1002, "transport error");
    assert_int_equal(house.messages, 0);
    RIG_WAIT(house.rig, connections() == 0);
}

static void test_limit(void **state)
{
    static char body[100001];
    char sid[SID_TEXT];
    struct client client = ws_open(sid);

    (void)state;
    memset(body, 'a', sizeof(body) - 1);
    body[0] = '4';
    ws_say(&client, WEBSOCKET_TEXT, body); /* exactly what may be */
    assert_int_equal(ws_hear(&client, WEBSOCKET_TEXT).len, 100000);
    ws_say_frame(&client, WEBSOCKET_TEXT, slice_from(body));
    ws_say_frame(&client, 0x80, SLICE("b"));
    assert_ws_closes(&client, 1009);
    assert_closed(1, "transport error");
    hang_up(&client);
}

static void test_server_ends(void **state)
{
    char sid[SID_TEXT];
    struct client client = ws_open(sid);

    (void)state;
    ws_say(&client, WEBSOCKET_TEXT, "4last");
    ws_say(&client, WEBSOCKET_TEXT, "4end");
    ws_say(&client, WEBSOCKET_TEXT, "4ignored");
    assert_ws(&client, "4last");
    assert_ws_closes(&client, WEBSOCKET_NO_STATUS);
    assert_closed(1, "forced close");
    hang_up(&client);
}

static void test_client_resets(void **state)
{
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    char sid[SID_TEXT];
    struct client client = ws_open(sid);

    (void)state;
    setsockopt(client.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    hang_up(&client);
    assert_closed(1, "transport close");
    RIG_WAIT(house.rig, connections() == 0);
}

static void test_heartbeat(void **state)
{
    struct engine_settings settings = house_settings();
    char sid[SID_TEXT];

    house_tear_down(state);
    settings.ping_interval_ms = 150;
    settings.ping_timeout_ms = 300;
    house_open(&settings);
    struct client client = ws_open(sid);
    for (int i = 0; i < 4; i++) {
        assert_ws(&client, "2");
        ws_say(&client, WEBSOCKET_TEXT, "3");
    }
    assert_ws(&client, "2");
    assert_int_equal(house.closed, 0);
    assert_ws_closes(&client, WEBSOCKET_NO_STATUS);
    assert_closed(1, "ping timeout");
    hang_up(&client);
}

/* Another packet while a pong is due counts as a sign of life, once. */
static void test_sign_of_life(void **state)
{
    struct engine_settings settings = house_settings();
    char sid[SID_TEXT];

    house_tear_down(state);
    settings.ping_interval_ms = 100;
    settings.ping_timeout_ms = 600;
    house_open(&settings);
    struct client client = ws_open(sid);
    assert_ws(&client, "2");
    uint64_t pinged = uv_hrtime();
    house_turn_for(300);
    ws_say(&client, WEBSOCKET_TEXT, "4x");
    assert_ws(&client, "4x");
    uint64_t refreshed = uv_hrtime();
    for (int i = 0; i < 3; i++) {
        house_turn_for(50);
        ws_say(&client, WEBSOCKET_TEXT, "4x");
        assert_ws(&client, "4x");
    }
    assert_ws_closes(&client, WEBSOCKET_NO_STATUS);
    uint64_t closed = uv_hrtime();
    assert_closed(1, "ping timeout");
    assert_true(closed - pinged > 850 * UINT64_C(1000000)); /* never earlier than that */
    assert_true(refreshed > pinged);
    hang_up(&client);
}

static void test_slow_reader(void **state)
{
    struct engine_settings settings = house_settings();
    static char big[60001];
    char sid[SID_TEXT], other_sid[SID_TEXT];
    const int small = 4096;

    house_tear_down(state);
    settings.queue_bytes = 300000;
    house_open(&settings);
    struct client slow = ws_open(sid), quick = ws_open(other_sid);
    setsockopt(slow.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    memset(big, 'a', sizeof(big) - 1);
    big[0] = '4';
    for (int i = 0; house.closed == 0; i++) {
        assert_true(i < 1000);
        ws_say(&slow, WEBSOCKET_TEXT, big);
        ws_say(&quick, WEBSOCKET_TEXT, "4still here");
        assert_ws(&quick, "4still here"); /* nobody else waits for it */
    }
    assert_closed(1, "too slow");
    hang_up(&slow);
    hang_up(&quick);
}

/* What the socket does not take at once arrives in order. */
static void test_reader_that_pauses(void **state)
{
    struct engine_settings settings = house_settings();
    static char big[60001];
    char sid[SID_TEXT];

    house_tear_down(state);
    settings.queue_bytes = 10000000;
    house_open(&settings);
    struct client client = ws_open(sid);
    memset(big, 'a', sizeof(big) - 1);
    for (int i = 0; i < 200; i++) {
        memcpy(big, "4000", 4);
        big[1] = (char)('0' + i / 100);
        big[2] = (char)('0' + i / 10 % 10);
        big[3] = (char)('0' + i % 10);
        struct engine_message *message =
            engine_message_new(slice_from_at(slice_from(big), 1), false);
        engine_send(house.last, message);
        engine_message_drop(message);
        rig_turn(house.rig);
    }
    assert_int_equal(house.closed, 0);
    engine_end(house.last); /* after all of it */
    for (int i = 0; i < 200; i++) {
        struct slice got = ws_hear(&client, WEBSOCKET_TEXT);
        assert_int_equal(got.len, sizeof(big) - 1);
        assert_int_equal((got.data[1] - '0') * 100 + (got.data[2] - '0') * 10 + got.data[3] - '0',
                         i);
    }
    assert_ws_closes(&client, WEBSOCKET_NO_STATUS);
    assert_closed(1, "forced close");
    hang_up(&client);
}

static void test_broadcast(void **state)
{
    enum { MANY = 200 };
    static struct client clients[MANY];
    static struct engine_session *sessions[MANY];
    char sid[SID_TEXT];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        clients[i] = i % 2 ? ws_open(sid) : open_polling(sid);
        sessions[i] = house.last;
        if (i % 2 == 0)
            poll_for(&clients[i], sid);
    }
    rig_turns(house.rig, 20);
    struct engine_message *message = engine_message_new(SLICE("to all"), false);
    for (int i = 0; i < MANY; i++)
        engine_send(sessions[i], message);
    engine_message_drop(message);
    for (int i = 0; i < MANY; i++) {
        if (i % 2)
            assert_ws(&clients[i], "4to all");
        else
            assert_answer(&clients[i], 200, "4to all");
    }
    for (int i = 0; i < MANY; i++)
        hang_up(&clients[i]);
}

static void test_many(void **state)
{
    enum { ROUNDS = 4, MANY = 500 };
    static struct client clients[MANY];
    char sid[SID_TEXT];

    (void)state;
    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < MANY; i++)
            clients[i] = ws_open(sid);
        assert_int_equal(engine_session_count(house.engine), MANY);
        assert_int_equal(connections(), MANY);
        for (int i = 0; i < MANY; i++) {
            if (i % 2)
                ws_say(&clients[i], WEBSOCKET_CLOSE, "");
            hang_up(&clients[i]);
        }
        RIG_WAIT(house.rig, house.closed == round * MANY);
        assert_int_equal(engine_session_count(house.engine), 0);
        RIG_WAIT(house.rig, connections() == 0);
    }
}

static void test_engine_closes(void **state)
{
    char sid[SID_TEXT], other[SID_TEXT];
    struct client client = ws_open(sid), poller = open_polling(other), waiting;

    poll_for(&poller, other);
    rig_turns(house.rig, 5);
    waiting = ws_dial("EIO=4&transport=websocket"); /* perhaps not even read */
    house_tear_down(state);
    assert_string_equal(house.why, "server close");
    while (!client.over)
        take_in(&client);
    assert_int_equal((unsigned char)client.in.data[0], 0x88);
    while (!poller.over)
        take_in(&poller);
    assert_memory_equal(poller.in.data + poller.in.len - 1, "1", 1);
    hang_up(&client);
    hang_up(&poller);
    hang_up(&waiting);
    house_set_up(state);
}

const struct CMUnitTest websocket_cases[] = {
    CASE(test_handshake),    CASE(test_echo),          CASE(test_early_bytes),
    CASE(test_byte_by_byte), CASE(test_faults),        CASE(test_limit),
    CASE(test_server_ends),  CASE(test_client_resets), CASE(test_heartbeat),
    CASE(test_sign_of_life), CASE(test_slow_reader),   CASE(test_reader_that_pauses),
    CASE(test_broadcast),    CASE(test_many),          CASE(test_engine_closes),
};
const size_t websocket_case_count = sizeof(websocket_cases) / sizeof(websocket_cases[0]);
