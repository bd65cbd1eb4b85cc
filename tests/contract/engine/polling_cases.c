/* SPDX-License-Identifier: Apache-2.0 */
/* The transport of long polling. */
#include "tests/contract/engine/rig.h"

#include <stdio.h>
#include <string.h>

#define UNKNOWN_SID "{\"code\":1,\"message\":\"Session ID unknown\"}"

static void assert_gone(const char *sid)
{
    struct client client = dial(house.rig);

    poll_for(&client, sid);
    assert_answer(&client, 400, UNKNOWN_SID);
    post(&client, sid, "4late");
    assert_answer(&client, 400, UNKNOWN_SID);
    hang_up(&client);
}

static void test_handshake(void **state)
{
    struct client client = dial(house.rig);
    struct reply reply = answer_to(&client, "GET", "transport=polling&EIO=4&t=1&b64=1", NULL);
    char sid[SID_TEXT], expected[256];

    (void)state;
    assert_int_equal(reply.status, 200);
    assert_non_null(strstr(reply.head, "\r\nContent-Type: text/plain; charset=UTF-8\r\n"));
    assert_non_null(strcasestr(reply.head, "\r\nCache-Control: no-store\r\n"));
    snprintf(sid, sizeof(sid), "%.20s", reply.body + strlen("0{\"sid\":\""));
    snprintf(expected, sizeof(expected),
             "0{\"sid\":\"%s\",\"upgrades\":[\"websocket\"],\"pingInterval\":60000,"
             "\"pingTimeout\":60000,\"maxPayload\":100000}",
             sid);
    assert_string_equal(reply.body, expected);
    assert_int_equal(
        strspn(sid, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), 20);
    assert_int_equal(engine_session_count(house.engine), 1);
    hang_up(&client);
}

static void test_echo(void **state)
{
    char sid[SID_TEXT];
    struct client client = open_polling(sid), poller = dial(house.rig);
    struct reply reply;

    (void)state;
    poll_for(&poller, sid);
    rig_turns(house.rig, 20);
    assert_int_equal(poller.in.len, 0); /* it hangs */
    post(&client, sid, "4hello");
    assert_true(hear(&client, &reply));
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.body, "ok");
    assert_non_null(strstr(reply.head, "\r\nContent-Type: text/html\r\n"));
    assert_true(hear(&poller, &reply));
    assert_string_equal(reply.body, "4hello");
    assert_non_null(strstr(reply.head, "\r\nContent-Type: text/plain; charset=UTF-8\r\n"));
    assert_non_null(strcasestr(reply.head, "\r\nCache-Control: no-store\r\n"));
    hang_up(&client);
    hang_up(&poller);
}

static void test_several_packets(void **state)
{
    char sid[SID_TEXT];
    struct client client = open_polling(sid);

    (void)state;
    post(&client, sid,
         "4a\x1e"
         "bAQIDBA==\x1e"
         "4\xe2\x82\xac\x1e"
         "4");
    assert_answer(&client, 200, "ok");
    assert_int_equal(house.messages, 4);
    poll_for(&client, sid);
    assert_answer(&client, 200,
                  "4a\x1e"
                  "bAQIDBA==\x1e"
                  "4\xe2\x82\xac\x1e"
                  "4");
    assert_int_equal(house.closed, 0);
    hang_up(&client);
}

static void assert_parse_error(const char *body)
{
    unsigned closed = house.closed;
    char sid[SID_TEXT];
    struct client client = open_polling(sid), poller = dial(house.rig);

    poll_for(&poller, sid);
    rig_turns(house.rig, 5);
    post(&client, sid, body);
    assert_answer(&client, 200, "ok"); /* as the reference does */
    assert_answer(&poller, 200, "1");
    assert_closed(closed + 1, "parse error");
    assert_gone(sid);
    hang_up(&client);
    hang_up(&poller);
}

static void test_parse_errors(void **state)
{
    (void)state;
    assert_parse_error("");
    assert_parse_error("abc");
    assert_parse_error("7");
    assert_parse_error("bAQIDB===");
    assert_parse_error("4a\x1e");
    assert_parse_error("\x1e"
                       "4a");
    assert_parse_error("4\xff");
    assert_int_equal(house.messages, 0);
}

static void test_wrong_direction(void **state)
{
    char sid[SID_TEXT];
    struct client client = open_polling(sid);

    (void)state;
    post(&client, sid, "2");
    assert_answer(&client, 200, "ok");
    assert_closed(1, "transport error");
    assert_gone(sid);
    hang_up(&client);
    client = open_polling(sid);
    post(&client, sid, "2probe");
    assert_answer(&client, 200, "ok");
    assert_closed(2, "transport error");
    hang_up(&client);
}

static void test_ignored_packets(void **state)
{
    char sid[SID_TEXT];
    struct client client = open_polling(sid);

    (void)state;
    post(&client, sid,
         "3\x1e"
         "6\x1e"
         "5\x1e"
         "0\x1e"
         "3probe\x1e"
         "4x");
    assert_answer(&client, 200, "ok");
    poll_for(&client, sid);
    assert_answer(&client, 200, "4x");
    assert_int_equal(house.closed, 0);
    hang_up(&client);
}

static void test_second_get(void **state)
{
    char sid[SID_TEXT];
    struct client first = open_polling(sid), second = dial(house.rig);

    (void)state;
    poll_for(&first, sid);
    rig_turns(house.rig, 5);
    poll_for(&second, sid);
    assert_answer(&second, 400, "");
    assert_answer(&first, 200, "1");
    assert_closed(1, "transport error");
    assert_gone(sid);
    hang_up(&first);
    hang_up(&second);
}

static void test_second_post(void **state)
{
    char sid[SID_TEXT], text[256];
    struct client first = open_polling(sid), second = dial(house.rig);

    (void)state;
    snprintf(text, sizeof(text),
             "POST /engine.io/?%s HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n4ab",
             polling_query(sid));
    assert_true(say(&first, text));
    rig_turns(house.rig, 5);
    post(&second, sid, "4x");
    assert_answer(&second, 400, "");
    assert_closed(1, "transport error");
    assert_true(say(&first, "cdefgh"));
    assert_answer(&first, 400, "");
    assert_int_equal(house.messages, 0);
    hang_up(&first);
    hang_up(&second);
}

static void test_session_goes_in_a_body(void **state)
{
    char sid[SID_TEXT], text[256];
    struct client first = open_polling(sid), other = dial(house.rig);

    (void)state;
    snprintf(text, sizeof(text),
             "POST /engine.io/?%s HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n4ab",
             polling_query(sid));
    assert_true(say(&first, text));
    rig_turns(house.rig, 5);
    poll_for(&other, sid);
    rig_turns(house.rig, 5);
    engine_end(house.last);
    assert_answer(&other, 200, "1");
    assert_closed(1, "forced close");
    assert_true(say(&first, "cdefgh"));
    assert_answer(&first, 400, UNKNOWN_SID);
    hang_up(&first);
    hang_up(&other);
}

static void test_body_never_ends(void **state)
{
    char sid[SID_TEXT], text[256];
    struct client client = open_polling(sid);

    (void)state;
    snprintf(text, sizeof(text),
             "POST /engine.io/?%s HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n4ab",
             polling_query(sid));
    assert_true(say(&client, text));
    rig_turns(house.rig, 5);
    hang_up(&client);
    assert_closed(1, "transport error");
}

static void test_poll_deserted(void **state)
{
    char sid[SID_TEXT];
    struct client client = open_polling(sid);

    (void)state;
    poll_for(&client, sid);
    rig_turns(house.rig, 5);
    assert_int_equal(house.closed, 0);
    hang_up(&client);
    assert_closed(1, "transport error"); /* long before a heartbeat would tell */
}

static void test_binary_content(void **state)
{
    char sid[SID_TEXT], text[256];
    struct client client = open_polling(sid);

    (void)state;
    snprintf(text, sizeof(text),
             "POST /engine.io/?%s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
             "Content-Type: application/octet-stream\r\n\r\n4a",
             polling_query(sid));
    assert_true(say(&client, text));
    assert_answer(&client, 400, "");
    assert_closed(1, "transport error");
    assert_int_equal(house.messages, 0);
    hang_up(&client);
}

static void test_too_large(void **state)
{
    static char body[100002];
    char sid[SID_TEXT], text[256];
    struct client client = open_polling(sid);

    (void)state;
    memset(body, 'a', sizeof(body) - 1);
    body[0] = '4';
    body[100000] = '\0';
    post(&client, sid, body); /* exactly what may be */
    assert_answer(&client, 200, "ok");
    assert_int_equal(house.bytes, 99999);
    body[100000] = 'a';
    post(&client, sid, body);
    assert_answer(&client, 413, "");
    assert_closed(1, "transport error");
    hang_up(&client);
    client = open_polling(sid); /* the same without a length */
    snprintf(
        text, sizeof(text),
        "POST /engine.io/?%s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n186a1\r\n",
        polling_query(sid));
    assert_true(say(&client, text));
    say_bytes(&client, (struct slice){.data = body, .len = 100001});
    assert_answer(&client, 413, "");
    assert_closed(2, "transport error");
    assert_int_equal(house.messages, 1);
    hang_up(&client);
}

static void test_client_closes(void **state)
{
    char sid[SID_TEXT];
    struct client client = open_polling(sid), poller = dial(house.rig);

    (void)state;
    poll_for(&poller, sid);
    rig_turns(house.rig, 5);
    post(&client, sid, "1");
    assert_answer(&client, 200, "ok");
    assert_answer(&poller, 200, "6");
    assert_closed(1, "transport close");
    assert_gone(sid);
    hang_up(&client);
    hang_up(&poller);
}

/* Both on their way before either is read: they are served in the order of their arrival. */
static void test_get_and_close_together(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= 50; i++) {
        char sid[SID_TEXT];
        struct client opener = open_polling(sid), poller = dial(house.rig),
                      poster = dial(house.rig);
        poll_for(&poller, sid);
        post(&poster, sid, "1");
        assert_answer(&poster, 200, "ok");
        assert_answer(&poller, 200, "6");
        assert_closed(i, "transport close");
        hang_up(&opener);
        hang_up(&poller);
        hang_up(&poster);
    }
}

static void test_nothing_after_a_close(void **state)
{
    char sid[SID_TEXT];
    struct client client = open_polling(sid);

    (void)state;
    post(&client, sid,
         "4a\x1e"
         "1\x1e"
         "4b");
    assert_answer(&client, 200, "ok");
    assert_closed(1, "transport close");
    assert_int_equal(house.messages, 1);
    hang_up(&client);
}

static void test_server_ends(void **state)
{
    char sid[SID_TEXT];
    struct client client = open_polling(sid), poller = dial(house.rig);

    (void)state;
    poll_for(&poller, sid);
    rig_turns(house.rig, 5);
    post(&client, sid, "4end");
    assert_answer(&client, 200, "ok");
    assert_answer(&poller, 200, "1");
    assert_closed(1, "forced close");
    assert_gone(sid);
    hang_up(&client);
    hang_up(&poller);
}

static void test_server_ends_after_what_was_sent(void **state)
{
    char sid[SID_TEXT];
    struct client client = open_polling(sid);

    (void)state;
    post(&client, sid,
         "4a\x1e"
         "4end\x1e"
         "4b");
    assert_answer(&client, 200, "ok");
    rig_turns(house.rig, 5);
    assert_int_equal(house.closed, 0); /* until somebody fetches it */
    poll_for(&client, sid);
    assert_answer(&client, 200,
                  "4a\x1e"
                  "1");
    assert_closed(1, "forced close");
    assert_int_equal(house.messages, 2);
    hang_up(&client);
}

static void test_heartbeat(void **state)
{
    struct engine_settings settings = house_settings();
    char sid[SID_TEXT];

    house_tear_down(state);
    settings.ping_interval_ms = 150;
    settings.ping_timeout_ms = 200;
    house_open(&settings);
    struct client client = open_polling(sid);
    for (int i = 0; i < 4; i++) {
        poll_for(&client, sid);
        assert_answer(&client, 200, "2");
        post(&client, sid, "3");
        assert_answer(&client, 200, "ok");
    }
    poll_for(&client, sid);
    assert_answer(&client, 200, "2");
    assert_int_equal(house.closed, 0);
    poll_for(&client, sid);
    assert_answer(&client, 200, "1");
    assert_closed(1, "ping timeout");
    assert_gone(sid);
    hang_up(&client);
}

static void test_slow_reader(void **state)
{
    struct engine_settings settings = house_settings();
    char sid[SID_TEXT];
    int posts = 0;

    house_tear_down(state);
    settings.queue_bytes = 20000;
    house_open(&settings);
    struct client client = open_polling(sid);
    while (house.closed == 0 && posts++ < 100) {
        static char body[1001];
        memset(body, '4', sizeof(body) - 1);
        post(&client, sid, body);
        assert_answer(&client, 200, "ok");
        rig_turns(house.rig, 2);
    }
    assert_closed(1, "too slow");
    assert_in_range(posts, 19, 21);
    hang_up(&client);
}

const struct CMUnitTest polling_cases[] = {
    CASE(test_handshake),
    CASE(test_echo),
    CASE(test_several_packets),
    CASE(test_parse_errors),
    CASE(test_wrong_direction),
    CASE(test_ignored_packets),
    CASE(test_second_get),
    CASE(test_second_post),
    CASE(test_session_goes_in_a_body),
    CASE(test_body_never_ends),
    CASE(test_poll_deserted),
    CASE(test_binary_content),
    CASE(test_too_large),
    CASE(test_client_closes),
    CASE(test_get_and_close_together),
    CASE(test_nothing_after_a_close),
    CASE(test_server_ends),
    CASE(test_server_ends_after_what_was_sent),
    CASE(test_heartbeat),
    CASE(test_slow_reader),
};
const size_t polling_case_count = sizeof(polling_cases) / sizeof(polling_cases[0]);
