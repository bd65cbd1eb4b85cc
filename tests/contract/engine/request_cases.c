/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests are refused, in which order of reasons, and what pages of other origins may. */
#include "tests/contract/engine/rig.h"

#include <stdio.h>
#include <string.h>

#define UNKNOWN_TRANSPORT "{\"code\":0,\"message\":\"Transport unknown\"}"
#define UNKNOWN_SID       "{\"code\":1,\"message\":\"Session ID unknown\"}"
#define BAD_METHOD        "{\"code\":2,\"message\":\"Bad handshake method\"}"
#define BAD_REQUEST       "{\"code\":3,\"message\":\"Bad request\"}"
#define BAD_PROTOCOL      "{\"code\":5,\"message\":\"Unsupported protocol version\"}"

struct row {
    const char *method, *query, *body; /* S: the sid of a session that polls; W: on a WebSocket */
    unsigned status;
    const char *answer;
};

static const struct row rows[] = {
    {"GET", "EIO=4", NULL, 400, UNKNOWN_TRANSPORT},
    {"GET", "", NULL, 400, UNKNOWN_TRANSPORT},
    {"GET", "EIO=4&transport=", NULL, 400, UNKNOWN_TRANSPORT},
    {"GET", "EIO=4&transport=abc", NULL, 400, UNKNOWN_TRANSPORT},
    {"GET", "EIO=4&transport=webtransport", NULL, 400, UNKNOWN_TRANSPORT},
    {"GET", "EIO=4&transport=Polling", NULL, 400, UNKNOWN_TRANSPORT},
    {"GET", "EIO=4&transport=polling&transport=polling", NULL, 400, UNKNOWN_TRANSPORT},
    {"POST", "transport=abc&sid=nope", "4a", 400, UNKNOWN_TRANSPORT}, /* before all else */
    {"GET", "EIO=4&transport=polling&sid=nope", NULL, 400, UNKNOWN_SID},
    {"GET", "EIO=4&transport=polling&sid=aaaaaaaaaaaaaaaaaaaa", NULL, 400, UNKNOWN_SID},
    {"GET", "EIO=4&transport=polling&sid=S&sid=S", NULL, 400, UNKNOWN_SID},
    {"POST", "EIO=4&transport=polling&sid=nope", "4a", 400, UNKNOWN_SID},
    {"PUT", "EIO=3&transport=polling&sid=nope", "4a", 400, UNKNOWN_SID}, /* before the method */
    {"GET", "EIO=4&transport=websocket&sid=nope", NULL, 400, UNKNOWN_SID},
    {"POST", "EIO=4&transport=polling", "4a", 400, BAD_METHOD},
    {"PUT", "EIO=4&transport=polling", NULL, 400, BAD_METHOD},
    {"OPTIONS", "EIO=4&transport=polling", NULL, 400, BAD_METHOD},
    {"POST", "EIO=3&transport=websocket", "4a", 400, BAD_METHOD}, /* before both others */
    {"GET", "EIO=4&transport=websocket", NULL, 400, BAD_REQUEST},
    {"GET", "EIO=3&transport=websocket", NULL, 400, BAD_REQUEST},
    {"GET", "EIO=4&transport=websocket&sid=S", NULL, 400, BAD_REQUEST},
    {"GET", "EIO=3&transport=polling&sid=S", NULL, 400, BAD_REQUEST},
    {"GET", "transport=polling&sid=S", NULL, 400, BAD_REQUEST},
    {"GET", "EIO=4&transport=polling&sid=W", NULL, 400, BAD_REQUEST},
    {"POST", "EIO=4&transport=polling&sid=W", "4a", 400, BAD_REQUEST},
    {"GET", "EIO=4&transport=websocket&sid=W", NULL, 400, BAD_REQUEST},
    {"GET", "transport=polling", NULL, 400, BAD_PROTOCOL},
    {"GET", "EIO=3&transport=polling", NULL, 400, BAD_PROTOCOL},
    {"GET", "EIO=5&transport=polling&sid=", NULL, 400, BAD_PROTOCOL},
    {"GET", "EIO=4&EIO=4&transport=polling", NULL, 400, BAD_PROTOCOL},
    {"PUT", "EIO=4&transport=polling&sid=S", NULL, 500, ""},
    {"DELETE", "EIO=4&transport=polling&sid=S", NULL, 500, ""},
};

static void fill(char *query, size_t size, const char *pattern, const char *polling,
                 const char *websocket)
{
    size_t len = strlen(pattern);
    bool ends = len > 5 && strncmp(pattern + len - 5, "sid=", 4) == 0;
    const char *sid = pattern[len > 0 ? len - 1 : 0] == 'W' ? websocket : polling;

    if (ends && strchr("SW", pattern[len - 1]))
        snprintf(query, size, "%.*s%s", (int)len - 1, pattern, sid);
    else
        snprintf(query, size, "%s", pattern);
}

static void test_refusals(void **state)
{
    char polling[SID_TEXT], websocket[SID_TEXT], query[256];
    struct client poller = open_polling(polling), socket = ws_open(websocket);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fill(query, sizeof(query), rows[i].query, polling, websocket);
        struct reply reply = answer_to(&poller, rows[i].method, query, rows[i].body);
        print_message("%s %s\n", rows[i].method, rows[i].query);
        assert_string_equal(reply.body, rows[i].answer);
        assert_int_equal(reply.status, rows[i].status);
        if (reply.body_len > 0)
            assert_non_null(strstr(reply.head, "\r\nContent-Type: application/json\r\n"));
    }
    assert_int_equal(house.closed, 0); /* both sessions live on */
    assert_int_equal(engine_session_count(house.engine), 2);
    hang_up(&poller);
    hang_up(&socket);
}

static void assert_no_websocket(const char *query, const char *fields, const char *message)
{
    struct client client = dial(house.rig);
    struct reply reply;
    char text[512];

    snprintf(text, sizeof(text), "GET /engine.io/?%s HTTP/1.1\r\nHost: x\r\n%s\r\n", query, fields);
    assert_true(say(&client, text));
    assert_true(hear(&client, &reply));
    assert_int_equal(reply.status, 400);
    assert_string_equal(reply.body, message);
    assert_non_null(strcasestr(reply.head, "\r\nConnection: close\r\n"));
    assert_non_null(strstr(reply.head, "\r\nContent-Type: text/html\r\n"));
    assert_ends(&client);
    hang_up(&client);
}

static void test_refused_websockets(void **state)
{
    static const char good[] = "EIO=4&transport=websocket";
    static const char no_version[] = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    static const char old_version[] = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                      "Sec-WebSocket-Version: 8\r\n"
                                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    static const char no_key[] = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                 "Sec-WebSocket-Version: 13\r\n";
    static const char short_key[] = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YWJj\r\n";
    char sid[SID_TEXT];
    struct client poller = open_polling(sid);

    (void)state;
    assert_no_websocket("EIO=4&transport=abc", HANDSHAKE_FIELDS, "Transport unknown");
    assert_no_websocket("EIO=4&transport=websocket&sid=no", HANDSHAKE_FIELDS, "Session ID unknown");
    assert_no_websocket("EIO=3&transport=websocket", HANDSHAKE_FIELDS,
                        "Unsupported protocol version");
    assert_no_websocket("transport=websocket", HANDSHAKE_FIELDS, "Unsupported protocol version");
    assert_no_websocket("EIO=4&transport=polling", HANDSHAKE_FIELDS, "Bad request");
    assert_no_websocket(polling_query(sid), HANDSHAKE_FIELDS, "Bad request");
    assert_no_websocket(good, no_version, "Bad request");
    assert_no_websocket(good, old_version, "Bad request");
    assert_no_websocket(good, no_key, "Bad request");
    assert_no_websocket(good, short_key, "Bad request");
    assert_int_equal(house.opened, 1);
    hang_up(&poller);
}

static void test_bad_origin(void **state)
{
    struct client client = dial(house.rig);

    (void)state;
    assert_true(say(&client, "GET /engine.io/?EIO=4&transport=polling HTTP/1.1\r\nHost: x\r\n"
                             "Origin: http://a\r\nOrigin: http://b\r\n\r\n"));
    assert_answer(&client, 400, BAD_REQUEST);
    assert_true(say(&client, "GET /engine.io/?EIO=4&transport=polling HTTP/1.1\r\nHost: x\r\n"
                             "Origin: http://a\x01\r\n\r\n"));
    assert_answer(&client, 400, BAD_REQUEST);
    assert_ends(&client);
    hang_up(&client);
}

static void test_too_many_sessions(void **state)
{
    struct engine_settings settings = house_settings();
    char sid[SID_TEXT];

    (void)state;
    house_tear_down(state);
    settings.sessions = 1;
    house_open(&settings);
    struct client first = open_polling(sid), second = dial(house.rig);
    struct reply reply = answer_to(&second, "GET", "EIO=4&transport=polling", NULL);
    assert_int_equal(reply.status, 503);
    assert_non_null(strstr(reply.head, "\r\nRetry-After: "));
    hang_up(&second);
    second = ws_dial("EIO=4&transport=websocket");
    assert_answer(&second, 503, "Too many sessions");
    hang_up(&second);
    post(&first, sid, "1");
    assert_answer(&first, 200, "ok");
    assert_closed(1, "transport close");
    second = open_polling(sid);
    hang_up(&first);
    hang_up(&second);
}

static void ask_as(struct client *client, const char *method, const char *origin, const char *more,
                   struct reply *reply)
{
    char text[512];

    snprintf(text, sizeof(text),
             "%s /engine.io/?EIO=4&transport=polling HTTP/1.1\r\nHost: x\r\nOrigin: %s\r\n%s\r\n",
             method, origin, more);
    assert_true(say(client, text));
    assert_true(hear(client, reply));
}

static void test_origins(void **state)
{
    static const char *const origins[] = {"https://a.example", "https://b.example", NULL};
    struct engine_settings settings = house_settings();
    struct reply reply;

    house_tear_down(state);
    settings.origins = origins;
    house_open(&settings);
    struct client client = dial(house.rig);
    ask_as(&client, "GET", "https://b.example", "", &reply);
    assert_int_equal(reply.status, 200);
    assert_non_null(strstr(reply.head, "\r\nAccess-Control-Allow-Origin: https://b.example\r\n"));
    assert_non_null(strstr(reply.head, "\r\nAccess-Control-Allow-Credentials: true\r\n"));
    assert_non_null(strstr(reply.head, "\r\nVary: Origin\r\n"));
    ask_as(&client, "GET", "https://c.example", "", &reply);
    assert_int_equal(reply.status, 200); /* the browser keeps it from the page */
    assert_null(strstr(reply.head, "Access-Control-"));
    ask_as(&client, "POST", "https://a.example", "Content-Length: 0\r\n", &reply);
    assert_int_equal(reply.status, 400); /* so that the page can tell why */
    assert_non_null(strstr(reply.head, "\r\nAccess-Control-Allow-Origin: https://a.example\r\n"));
    ask_as(
        &client, "OPTIONS", "https://a.example",
        "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\n",
        &reply);
    assert_int_equal(reply.status, 204);
    assert_non_null(strstr(reply.head, "\r\nAccess-Control-Allow-Origin: https://a.example\r\n"));
    assert_non_null(strstr(reply.head, "\r\nAccess-Control-Allow-Methods: GET, POST\r\n"));
    assert_non_null(strstr(reply.head, "\r\nAccess-Control-Allow-Headers: authorization\r\n"));
    ask_as(&client, "OPTIONS", "https://c.example", "", &reply);
    assert_int_equal(reply.status, 400);
    assert_null(strstr(reply.head, "Access-Control-"));
    hang_up(&client);
}

static void test_any_origin(void **state)
{
    static const char *const any[] = {"*", NULL};
    struct engine_settings settings = house_settings();
    struct reply reply;

    house_tear_down(state);
    settings.origins = any;
    house_open(&settings);
    struct client client = dial(house.rig);
    ask_as(&client, "GET", "https://b.example", "", &reply);
    assert_non_null(strstr(reply.head, "\r\nAccess-Control-Allow-Origin: *\r\n"));
    assert_null(strstr(reply.head, "Credentials"));
    ask_as(&client, "OPTIONS", "https://c.example", "", &reply);
    assert_int_equal(reply.status, 204);
    hang_up(&client);
}

static void test_no_origin_listed(void **state)
{
    struct client client = dial(house.rig);
    struct reply reply;

    (void)state;
    ask_as(&client, "GET", "https://b.example", "User-Agent: probe/1\r\n", &reply);
    assert_int_equal(reply.status, 200);
    assert_null(strstr(reply.head, "Access-Control-"));
    assert_string_equal(house.agent, "probe/1"); /* what `opened` was shown */
    hang_up(&client);
}

const struct CMUnitTest request_cases[] = {
    CASE(test_refusals),         CASE(test_refused_websockets), CASE(test_bad_origin),
    CASE(test_origins),          CASE(test_too_many_sessions),  CASE(test_any_origin),
    CASE(test_no_origin_listed),
};
const size_t request_case_count = sizeof(request_cases) / sizeof(request_cases[0]);
