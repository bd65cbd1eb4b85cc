/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `concurrency` shots fly at once; where one lands, the next takes off from the same memory.
 *
 *   {"status":200,"code":"relayed","delivery_id":"...","ms":12}             an answer
 *   {"error":"...","result":"not_sent","delivery_id":"...","ms":1}          none
 *   {"count":100,"ok":99,"ms":812,"answers":{"200":99,"503":1}}             the last line of
 * several
 */
#include "gateway/cli/volley.h"

#include <stdio.h>
#include <stdlib.h>

#include "gateway/core/clock.h"
#include "gateway/core/codec.h"
#include "gateway/core/digest.h"
#include "relay/conceal.h"
#include "relay/http_client.h"

enum {
    HEADER_BYTES = 16384,
    UUID_BYTES = 16,
    UUID_SIZE = 37,
    STATUSES = 1000,
    AWAKE_MS = 60000,
    CODE_SIZE = 128
};

struct flight {
    const struct volley *volley;
    uv_loop_t loop;
    struct turn turn;
    uv_timer_t awake; /* the loop would end when there is no more than a finished op left */
    struct http_client *client;
    char id[UUID_SIZE]; /* the one of `repeat` */
    unsigned taken_off, ok;
    unsigned answers[STATUSES]; /* by status; 0: none */
    unsigned flying;
};

struct shot {
    struct flight *flight;
    struct http_call call;
    struct outgoing out;
    struct wake wake;
    char id[UUID_SIZE];
    uint64_t began_us;
};

/* A random UUID (RFC 9562, version 4). */
static void make_uuid(char text[static UUID_SIZE])
{
    unsigned char bytes[UUID_BYTES];
    char hex[2 * UUID_BYTES + 1];

    random_bytes(bytes, sizeof(bytes));
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    hex_encode(bytes, sizeof(bytes), hex);
    snprintf(text, UUID_SIZE, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16,
             hex + 20);
}

static void print_line(json_t *line)
{
    json_dumpf(line, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(line);
}

/* What a gateway or a runtime calls its answer: `code`, else a `status` that is a word. */
static json_t *answer_code(const struct shot *shot)
{
    const struct volley *volley = shot->flight->volley;
    const struct buf *answer = &shot->call.answer;
    const struct conceal request = {.secret = volley->speech.secret->text,
                                    .headers = buf_slice(&shot->out.headers),
                                    .key = shot->wake.delivery_id,
                                    .url = volley->url};
    json_t *body = json_loadb(buf_text(answer), answer->len, 0, NULL);
    json_t *code = json_object_get(body, "code");
    char text[CODE_SIZE];

    if (!json_is_string(code))
        code = json_object_get(body, "status");
    bool has_code = json_is_string(code);
    outcome_text(text, sizeof(text), json_string_value(code), json_string_length(code));
    json_decref(body);
    conceal(&request, text);
    return has_code ? json_string(text) : NULL;
}

static void print_answer(const struct shot *shot, int64_t ms)
{
    const struct http_call *call = &shot->call;
    const char *result = call->result == HTTP_NOT_SENT ? "not_sent" : "no_answer";
    json_t *line =
        call->result == HTTP_ANSWERED
            ? json_pack("{s:i, s:o*}", "status", (int)call->status, "code", answer_code(shot))
            : json_pack("{s:s, s:s}", "error", call->err.text, "result", result);

    json_object_set_new(line, "delivery_id",
                        json_stringn(shot->wake.delivery_id.data, shot->wake.delivery_id.len));
    if (call->result == HTTP_ANSWERED && call->has_retry_after)
        json_object_set_new(line, "retry_after_ms", json_integer(call->retry_after_ms));
    json_object_set_new(line, "ms", json_integer(ms));
    print_line(line);
}

static void shot_land(struct shot *shot)
{
    shot->flight->flying--;
    buf_release(&shot->out.headers);
    buf_release(&shot->out.body);
    free(shot);
}

static void shot_take_off(struct shot *shot);

static void on_answer(struct op *op)
{
    struct shot *shot = CONTAINER_OF(op, struct shot, call.op);
    struct flight *flight = shot->flight;
    const struct http_call *call = &shot->call;
    unsigned status = call->result == HTTP_ANSWERED ? call->status : 0;

    print_answer(shot, (int64_t)(clock_steady_us() - shot->began_us) / 1000);
    flight->answers[status < STATUSES ? status : 0]++;
    if (status >= 200 && status < 300)
        flight->ok++;
    buf_release(&shot->call.answer);
    if (flight->taken_off < flight->volley->count)
        shot_take_off(shot);
    else
        shot_land(shot);
    if (flight->flying == 0)
        uv_close((uv_handle_t *)&flight->awake, NULL);
}

static void stay_awake(uv_timer_t *timer)
{
    (void)timer;
}

/* A wake that cannot be said in the dialect fails like one that could not be sent. */
static void shot_take_off(struct shot *shot)
{
    const struct volley *volley = shot->flight->volley;
    struct http_call *call = &shot->call;
    struct wake *wake = &shot->wake;

    shot->flight->taken_off++;
    shot->began_us = clock_steady_us();
    *wake = volley->wake;
    if (wake->delivery_id.len == 0) {
        make_uuid(shot->id);
        wake->delivery_id = slice_from(volley->repeat ? shot->flight->id : shot->id);
    }
    buf_clear(&shot->out.headers);
    buf_clear(&shot->out.body);
    *call = (struct http_call){
        .url = volley->url,
        .timeout_ms = volley->timeout_ms,
        .fresh_connection = !volley->dialect->variants[volley->speech.variant].idempotent,
    };
    if (!volley->dialect->frame(wake, &volley->speech, wake->delivery_id, clock_wall_ms(),
                                &shot->out, &call->err)) {
        call->result = HTTP_NOT_SENT;
        op_begin(&call->op, on_answer);
        op_finish(&call->op, &shot->flight->turn);
        return;
    }
    call->headers = buf_slice(&shot->out.headers);
    call->body = buf_slice(&shot->out.body);
    http_client_send(shot->flight->client, call, on_answer);
}

static void print_summary(const struct flight *flight, int64_t ms)
{
    json_t *answers = json_object();
    char name[16];

    for (unsigned status = 0; status < STATUSES; status++) {
        if (flight->answers[status] == 0)
            continue;
        snprintf(name, sizeof(name), status == 0 ? "none" : "%u", status);
        json_object_set_new(answers, name, json_integer(flight->answers[status]));
    }
    print_line(json_pack("{s:I, s:I, s:I, s:o}", "count", (json_int_t)flight->volley->count, "ok",
                         (json_int_t)flight->ok, "ms", (json_int_t)ms, "answers", answers));
}

bool volley_run(const struct volley *volley)
{
    struct flight flight = {.volley = volley};
    uint64_t began_us = clock_steady_us();

    uv_loop_init(&flight.loop);
    turn_open(&flight.turn, &flight.loop);
    uv_timer_init(&flight.loop, &flight.awake);
    uv_timer_start(&flight.awake, stay_awake, AWAKE_MS, AWAKE_MS);
    flight.client = http_client_open(&flight.turn, true, volley->ca_file);
    make_uuid(flight.id);
    for (unsigned i = 0; i < volley->concurrency && i < volley->count; i++) {
        struct shot *shot = mem_new(sizeof(*shot));
        *shot = (struct shot){
            .flight = &flight,
            .out = {.headers = BUF_INIT(HEADER_BYTES), .body = BUF_INIT(LIMIT_OUT_BODY_BYTES)}};
        flight.flying++;
        shot_take_off(shot);
    }
    uv_run(&flight.loop, UV_RUN_DEFAULT);
    if (volley->count > 1)
        print_summary(&flight, (int64_t)(clock_steady_us() - began_us) / 1000);
    http_client_close(flight.client, NULL, NULL);
    turn_close(&flight.turn);
    uv_run(&flight.loop, UV_RUN_DEFAULT);
    uv_loop_close(&flight.loop);
    return flight.ok == volley->count;
}
