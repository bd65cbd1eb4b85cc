/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fakes/http_rig.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void rig_answer(struct exchange *exchange, unsigned status, struct slice body)
{
    const struct http_answer answer = {
        .status = status, .content_type = "text/plain", .body = body};

    exchange_answer(exchange, &answer);
}

static void rig_on_taken(void *context, struct http_socket *socket, struct slice head,
                         struct slice early)
{
    struct rig *rig = context;

    if (!socket) {
        rig->lost++;
        return;
    }
    assert_true(rig->taken_count < TAKEN_MOST);
    rig->taken[rig->taken_count++] = socket;
    if (head.len > 0)
        assert_int_equal(send(http_socket_fd(socket), head.data, head.len, MSG_NOSIGNAL), head.len);
    rig->unsent_heads += head.len > 0;
    buf_append(&rig->early, early);
}

void rig_upgrade(struct rig *rig, struct exchange *exchange)
{
    const struct http_field field = {.name = "Upgrade", .value = SLICE("echo")};
    const struct http_upgrade upgrade = {
        .fields = &field, .field_count = 1, .taken = rig_on_taken, .context = rig};

    exchange_upgrade(exchange, &upgrade);
}

static void rig_on_head(void *context, struct exchange *exchange)
{
    struct rig *rig = context;

    rig->heads++;
    snprintf(rig->last_path, sizeof(rig->last_path), "%.*s", SLICE_ARG(exchange->path));
    snprintf(rig->last_method, sizeof(rig->last_method), "%.*s", SLICE_ARG(exchange->method));
    snprintf(rig->last_peer, sizeof(rig->last_peer), "%s", exchange->peer);
    if (slice_eq(exchange->path, SLICE("/echo")) || slice_eq(exchange->path, SLICE("/park")))
        exchange->max_body = ECHO_MOST;
    if (slice_eq(exchange->path, SLICE("/refused")))
        rig_answer(exchange, 404, SLICE("refused"));
}

static void rig_on_request(void *context, struct exchange *exchange)
{
    struct rig *rig = context;

    rig->requests++;
    if (slice_eq(exchange->path, SLICE("/park"))) {
        assert_true(rig->parked_count < PARKED_MOST);
        rig->parked[rig->parked_count++] = exchange;
        return;
    }
    if (slice_eq(exchange->path, SLICE("/upgrade"))) {
        rig_upgrade(rig, exchange);
        return;
    }
    rig_answer(exchange, 200,
               slice_eq(exchange->path, SLICE("/echo")) ? exchange->request.body : SLICE("hello"));
}

static void rig_on_fault(void *context, struct exchange *exchange, enum http_fault fault)
{
    static const unsigned statuses[] = {[FAULT_BAD_REQUEST] = 400,
                                        [FAULT_TOO_LARGE] = 413,
                                        [FAULT_NO_LENGTH] = 411,
                                        [FAULT_EXPECTATION] = 417,
                                        [FAULT_TOO_MANY_HEADERS] = 431};
    struct rig *rig = context;

    rig->faults++;
    rig->last_fault = fault;
    rig_answer(exchange, statuses[fault], SLICE("fault"));
}

static void rig_on_gone(void *context, struct exchange *exchange)
{
    struct rig *rig = context;

    assert_false(exchange->answered);
    rig->gone++;
}

struct front_settings rig_settings(void)
{
    return (struct front_settings){.listen = {SLICE("127.0.0.1:0")},
                                   .listen_count = 1,
                                   .connections = 5000,
                                   .connections_per_address = 5000,
                                   .body_memory = 1024 * 1024,
                                   .head_ms = 60000,
                                   .body_ms = 60000,
                                   .idle_ms = 60000};
}

struct rig *rig_new_for(const struct front_settings *settings, const struct http_handlers *handlers)
{
    struct rig *rig = mem_new(sizeof(*rig));
    struct http_handlers own = *handlers;
    struct err err = {""};

    if (!own.context)
        own.context = rig;
    rig->early.max = REPLY_MOST;
    uv_loop_init(&rig->loop);
    turn_open(&rig->turn, &rig->loop);
    if (!front_open(settings, &rig->turn, &own, &rig->front, &err))
        fail_msg("%s", err.text);
    return rig;
}

struct rig *rig_new(const struct front_settings *settings)
{
    return rig_new_for(settings, &(struct http_handlers){.head = rig_on_head,
                                                         .request = rig_on_request,
                                                         .fault = rig_on_fault,
                                                         .gone = rig_on_gone});
}

void rig_turn(struct rig *rig)
{
    if (uv_run(&rig->loop, UV_RUN_NOWAIT) != 0)
        poll(NULL, 0, 1);
    uv_run(&rig->loop, UV_RUN_NOWAIT);
}

static void rig_closed(void *context)
{
    ((struct rig *)context)->closed = true;
}

void rig_free(struct rig *rig)
{
    front_close(rig->front, rig_closed, rig);
    turn_close(&rig->turn);
    uv_run(&rig->loop, UV_RUN_DEFAULT);
    assert_true(rig->closed);
    assert_int_equal(*metrics_value(METRIC_CONNECTIONS, NULL, NULL, NULL), 0);
    assert_int_equal(uv_loop_close(&rig->loop), 0);
    metrics_free();
    buf_release(&rig->early);
    free(rig);
}

void rig_turns(struct rig *rig, int count)
{
    while (count-- > 0)
        rig_turn(rig);
}

void rig_release(struct rig *rig, size_t index)
{
    rig_answer(rig->parked[index], 200, SLICE("late"));
}

struct client dial_address(struct rig *rig, const union address *address)
{
    struct client client = {.rig = rig, .in = BUF_INIT(REPLY_MOST)};

    client.fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(client.fd >= 0);
    assert_int_equal(connect(client.fd, &address->any, address_len(address)), 0);
    return client;
}

union address rig_address(const struct rig *rig, size_t index)
{
    struct slice url = slice_from(front_address(rig->front, index));
    union address address;
    struct err err = {""};

    if (slice_starts(url, SLICE("http://")))
        url = slice_from_at(url, 7);
    if (!address_parse(url, &address, &err))
        fail_msg("%s", err.text);
    return address;
}

struct client dial(struct rig *rig)
{
    union address address = rig_address(rig, 0);

    return dial_address(rig, &address);
}

void hang_up(struct client *client)
{
    close(client->fd);
    buf_release(&client->in);
}

bool say_bytes(struct client *client, struct slice bytes)
{
    uint64_t until = uv_hrtime() + RIG_PATIENCE_NS;

    while (bytes.len > 0) {
        ssize_t sent = send(client->fd, bytes.data, bytes.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN)
            return false;
        if (sent > 0)
            bytes = slice_from_at(bytes, (size_t)sent);
        else
            rig_turn(client->rig);
        assert_true(uv_hrtime() < until);
    }
    return true;
}

bool say(struct client *client, const char *text)
{
    return say_bytes(client, slice_from(text));
}

void take_in(struct client *client)
{
    char *room = buf_reserve(&client->in, 65536);

    assert_non_null(room);
    ssize_t len = recv(client->fd, room, 65536, MSG_DONTWAIT);
    if (len > 0)
        client->in.len += (size_t)len;
    else if (len == 0 || errno != EAGAIN)
        client->over = true;
}

static const char *end_of_head(const struct client *client)
{
    return client->in.len == 0 ? NULL : memmem(client->in.data, client->in.len, "\r\n\r\n", 4);
}

bool hear(struct client *client, struct reply *reply)
{
    uint64_t until = uv_hrtime() + RIG_PATIENCE_NS;

    memset(reply, 0, sizeof(*reply));
    for (;;) {
        const char *end = end_of_head(client);
        size_t head = end ? (size_t)(end - client->in.data) + 4 : 0;
        if (end) {
            snprintf(reply->head, sizeof(reply->head), "%.*s", (int)head, client->in.data);
            reply->status = (unsigned)strtoul(reply->head + 9, NULL, 10);
            const char *length = strcasestr(reply->head, "\r\nContent-Length:");
            size_t body = length ? strtoul(length + 17, NULL, 10) : 0;
            if (strcmp(client->rig->last_method, "HEAD") == 0 || reply->status < 200)
                body = 0;
            if (client->in.len >= head + body) {
                reply->body_len = body;
                assert_true(body < sizeof(reply->body));
                memcpy(reply->body, client->in.data + head, body);
                buf_consume(&client->in, head + body);
                return true;
            }
        }
        if (client->over)
            return false;
        rig_turn(client->rig);
        take_in(client);
        assert_true(uv_hrtime() < until);
    }
}

void assert_ends(struct client *client)
{
    for (uint64_t until = uv_hrtime() + RIG_PATIENCE_NS; !client->over; rig_turn(client->rig)) {
        take_in(client);
        assert_true(uv_hrtime() < until);
    }
    assert_int_equal(client->in.len, 0);
}

void assert_hears(struct client *client, unsigned status, const char *body)
{
    struct reply reply;

    assert_true(hear(client, &reply));
    assert_int_equal(reply.status, status);
    assert_string_equal(reply.body, body);
}
