/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/socketio/engine_session.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/codec.h"
#include "gateway/core/digest.h"
#include "relay/socketio/engine_link.h"
#include "relay/socketio/engine_polling.h"

enum { SID_BYTES = 15 };

/* ---- which there are ---- */

/* Sids are random, so their own letters spread them. */
static struct bucket *bucket_of(const struct engine *engine, struct slice sid)
{
    size_t hash = 0;

    for (size_t i = 0; i < sid.len; i++)
        hash = hash * 67 + (unsigned char)sid.data[i];
    return &engine->buckets[hash & (engine->bucket_count - 1)];
}

static struct slice sid_of(const struct engine_session *session)
{
    return (struct slice){.data = session->sid, .len = SID_LEN};
}

struct engine_session *session_find(const struct engine *engine, struct slice sid)
{
    if (sid.len != SID_LEN)
        return NULL;
    for (struct engine_session *session = bucket_of(engine, sid)->first; session;
         session = session->next)
        if (digest_equal((const unsigned char *)sid.data, (const unsigned char *)session->sid,
                         SID_LEN))
            return session;
    return NULL;
}

static void make_sid(char sid[static SID_LEN + 1])
{
    unsigned char bytes[SID_BYTES];

    random_bytes(bytes, sizeof(bytes));
    base64_encode(bytes, sizeof(bytes), sid);
    for (char *c = sid; *c; c++)
        *c = (char)(*c == '+' ? '-' : *c == '/' ? '_' : *c);
}

struct engine_session *session_new(struct engine *engine, bool websocket)
{
    struct engine_session *session = mem_new(sizeof(*session));

    *session = (struct engine_session){.engine = engine, .websocket = websocket};
    make_sid(session->sid);
    struct bucket *bucket = bucket_of(engine, sid_of(session));
    session->next = bucket->first;
    bucket->first = session;
    engine->sessions++;
    due_set(&engine->dues, &session->due, &engine->dues.lists[DUE_PING]);
    return session;
}

static void leave_bucket(struct engine_session *session)
{
    struct engine_session **at = &bucket_of(session->engine, sid_of(session))->first;

    while (*at != session)
        at = &(*at)->next;
    *at = session->next;
    session->engine->sessions--;
}

void session_open_packet(const struct engine_session *session, struct buf *text)
{
    const struct engine_settings *settings = &session->engine->settings;

    buf_appendf(text,
                "{\"sid\":\"%s\",\"upgrades\":[%s],\"pingInterval\":%lld,\"pingTimeout\":%lld,"
                "\"maxPayload\":%zu}",
                session->sid, session->websocket ? "" : "\"websocket\"",
                (long long)settings->ping_interval_ms, (long long)settings->ping_timeout_ms,
                settings->max_payload);
}

/* ---- what their packets mean ---- */

static void await(struct engine_session *session, enum engine_due what)
{
    struct dues *dues = &session->engine->dues;

    due_set(dues, &session->due, &dues->lists[what]);
}

static bool awaits_pong(const struct engine_session *session)
{
    return session->due.in == &session->engine->dues.lists[DUE_PONG];
}

static void on_message(struct engine_session *session, const struct engine_packet *packet)
{
    session->engine->events.message(session->user, packet->data, packet->binary);
}

void session_packet(struct engine_session *session, const struct engine_packet *packet)
{
    if (session->state == SESSION_ENDING && packet->type == ENGINE_CLOSE)
        session_over(session, "transport close");
    if (session->state != SESSION_OPEN)
        return;
    if (awaits_pong(session) && !session->pong_refreshed) { /* a sign of life too, for once */
        session->pong_refreshed = true;
        await(session, DUE_PONG);
    }
    switch (packet->type) {
    case ENGINE_CLOSE:
        session_over(session, "transport close");
        break;
    case ENGINE_PING: /* that is for the server to send */
        session_over(session, "transport error");
        break;
    case ENGINE_PONG:
        await(session, DUE_PING);
        break;
    case ENGINE_MESSAGE:
        on_message(session, packet);
        break;
    case ENGINE_OPEN:
    case ENGINE_UPGRADE:
    case ENGINE_NOOP:
        break;
    }
}

/* ---- heartbeats ---- */

void session_on_due_ping(struct due *due)
{
    struct engine_session *session = CONTAINER_OF(due, struct engine_session, due);

    session->pong_refreshed = false;
    await(session, DUE_PONG);
    engine_send(session, session->engine->ping);
}

void session_on_due_pong(struct due *due)
{
    session_over(CONTAINER_OF(due, struct engine_session, due), "ping timeout");
}

void session_on_due_end(struct due *due)
{
    session_over(CONTAINER_OF(due, struct engine_session, due), "forced close");
}

void session_on_due_tentative(struct due *due)
{
    session_over(CONTAINER_OF(due, struct engine_session, tentative), "never wanted");
}

void engine_set_tentative(struct engine_session *session, bool tentative)
{
    struct dues *dues = &session->engine->dues;

    if (!tentative || session->state != SESSION_OPEN)
        due_clear(&session->tentative);
    else if (!session->tentative.in)
        due_set(dues, &session->tentative, &dues->lists[DUE_TENTATIVE]);
}

/* ---- sending and ending ---- */

void session_stir(struct engine_session *session)
{
    struct engine *engine = session->engine;

    if (session->stirred)
        return;
    session->stirred = true;
    session->stirred_next = NULL;
    if (engine->stirred_last)
        engine->stirred_last->stirred_next = session;
    else
        engine->stirred = session;
    engine->stirred_last = session;
    turn_want(&engine->step);
}

void engine_send(struct engine_session *session, struct engine_message *message)
{
    if (session->state != SESSION_OPEN)
        return;
    queue_add(&session->queue, message);
    session_stir(session);
}

void engine_end(struct engine_session *session)
{
    if (session->state != SESSION_OPEN)
        return;
    session->state = SESSION_ENDING;
    await(session, DUE_END);
    session_stir(session);
}

void session_over(struct engine_session *session, const char *why)
{
    if (session->state == SESSION_OVER)
        return;
    session->state = SESSION_OVER;
    session->why = why;
    leave_bucket(session);
    due_clear(&session->due);
    due_clear(&session->tentative);
    polling_leave(session);
    queue_clear(&session->queue);
    if (session->link)
        link_close(session->link, WEBSOCKET_NO_STATUS);
    if (session->probe)
        link_close(session->probe, WEBSOCKET_NO_STATUS);
    session_stir(session);
}

/* All that is queued, on the transport that the session has. */
static void flush(struct engine_session *session)
{
    bool out = session->websocket ? link_flush(session->link) : polling_flush(session);
    size_t waiting = session->queue.bytes, most = session->engine->settings.queue_bytes;

    if (session->link)
        waiting += link_waiting(session->link);
    if (session->probe && link_waiting(session->probe) > most)
        link_close(session->probe, WEBSOCKET_NO_STATUS);
    if (session->state == SESSION_ENDING && out)
        session_over(session, "forced close");
    else if (waiting > most)
        session_over(session, "too slow");
}

void sessions_step(struct engine *engine)
{
    while (engine->stirred) {
        struct engine_session *session = engine->stirred;
        engine->stirred = session->stirred_next;
        if (!engine->stirred)
            engine->stirred_last = NULL;
        session->stirred = false;
        if (session->state != SESSION_OVER) {
            flush(session);
            continue;
        }
        engine->events.closed(session->user, session->why);
        free(session);
    }
}
