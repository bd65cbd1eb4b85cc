/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/contract/engine/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct house house;

struct connection { /* what the rig keeps of a session */
    struct engine_session *session;
    bool open;
};

static void *on_opened(void *context, struct engine_session *session, const struct request *request)
{
    struct connection *connection = mem_new(sizeof(*connection));
    struct slice agent = {0};

    assert_ptr_equal(context, &house);
    request_header(request, SLICE("User-Agent"), &agent);
    snprintf(house.agent, sizeof(house.agent), "%.*s", SLICE_ARG(agent));
    *connection = (struct connection){.session = session, .open = true};
    house.last = session;
    house.opened++;
    return connection;
}

static void on_message(void *user, struct slice bytes, bool binary)
{
    struct connection *connection = user;

    assert_true(connection->open);
    house.messages++;
    house.bytes = bytes.len;
    house.binary = binary;
    if (slice_eq(bytes, SLICE("end"))) {
        engine_end(connection->session);
        return;
    }
    struct engine_message *message = engine_message_new(bytes, binary);
    engine_send(connection->session, message);
    engine_message_drop(message);
}

static void on_closed(void *user, const char *why)
{
    struct connection *connection = user;

    assert_true(connection->open);
    snprintf(house.why, sizeof(house.why), "%s", why);
    house.closed++;
    free(connection);
}

/* The engine is gone before its server: what still comes in is refused beside it. */
static bool is_closed(struct exchange *exchange)
{
    if (house.ended)
        exchange_answer(exchange, &(struct http_answer){.status = 503, .close = true});
    return house.ended;
}

static void on_head(void *context, struct exchange *exchange)
{
    (void)context;
    if (!is_closed(exchange))
        engine_head(house.engine, exchange);
}

static void on_request(void *context, struct exchange *exchange)
{
    (void)context;
    if (!is_closed(exchange))
        engine_request(house.engine, exchange);
}

static void on_fault(void *context, struct exchange *exchange, enum http_fault fault)
{
    (void)context;
    if (!is_closed(exchange))
        engine_fault(house.engine, exchange, fault);
}

static void on_gone(void *context, struct exchange *exchange)
{
    (void)context;
    if (!house.ended)
        engine_gone(house.engine, exchange);
}

struct engine_settings house_settings(void)
{
    return (struct engine_settings){.ping_interval_ms = 60000,
                                    .ping_timeout_ms = 60000,
                                    .upgrade_timeout_ms = 60000,
                                    .max_payload = 100000,
                                    .queue_bytes = 1000000,
                                    .sessions = 3000};
}

void house_open(const struct engine_settings *settings)
{
    const struct front_settings front = rig_settings();
    const struct engine_events events = {
        .opened = on_opened, .message = on_message, .closed = on_closed};

    house = (struct house){.settings = *settings};
    house.rig = rig_new_for(
        &front, &(struct http_handlers){
                    .head = on_head, .request = on_request, .fault = on_fault, .gone = on_gone});
    house.engine = engine_open(&house.rig->turn, settings, &events, &house);
}

int house_set_up(void **state)
{
    const struct engine_settings settings = house_settings();

    (void)state;
    house_open(&settings);
    return 0;
}

static void on_engine_closed(void *context)
{
    ((struct house *)context)->ended = true;
}

int house_tear_down(void **state)
{
    (void)state;
    engine_close(house.engine, on_engine_closed, &house);
    assert_false(house.ended);
    RIG_WAIT(house.rig, house.ended);
    assert_int_equal(house.opened, house.closed);
    rig_turns(house.rig, 3);
    rig_free(house.rig);
    return 0;
}

void house_turn_for(unsigned ms)
{
    for (uint64_t until = uv_hrtime() + ms * UINT64_C(1000000); uv_hrtime() < until;)
        rig_turn(house.rig);
}

void assert_closed(unsigned count, const char *why)
{
    RIG_WAIT(house.rig, house.closed >= count);
    assert_int_equal(house.closed, count);
    assert_string_equal(house.why, why);
    assert_int_equal(engine_session_count(house.engine), house.opened - house.closed);
}

/* ---- HTTP */

void ask(struct client *client, const char *method, const char *query, const char *body)
{
    struct buf text = BUF_INIT(REPLY_MOST);

    buf_appendf(&text, "%s /engine.io/?%s HTTP/1.1\r\nHost: x\r\n", method, query);
    if (body)
        buf_appendf(&text, "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
    else
        buf_appendf(&text, "\r\n");
    assert_true(say_bytes(client, buf_slice(&text)));
    buf_release(&text);
}

struct reply answer_to(struct client *client, const char *method, const char *query,
                       const char *body)
{
    struct reply reply;

    ask(client, method, query, body);
    assert_true(hear(client, &reply));
    return reply;
}

void assert_answer(struct client *client, unsigned status, const char *body)
{
    struct reply reply;

    assert_true(hear(client, &reply));
    assert_string_equal(reply.body, body);
    assert_int_equal(reply.status, status);
}

static void read_sid(struct slice packet, char sid[static SID_TEXT])
{
    static const char start[] = "0{\"sid\":\"";

    assert_true(packet.len > sizeof(start) + SID_TEXT);
    assert_memory_equal(packet.data, start, sizeof(start) - 1);
    snprintf(sid, SID_TEXT, "%.20s", packet.data + sizeof(start) - 1);
}

struct client open_polling(char sid[static SID_TEXT])
{
    struct client client = dial(house.rig);
    struct reply reply = answer_to(&client, "GET", "EIO=4&transport=polling&t=abc", NULL);

    assert_int_equal(reply.status, 200);
    read_sid(slice_from(reply.body), sid);
    return client;
}

const char *polling_query(const char *sid)
{
    static char query[128];

    snprintf(query, sizeof(query), "EIO=4&transport=polling&sid=%s", sid);
    return query;
}

void poll_for(struct client *client, const char *sid)
{
    ask(client, "GET", polling_query(sid), NULL);
}

void post(struct client *client, const char *sid, const char *body)
{
    ask(client, "POST", polling_query(sid), body);
}

/* ---- WebSocket */

struct client ws_dial(const char *query)
{
    struct client client = dial(house.rig);
    char text[512];

    snprintf(text, sizeof(text), "GET /engine.io/?%s HTTP/1.1\r\nHost: x\r\n%s\r\n", query,
             HANDSHAKE_FIELDS);
    assert_true(say(&client, text));
    return client;
}

static void assert_switched(struct client *client)
{
    struct reply reply;

    assert_true(hear(client, &reply));
    assert_int_equal(reply.status, 101);
    assert_non_null(strstr(reply.head, "\r\nUpgrade: websocket\r\n"));
    assert_non_null(
        strstr(reply.head, "\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
}

struct client ws_open(char sid[static SID_TEXT])
{
    struct client client = ws_dial("EIO=4&transport=websocket");

    assert_switched(&client);
    read_sid(ws_hear(&client, WEBSOCKET_TEXT), sid);
    return client;
}

struct client ws_open_for(const char *sid)
{
    char query[128];

    snprintf(query, sizeof(query), "EIO=4&transport=websocket&sid=%s", sid);
    struct client client = ws_dial(query);
    assert_switched(&client);
    return client;
}

void ws_say_frame(struct client *client, unsigned char first, struct slice payload)
{
    static const char mask[4] = {0x11, 0x22, 0x33, 0x44};
    unsigned char head[WEBSOCKET_HEAD_MAX];
    size_t head_len = websocket_head(head, WEBSOCKET_TEXT, payload.len);
    struct buf frame = BUF_INIT(REPLY_MOST);

    head[0] = first;
    head[1] |= 0x80;
    buf_append(&frame, (struct slice){.data = (const char *)head, .len = head_len});
    buf_append(&frame, (struct slice){.data = mask, .len = 4});
    for (size_t i = 0; i < payload.len; i++)
        buf_append_char(&frame, (char)(payload.data[i] ^ mask[i % 4]));
    say_bytes(client, buf_slice(&frame)); /* the server may have closed already */
    buf_release(&frame);
}

void ws_say(struct client *client, enum websocket_opcode opcode, const char *text)
{
    ws_say_frame(client, (unsigned char)(0x80 | (unsigned)opcode), slice_from(text));
}

static bool whole_frame(const struct client *client, size_t *head, size_t *len)
{
    const unsigned char *b = (const unsigned char *)client->in.data;
    size_t have = client->in.len;

    if (have < 2)
        return false;
    assert_int_equal(b[1] & 0x80, 0); /* a server does not mask */
    *head = (b[1] & 0x7f) == 126 ? 4 : (b[1] & 0x7f) == 127 ? 10 : 2;
    if (have < *head)
        return false;
    *len = *head == 2 ? b[1] : 0;
    for (size_t i = 2; i < *head; i++)
        *len = *len << 8 | b[i];
    return have >= *head + *len;
}

struct slice ws_hear(struct client *client, enum websocket_opcode opcode)
{
    static char payload[REPLY_MOST];
    size_t head = 0, len = 0;

    for (uint64_t until = uv_hrtime() + RIG_PATIENCE_NS; !whole_frame(client, &head, &len);) {
        assert_false(client->over);
        assert_true(uv_hrtime() < until);
        rig_turn(client->rig);
        take_in(client);
    }
    assert_int_equal((unsigned char)client->in.data[0], 0x80 | (unsigned)opcode);
    memcpy(payload, client->in.data + head, len);
    payload[len] = '\0';
    buf_consume(&client->in, head + len);
    return (struct slice){.data = payload, .len = len};
}

void assert_ws(struct client *client, const char *text)
{
    assert_string_equal(ws_hear(client, WEBSOCKET_TEXT).data, text);
}

void assert_ws_closes(struct client *client, unsigned status)
{
    struct slice payload = ws_hear(client, WEBSOCKET_CLOSE);
    const unsigned char *b = (const unsigned char *)payload.data;

    assert_int_equal(payload.len, status == WEBSOCKET_NO_STATUS ? 0 : 2);
    if (payload.len == 2)
        assert_int_equal(b[0] << 8 | b[1], status);
    assert_ends(client);
}
