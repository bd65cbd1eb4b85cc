/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/socketio/engine_answer.h"

static const struct {
    unsigned status;
    int code;
    const char *message;
    int64_t retry_after_s;
} refusals[] = {
    [REFUSED_TRANSPORT] = {400, 0, "Transport unknown", 0},
    [REFUSED_UNKNOWN_SID] = {400, 1, "Session ID unknown", 0},
    [REFUSED_METHOD] = {400, 2, "Bad handshake method", 0},
    [REFUSED_BAD_REQUEST] = {400, 3, "Bad request", 0},
    [REFUSED_PROTOCOL] = {400, 5, "Unsupported protocol version", 0},
    [REFUSED_ORIGIN] = {403, 4, "Forbidden", 0},
    [REFUSED_TOO_MANY] = {503, 4, "Too many sessions", 5},
    [REFUSED_CLOSING] = {503, 4, "Closing", 5},
};

static void send_answer(const struct engine *engine, struct exchange *exchange,
                        struct http_answer answer)
{
    struct http_field fields[CORS_FIELDS + 1];
    size_t count = cors_fields(&engine->cors, &exchange->request, fields);

    fields[count].name = "Cache-Control";
    fields[count].value = SLICE("no-store");
    answer.fields = fields;
    answer.field_count = count + 1;
    exchange_answer(exchange, &answer);
}

void engine_answer(const struct engine *engine, struct exchange *exchange, unsigned status,
                   const char *content_type, struct slice body)
{
    const struct http_answer answer = {
        .status = status, .content_type = content_type, .body = body};

    send_answer(engine, exchange, answer);
}

void engine_answer_empty(const struct engine *engine, struct exchange *exchange, unsigned status)
{
    engine_answer(engine, exchange, status, "text/plain", (struct slice){0});
}

void engine_refuse(const struct engine *engine, struct exchange *exchange,
                   enum engine_refusal refusal, bool upgrade)
{
    struct buf body = BUF_INIT(256);
    const char *message = refusals[refusal].message;

    if (upgrade)
        buf_append(&body, slice_from(message));
    else
        buf_appendf(&body, "{\"code\":%d,\"message\":\"%s\"}", refusals[refusal].code, message);
    const struct http_answer answer = {
        .status = refusals[refusal].status,
        .content_type = upgrade ? "text/html" : "application/json",
        .retry_after_s = refusals[refusal].retry_after_s,
        .close = upgrade,
        .body = buf_slice(&body),
    };
    send_answer(engine, exchange, answer);
    buf_release(&body);
}

bool engine_answer_preflight(const struct engine *engine, struct exchange *exchange)
{
    struct http_field fields[CORS_FIELDS];
    size_t count;

    if (!cors_preflight(&engine->cors, &exchange->request, fields, &count))
        return false;
    exchange_answer(exchange,
                    &(struct http_answer){.status = 204, .fields = fields, .field_count = count});
    return true;
}
