/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/socketio/engine_polling.h"

#include "relay/socketio/engine_answer.h"

static void answer_packets(const struct engine_session *session, struct exchange *exchange,
                           struct slice body)
{
    engine_answer(session->engine, exchange, 200, "text/plain; charset=UTF-8", body);
}

void polling_open(struct engine_session *session, struct exchange *exchange)
{
    struct buf text = BUF_INIT(512);

    buf_append_char(&text, '0' + ENGINE_OPEN);
    session_open_packet(session, &text);
    answer_packets(session, exchange, buf_slice(&text));
    buf_release(&text);
}

/* ---- GET ---- */

static struct exchange *take_poll(struct engine_session *session)
{
    struct exchange *exchange = session->poll;

    session->poll = NULL;
    due_clear(&session->look);
    return exchange;
}

static void answer_queue(struct engine_session *session)
{
    static const struct engine_packet close = {.type = ENGINE_CLOSE}, noop = {.type = ENGINE_NOOP};
    struct buf body = BUF_INIT(queue_body_max(&session->queue) + 2);

    queue_take(&session->queue, &body);
    if (session->state == SESSION_ENDING)
        engine_payload_append(&body, &close);
    else if (body.len == 0)
        engine_payload_append(&body, &noop);
    answer_packets(session, take_poll(session), buf_slice(&body));
    buf_release(&body);
}

bool polling_flush(struct engine_session *session)
{
    if (session->poll &&
        (session->queue.first || session->probed || session->state == SESSION_ENDING)) {
        answer_queue(session);
        return true;
    }
    return false;
}

void polling_poll(struct engine_session *session, struct exchange *exchange)
{
    struct dues *dues = &session->engine->dues;

    if (session->poll) {
        session_over(session, "transport error");
        engine_answer_empty(session->engine, exchange, 400);
        return;
    }
    session->poll = exchange;
    due_set(dues, &session->look, &dues->lists[DUE_LOOK]);
    session_stir(session);
}

void polling_rest(struct engine_session *session)
{
    if (session->poll)
        answer_packets(session, take_poll(session), SLICE("6"));
}

void polling_leave(struct engine_session *session)
{
    if (session->poll)
        answer_packets(session, take_poll(session), SLICE("1"));
    if (session->post)
        session->post->context = NULL;
    session->post = NULL;
}

void polling_on_due_look(struct due *due)
{
    struct engine_session *session = CONTAINER_OF(due, struct engine_session, look);
    struct dues *dues = &session->engine->dues;

    if (exchange_is_deserted(session->poll))
        session_over(session, "transport error");
    else
        due_set(dues, due, &dues->lists[DUE_LOOK]);
}

/* ---- POST ---- */

static bool is_octets(const struct request *request)
{
    struct slice type;

    return request_header(request, SLICE("Content-Type"), &type) == HEADER_FOUND &&
           slice_eq_nocase(type, SLICE("application/octet-stream"));
}

void polling_expect(struct engine_session *session, struct exchange *exchange)
{
    struct engine *engine = session->engine;

    if (session->post || is_octets(&exchange->request)) {
        struct exchange *first = session->post;
        session_over(session, "transport error");
        engine_answer_empty(engine, exchange, 400);
        if (first)
            engine_answer_empty(engine, first, 400);
        return;
    }
    exchange->max_body = engine->settings.max_payload;
    exchange->context = session;
    session->post = exchange;
}

static struct engine_session *take_post(struct exchange *exchange)
{
    struct engine_session *session = exchange->context;

    exchange->context = NULL;
    if (session)
        session->post = NULL;
    return session;
}

static void take_packets(struct engine_session *session, struct slice body)
{
    struct buf bytes = BUF_INIT(session->engine->settings.max_payload);
    struct slice rest = body;
    struct engine_packet packet;

    do {
        if (!engine_payload_next(&rest, &bytes, &packet)) {
            session_over(session, "parse error");
            break;
        }
        if (packet.type == ENGINE_CLOSE) /* whoever closes is not told to */
            polling_rest(session);
        session_packet(session, &packet);
    } while (rest.len > 0 && session->state != SESSION_OVER);
    buf_release(&bytes);
}

void polling_data(struct engine *engine, struct exchange *exchange)
{
    struct engine_session *session = take_post(exchange);

    if (!session) {
        engine_refuse(engine, exchange, REFUSED_UNKNOWN_SID, false);
        return;
    }
    take_packets(session, exchange->request.body);
    engine_answer(engine, exchange, 200, "text/html", SLICE("ok"));
}

void polling_forget(struct exchange *exchange, const char *why)
{
    struct engine_session *session = take_post(exchange);

    if (session)
        session_over(session, why);
}
