/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/socketio/fake_engine.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/codec.h"
#include "tests/check.h"

enum { SENT_MAX = 100000 };

struct engine_session {
    struct engine *engine;
    void *user;
    struct buf sent, shown;
    bool ended, tentative;
    struct op closing;
    struct engine_session *next;
};

struct engine {
    struct turn *turn;
    const struct engine_events *events;
    void *context;
    struct engine_session *sessions;
    unsigned count;
    void (*done)(void *context);
    void *done_context;
    struct op closing;
};

struct engine_message {
    unsigned references;
    bool binary;
    struct buf bytes;
};

static unsigned messages;

struct engine *engine_open(struct turn *turn, const struct engine_settings *settings,
                           const struct engine_events *events, void *context)
{
    struct engine *engine = mem_new(sizeof(*engine));

    assert_true(settings->max_payload > 0);
    *engine = (struct engine){.turn = turn, .events = events, .context = context};
    return engine;
}

struct engine_session *fake_open(struct engine *engine, const struct request *request)
{
    struct engine_session *session = mem_new(sizeof(*session));

    *session = (struct engine_session){
        .engine = engine,
        .sent = BUF_INIT(SENT_MAX),
        .shown = BUF_INIT(SENT_MAX),
        .next = engine->sessions,
    };
    engine->sessions = session;
    engine->count++;
    session->user = engine->events->opened(engine->context, session, request);
    return session;
}

void fake_text(struct engine_session *session, const char *text)
{
    size_t len = strlen(text);
    char *copy = malloc(len); /* without a NUL behind it */

    if (len > 0)
        memcpy(copy, text, len);
    session->engine->events->message(session->user, (struct slice){copy, len}, false);
    free(copy);
}

void fake_binary(struct engine_session *session, struct slice bytes)
{
    session->engine->events->message(session->user, bytes, true);
}

void fake_lose(struct engine_session *session, const char *why)
{
    struct engine *engine = session->engine;
    struct engine_session **at = &engine->sessions;

    while (*at != session)
        at = &(*at)->next;
    *at = session->next;
    engine->count--;
    engine->events->closed(session->user, why);
    buf_release(&session->sent);
    buf_release(&session->shown);
    free(session);
}

static void end_session(struct op *op)
{
    fake_lose(CONTAINER_OF(op, struct engine_session, closing), "forced close");
}

void engine_end(struct engine_session *session)
{
    assert_false(session->ended);
    session->ended = true;
    op_begin(&session->closing, end_session);
    op_finish(&session->closing, session->engine->turn);
}

void engine_set_tentative(struct engine_session *session, bool tentative)
{
    session->tentative = tentative;
}

static void append(struct buf *sent, const struct engine_message *message)
{
    struct slice bytes = buf_slice(&message->bytes);

    if (sent->len > 0)
        buf_append_char(sent, '|');
    if (!message->binary) {
        buf_append(sent, bytes);
        return;
    }
    char *room = buf_reserve(sent, 2 * bytes.len);
    hex_encode((const unsigned char *)bytes.data, bytes.len, room);
    sent->len += 2 * bytes.len;
}

void engine_send(struct engine_session *session, struct engine_message *message)
{
    if (!session->ended)
        append(&session->sent, message);
}

const char *fake_sent(struct engine_session *session)
{
    buf_clear(&session->shown);
    buf_append(&session->shown, buf_slice(&session->sent));
    if (session->ended)
        buf_append(&session->shown, SLICE("(end)"));
    buf_clear(&session->sent);
    return buf_text(&session->shown);
}

static void nothing(struct op *op)
{
    (void)op;
}

void fake_turn(struct engine *engine)
{
    struct op op = {0};

    op_begin(&op, nothing); /* a loop on which nothing waits does not turn */
    op_finish(&op, engine->turn);
    while (op.running)
        uv_run(engine->turn->loop, UV_RUN_NOWAIT);
}

static void closed_all(struct op *op)
{
    struct engine *engine = CONTAINER_OF(op, struct engine, closing);

    for (struct engine_session *session = engine->sessions, *next; session; session = next) {
        next = session->next;
        fake_lose(session, "server shutting down");
    }
    engine->done(engine->done_context);
    free(engine);
}

void engine_close(struct engine *engine, void (*done)(void *context), void *context)
{
    engine->done = done;
    engine->done_context = context;
    op_begin(&engine->closing, closed_all);
    op_finish(&engine->closing, engine->turn);
}

struct engine_message *engine_message_new(struct slice bytes, bool binary)
{
    struct engine_message *message = mem_new(sizeof(*message));

    *message =
        (struct engine_message){.references = 1, .binary = binary, .bytes = BUF_INIT(SENT_MAX)};
    buf_append(&message->bytes, bytes);
    messages++;
    return message;
}

struct engine_message *engine_message_hold(struct engine_message *message)
{
    message->references++;
    return message;
}

void engine_message_drop(struct engine_message *message)
{
    if (--message->references > 0)
        return;
    buf_release(&message->bytes);
    free(message);
    messages--;
}

unsigned fake_messages(void)
{
    return messages;
}

unsigned engine_session_count(const struct engine *engine)
{
    return engine->count;
}
