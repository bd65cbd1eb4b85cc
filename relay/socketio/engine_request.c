/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request to the engine is, and whether it may be: transport, origin, sid, method and
 * protocol are looked at in this order, and the first that is wrong makes the answer. Everything
 * but GET is judged when its head is there, before a body is read.
 */
#include "gateway/net/parameters.h"
#include "relay/socketio/engine_answer.h"
#include "relay/socketio/engine_handshake.h"
#include "relay/socketio/engine_polling.h"
#include "relay/socketio/engine_probe.h"

struct query {
    bool websocket;                 /* the transport that is asked for */
    bool upgrade;                   /* it comes as a WebSocket handshake */
    struct engine_session *session; /* NULL: a new one is wanted */
};

static bool has_value(const struct exchange *exchange, struct slice name, struct slice wanted)
{
    struct slice value;

    return exchange_parameter(exchange, name, &value) == HEADER_FOUND && slice_eq(value, wanted);
}

static enum engine_refusal judge_session(const struct exchange *exchange, const struct query *query)
{
    if (!query->session)
        return REFUSED_UNKNOWN_SID;
    if (!query->upgrade && query->websocket != query->session->websocket)
        return REFUSED_BAD_REQUEST;
    if (query->upgrade != query->websocket || !has_value(exchange, SLICE("EIO"), SLICE("4")))
        return REFUSED_BAD_REQUEST;
    return REFUSED_NOT;
}

static enum engine_refusal judge_handshake(const struct engine *engine,
                                           const struct exchange *exchange,
                                           const struct query *query)
{
    if (!slice_eq(exchange->method, SLICE("GET")))
        return REFUSED_METHOD;
    if (query->upgrade && !cors_admits(&engine->cors, &exchange->request))
        return REFUSED_ORIGIN;
    if (query->websocket != query->upgrade)
        return REFUSED_BAD_REQUEST;
    if (!has_value(exchange, SLICE("EIO"), SLICE("4")))
        return REFUSED_PROTOCOL;
    return REFUSED_NOT;
}

static enum engine_refusal judge(const struct engine *engine, const struct exchange *exchange,
                                 struct query *query)
{
    struct slice origin, sid = {0};

    query->upgrade = handshake_is_meant(exchange);
    if (engine->closing)
        return REFUSED_CLOSING;
    query->websocket = has_value(exchange, SLICE("transport"), SLICE("websocket"));
    if (!query->websocket && !has_value(exchange, SLICE("transport"), SLICE("polling")))
        return REFUSED_TRANSPORT;
    if (request_header(&exchange->request, SLICE("Origin"), &origin) == HEADER_REPEATED)
        return REFUSED_BAD_REQUEST;
    enum header_found found = exchange_parameter(exchange, SLICE("sid"), &sid);
    if (found == HEADER_ABSENT || (found == HEADER_FOUND && sid.len == 0))
        return judge_handshake(engine, exchange, query);
    query->session = session_find(engine, sid);
    return judge_session(exchange, query);
}

/* ---- new sessions ---- */

/* Whoever opens sessions and does no more must not keep out those who do. */
static void make_room(struct engine *engine)
{
    struct due *oldest = engine->dues.lists[DUE_TENTATIVE].first;

    if (oldest && engine->sessions >= engine->settings.sessions)
        session_over(CONTAINER_OF(oldest, struct engine_session, tentative), "too many sessions");
}

static struct engine_session *open_session(struct engine *engine, struct exchange *exchange,
                                           bool websocket)
{
    make_room(engine);
    if (engine->sessions < engine->settings.sessions)
        return session_new(engine, websocket);
    engine_refuse(engine, exchange, REFUSED_TOO_MANY, websocket);
    return NULL;
}

static void announce(struct engine_session *session, const struct exchange *exchange)
{
    struct engine *engine = session->engine;

    session->user = engine->events.opened(engine->context, session, &exchange->request);
}

static void open_polling(struct engine *engine, struct exchange *exchange)
{
    struct engine_session *session = open_session(engine, exchange, false);

    if (!session)
        return;
    announce(session, exchange);
    polling_open(session, exchange);
}

static void open_websocket(struct engine *engine, struct exchange *exchange, const char *accept)
{
    struct engine_session *session = open_session(engine, exchange, true);
    struct buf text = BUF_INIT(512);

    if (!session)
        return;
    session->link = link_new(engine);
    session->link->session = session;
    session_open_packet(session, &text);
    link_send(session->link, engine_message_packet(ENGINE_OPEN, buf_slice(&text)));
    buf_release(&text);
    announce(session, exchange);
    handshake_answer(exchange, accept, session->link);
}

/* A session that has one, or a probe, already gets no other: this one is accepted and closed. */
static void add_websocket(struct engine_session *session, struct exchange *exchange,
                          const char *accept)
{
    struct link *link = link_new(session->engine);

    if (!session->websocket && !session->probe && session->state == SESSION_OPEN)
        probe_begin(link, session);
    handshake_answer(exchange, accept, link);
}

/* ---- the handlers ---- */

static void on_websocket(struct engine *engine, struct exchange *exchange,
                         struct engine_session *session)
{
    char accept[WEBSOCKET_ACCEPT_SIZE];

    if (!handshake_read(exchange, accept))
        return;
    if (session)
        add_websocket(session, exchange, accept);
    else
        open_websocket(engine, exchange, accept);
}

void engine_head(struct engine *engine, struct exchange *exchange)
{
    struct query query = {0};

    if (slice_eq(exchange->method, SLICE("GET")))
        return;
    if (slice_eq(exchange->method, SLICE("OPTIONS")) && engine_answer_preflight(engine, exchange))
        return;
    enum engine_refusal refusal = judge(engine, exchange, &query);
    if (refusal != REFUSED_NOT)
        engine_refuse(engine, exchange, refusal, query.upgrade);
    else if (slice_eq(exchange->method, SLICE("POST")))
        polling_expect(query.session, exchange);
    else
        engine_answer_empty(engine, exchange, 500);
}

void engine_request(struct engine *engine, struct exchange *exchange)
{
    struct query query = {0};

    if (slice_eq(exchange->method, SLICE("POST"))) {
        polling_data(engine, exchange);
        return;
    }
    enum engine_refusal refusal = judge(engine, exchange, &query);
    if (refusal != REFUSED_NOT)
        engine_refuse(engine, exchange, refusal, query.upgrade);
    else if (query.upgrade)
        on_websocket(engine, exchange, query.session);
    else if (query.session)
        polling_poll(query.session, exchange);
    else
        open_polling(engine, exchange);
}

void engine_fault(struct engine *engine, struct exchange *exchange, enum http_fault fault)
{
    static const unsigned statuses[] = {
        [FAULT_BAD_REQUEST] = 400, [FAULT_TOO_LARGE] = 413,        [FAULT_NO_LENGTH] = 411,
        [FAULT_EXPECTATION] = 417, [FAULT_TOO_MANY_HEADERS] = 431, [FAULT_NO_ROOM] = 503};

    polling_forget(exchange, "transport error");
    if (fault == FAULT_BAD_REQUEST)
        engine_refuse(engine, exchange, REFUSED_BAD_REQUEST, false);
    else
        engine_answer_empty(engine, exchange, statuses[fault]);
}

void engine_gone(struct engine *engine, struct exchange *exchange)
{
    (void)engine;
    polling_forget(exchange, "transport error");
}
