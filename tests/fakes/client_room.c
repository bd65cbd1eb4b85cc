/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fakes/client_room.h"

#include <assert.h>
#include <stdlib.h>

static void client_gone(void *context)
{
    struct client_room *room = context;

    room->client_gone = true;
}

void room_open_client(struct client_room *room, bool private_too, const char *ca_file)
{
    room->client_gone = false;
    room->client = http_client_open(&room->turn, private_too, ca_file);
}

void room_close_client(struct client_room *room)
{
    http_client_close(room->client, client_gone, room);
    room->client = NULL;
    while (!room->client_gone)
        uv_run(&room->loop, UV_RUN_ONCE);
}

int room_set_up(void **state)
{
    struct client_room *room = mem_new(sizeof(*room));

    uv_loop_init(&room->loop);
    turn_open(&room->turn, &room->loop);
    room_open_client(room, true, NULL);
    stub_open(&room->stub, &room->loop);
    *state = room;
    return 0;
}

int room_tear_down(void **state)
{
    struct client_room *room = *state;

    room_close_client(room);
    stub_close(&room->stub);
    turn_close(&room->turn);
    uv_run(&room->loop, UV_RUN_DEFAULT);
    int busy = uv_loop_close(&room->loop);
    free(room);
    return busy;
}

static void on_done(struct op *op)
{
    struct exchange *exchange = CONTAINER_OF(op, struct exchange, call.op);

    exchange->over = true;
    uv_stop(&exchange->room->loop); /* nothing else may be left to wake it */
}

void exchange_begin(struct client_room *room, struct exchange *exchange)
{
    struct http_call *call = &exchange->call;

    exchange->room = room;
    if (!call->url)
        call->url = room->stub.url;
    if (!call->headers.data)
        call->headers = SLICE("Content-Type: application/json\0X-One: 1\0");
    if (!call->body.data)
        call->body = SLICE("{\"a\":1}");
    if (call->timeout_ms == 0)
        call->timeout_ms = PATIENCE_MS;
    http_client_send(room->client, call, on_done);
    assert(!exchange->over); /* never before the call returned */
}

void exchange_finish(struct exchange *exchange)
{
    while (!exchange->over)
        uv_run(&exchange->room->loop, UV_RUN_ONCE);
}

enum http_result exchange_run(struct client_room *room, struct exchange *exchange)
{
    exchange_begin(room, exchange);
    exchange_finish(exchange);
    return exchange->call.result;
}

void exchange_get(struct client_room *room, struct exchange *exchange)
{
    exchange->room = room;
    http_client_get(room->client, &exchange->call, on_done);
    exchange_finish(exchange);
}

void exchange_release(struct exchange *exchange)
{
    buf_release(&exchange->call.answer);
    buf_release(&exchange->call.kept);
}

static enum http_result post(struct client_room *room, const char *url, bool fresh)
{
    struct exchange exchange = {.call = {.url = url, .fresh_connection = fresh}};
    enum http_result result = exchange_run(room, &exchange);

    exchange_release(&exchange);
    return result;
}

enum http_result room_post(struct client_room *room, const char *url)
{
    return post(room, url, false);
}

enum http_result room_post_fresh(struct client_room *room, const char *url)
{
    return post(room, url, true);
}
