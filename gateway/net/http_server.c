/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmicrohttpd is polled from outside, by a pump. In this mode it wakes nobody by itself, so every
 * resume and every new connection asks the pump for a run, and its time-out is looked at then.
 *
 * A request is one `held`: on_first_call reads its head, on_body collects the body, on_whole hands
 * it over and, when nobody answered, suspends the connection. exchange_answer only keeps the answer
 * and resumes; it is queued in the handler call that follows, so the library is not entered twice.
 * It frees a request that is completed or dead, but never while it is parked.
 *
 * libmicrohttpd walks its upgraded connections at each resume, so it must not keep any: a taken
 * socket is a duplicate of the descriptor, and its own is closed at once, which TURBO does without
 * a shutdown. Where a handshake is all that ever came, it does not even write the 101.
 */
#include "gateway/net/http_server.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/net/body.h"
#include "gateway/net/head_checks.h"
#include "gateway/net/pump.h"
#include "gateway/net/raw_answer.h"
#include "gateway/net/wire.h"

enum {
    POOL_BYTES = 8192, /* of each connection; about 500 less is what a head may have */
    LAST_RUNS = 8,     /* of the daemon, before it ends */
    HIDES_BYTES = MHD_VERSION < 0x01000000 /* 1.0 refuses them, and overwrites the head's end */
};

struct http_server {
    struct MHD_Daemon *daemon;
    struct pump pump;
    struct http_handlers handlers;
    struct bodies bodies;
    struct wires wires; /* 1.0 announces a new one in its next run, 0.9 at once */
    bool draining, closing;
};

struct held { /* one request */
    struct exchange exchange;
    struct http_server *server;
    struct wire *wire;
    struct MHD_Connection *connection;
    struct head head;
    struct body body;
    bool handed_over, parked; /* `request` was called; nobody has answered yet */
    bool direct;              /* in the middle of a body: answered past libmicrohttpd */
    size_t head_bytes;
    unsigned status;
    struct MHD_Response *response; /* to be queued */
    struct http_upgrade upgrade;   /* `taken` is owed */
};

static struct MHD_Response *new_response(const struct http_answer *answer, bool close)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        answer->body.len, (void *)(uintptr_t)answer->body.data, MHD_RESPMEM_MUST_COPY);
    char seconds[24];

    if (answer->content_type)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
    if (answer->allow)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, answer->allow);
    if (answer->retry_after_s > 0) {
        snprintf(seconds, sizeof(seconds), "%lld", (long long)answer->retry_after_s);
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
    }
    if (close)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    return response;
}

static void respond(struct held *held, unsigned status, struct MHD_Response *response,
                    const struct http_field *fields, size_t field_count)
{
    if (!response)
        abort(); /* out of memory */
    for (size_t i = 0; i < field_count; i++) {
        char *value = mem_text(fields[i].value);
        MHD_add_response_header(response, fields[i].name, value);
        free(value);
    }
    held->status = status;
    held->response = response;
    if (!held->parked)
        return; /* the handler call that we are in goes on with it */
    held->parked = false;
    MHD_resume_connection(held->connection);
    pump_want(&held->server->pump);
}

void exchange_answer(struct exchange *exchange, const struct http_answer *answer)
{
    struct held *held = CONTAINER_OF(exchange, struct held, exchange);

    assert(!exchange->answered);
    exchange->answered = true;
    if (held->direct) {
        raw_answer(held->wire->fd, answer, MHD_get_reason_phrase_for(answer->status));
        return;
    }
    exchange->close = exchange->close || answer->close || held->server->draining;
    respond(held, answer->status, new_response(answer, exchange->close), answer->fields,
            answer->field_count);
}

static void on_upgraded(void *context, struct MHD_Connection *connection, void *slot,
                        const char *early, size_t early_len, MHD_socket fd,
                        struct MHD_UpgradeResponseHandle *handle)
{
    struct held *held = slot;

    (void)context, (void)connection, (void)fd;
    wire_hand_over(held->wire, &held->upgrade, (struct slice){.data = early, .len = early_len});
    MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
    pump_want(&held->server->pump);
}

void exchange_upgrade(struct exchange *exchange, const struct http_upgrade *upgrade)
{
    struct held *held = CONTAINER_OF(exchange, struct held, exchange);

    assert(!exchange->answered && held->handed_over && !exchange->http_1_0);
    exchange->answered = true;
    held->upgrade = *upgrade;
    if (!held->parked && wire_switch(held->wire, held->head_bytes, upgrade))
        return;
    respond(held, MHD_HTTP_SWITCHING_PROTOCOLS, MHD_create_response_for_upgrade(on_upgraded, NULL),
            upgrade->fields, upgrade->field_count);
}

bool exchange_is_deserted(const struct exchange *exchange)
{
    return wire_is_deserted(CONTAINER_OF(exchange, struct held, exchange)->wire);
}

static enum MHD_Result queue(struct held *held)
{
    enum MHD_Result queued = MHD_queue_response(held->connection, held->status, held->response);

    MHD_destroy_response(held->response);
    held->response = NULL;
    return queued;
}

static enum MHD_Result add_header(void *context, enum MHD_ValueKind kind, const char *name,
                                  size_t name_len, const char *value, size_t value_len)
{
    const struct slice named = {.data = name, .len = name_len},
                       said = {.data = value, .len = value_len};

    return (void)kind, request_add_header(context, named, said) ? MHD_YES : MHD_NO;
}

void exchange_query(const struct exchange *exchange, struct request *query)
{
    const struct held *held = CONTAINER_OF(exchange, struct held, exchange);

    query->header_count = 0;
    MHD_get_connection_values_n(held->connection, MHD_GET_ARGUMENT_KIND, add_header, query);
}

static enum MHD_Result on_first_call(struct http_server *server, struct wire *wire,
                                     struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, void **slot)
{
    struct held *held = mem_new(sizeof(*held));
    struct exchange *exchange = &held->exchange;

    *slot = held;
    *held = (struct held){.server = server, .wire = wire, .connection = connection};
    wire->request = held;
    server->wires.watch.head_done(wire->owner);
    int count =
        MHD_get_connection_values_n(connection, MHD_HEADER_KIND, add_header, &exchange->request);
    held->head_bytes =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
    const struct head_given given = {.method = slice_from(method),
                                     .path = slice_from(url),
                                     .version = slice_from(version),
                                     .peer = wire->peer,
                                     .target_len = wire->target_len,
                                     .end = HIDES_BYTES ? method + held->head_bytes : NULL,
                                     .too_many_headers = count > LIMIT_HEADERS};
    receive_head(&given, &server->handlers, exchange, &held->head);
    body_open(&held->body, &server->bodies, exchange->max_body);
    if (!exchange->answered)
        return MHD_YES;
    if (!exchange->close && head_body_is_short(&held->head))
        return MHD_YES; /* it is read and dropped, so that the connection can be kept */
    wire->unread = exchange->close || head_has_body(&held->head);
    server->wires.watch.body_done(wire->owner);
    return queue(held);
}

static enum MHD_Result on_body(struct held *held, const char *bytes, size_t *len)
{
    struct slice more = {.data = bytes, .len = *len};
    enum http_fault fault;

    *len = 0; /* taken */
    if (held->exchange.answered || body_append(&held->body, more, &fault))
        return MHD_YES;
    held->direct = held->wire->unread = true;
    held->server->wires.watch.body_done(held->wire->owner);
    receive_fault(&held->server->handlers, &held->exchange, fault);
    return MHD_NO; /* closes */
}

static enum MHD_Result on_whole(struct held *held)
{
    struct http_server *server = held->server;

    if (!held->handed_over) {
        held->handed_over = true;
        held->exchange.request.body = buf_slice(&held->body.bytes);
        server->wires.watch.body_done(held->wire->owner);
        if (!held->exchange.answered)
            server->handlers.request(server->handlers.context, &held->exchange);
    }
    if (held->response)
        return queue(held);
    if (held->exchange.answered) {
        wire_hand_over(held->wire, &held->upgrade, (struct slice){0});
        return MHD_NO; /* closes its own descriptor */
    }
    held->parked = true;
    MHD_suspend_connection(held->connection);
    return MHD_YES;
}

static enum MHD_Result on_call(void *context, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *bytes,
                               size_t *len, void **slot)
{
    struct http_server *server = context;

    pump_progress(&server->pump);
    if (server->closing && (!*slot || !((struct held *)*slot)->exchange.answered))
        return MHD_NO;
    if (!*slot) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
        return on_first_call(server, info->socket_context, connection, url, method, version, slot);
    }
    return *len > 0 ? on_body(*slot, bytes, len) : on_whole(*slot);
}

static void end_request(struct held *held)
{
    const struct http_handlers *handlers = &held->server->handlers;

    assert(!held->parked);
    held->wire->request = NULL;
    if (held->upgrade.taken)
        held->upgrade.taken(held->upgrade.context, NULL, (struct slice){0}, (struct slice){0});
    if (!held->exchange.answered && handlers->gone)
        handlers->gone(handlers->context, &held->exchange);
    if (held->response)
        MHD_destroy_response(held->response);
    body_release(&held->body);
    free(held);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **slot,
                         enum MHD_RequestTerminationCode code)
{
    struct held *held = *slot;

    (void)context, (void)connection;
    *slot = NULL;
    if (!held)
        return;
    if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK && !held->wire->taken)
        held->server->wires.watch.answered(held->wire->owner);
    end_request(held);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http_server *server = context;

    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        struct wire *wire = *socket_context;
        if (wire->request) /* 1.0 completes none whose trailer it refuses */
            end_request(wire->request);
        wire_close(wire);
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *socket_context = wire_announced(&server->wires, info->connect_fd);
}

void http_server_add(struct http_server *server, int fd, const struct sockaddr *peer,
                     socklen_t peer_len, void *connection)
{
    wire_add(&server->wires, fd, peer, connection);
    if (MHD_add_connection(server->daemon, fd, peer, peer_len) != MHD_YES)
        wire_drop_pending(&server->wires, fd);
    pump_want(&server->pump);
}

static bool run(struct pump *pump, uint64_t *ms)
{
    struct http_server *server = CONTAINER_OF(pump, struct http_server, pump);
    MHD_UNSIGNED_LONG_LONG timeout = 0;

    MHD_run(server->daemon);
    wires_drop_pending(&server->wires);
    bool due = MHD_get_timeout(server->daemon, &timeout) == MHD_YES;
    *ms = timeout;
    return due;
}

static void *on_target(void *context, const char *target, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    (void)context;
    ((struct wire *)info->socket_context)->target_len = strlen(target);
    return NULL;
}

/* Paths are compared and parsed as they were sent. */
static size_t leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return strlen(text);
}

struct http_server *http_server_open(struct turn *turn, const struct http_handlers *handlers,
                                     const struct http_watch *watch,
                                     const struct http_limits *limits)
{
    struct http_server *server = mem_new(sizeof(*server));
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE |
                     MHD_USE_NO_LISTEN_SOCKET | MHD_USE_TURBO;

    server->handlers = *handlers;
    server->bodies.most = limits->body_memory;
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_call, server, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)POOL_BYTES, MHD_OPTION_CONNECTION_LIMIT, limits->connections,
        MHD_OPTION_CONNECTION_TIMEOUT, limits->idle_s, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, server, MHD_OPTION_URI_LOG_CALLBACK, on_target, NULL,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL, MHD_OPTION_END);
    if (!server->daemon) {
        free(server);
        return NULL;
    }
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    pump_open(&server->pump, turn, info->epoll_fd, run);
    wires_open(&server->wires, turn->loop, watch);
    return server;
}

void http_server_drain(struct http_server *server)
{
    server->draining = true;
}

static void on_pump_closed(struct pump *pump)
{
    free(CONTAINER_OF(pump, struct http_server, pump));
}

void http_server_close(struct http_server *server)
{
    server->closing = true;
    for (int i = 0; i < LAST_RUNS; i++) /* answers given in this turn go out */
        MHD_run(server->daemon);
    pump_close(&server->pump, on_pump_closed);
    MHD_stop_daemon(server->daemon);
    wires_close(&server->wires);
}

const char *http_server_library(void)
{
    return MHD_get_version();
}
