/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmicrohttpd is polled from outside: its epoll descriptor sits in a uv_poll, and one early step
 * of each turn runs it when something is due. In this mode it wakes nobody by itself, so every
 * resume and every new connection makes that step due, and its time-out goes into one timer after
 * each run; without that re-arming, pipelined requests hang.
 *
 * A request is one `held`: on_first_call reads its head, on_body collects the body, on_whole hands
 * it over and, when nobody answered, suspends the connection. exchange_answer only keeps the answer
 * and resumes; the answer is queued in the handler call that the resume causes, so libmicrohttpd is
 * never entered from inside itself. It frees the request in its completed notification, which comes
 * for dead connections too, but never while one is parked.
 */
#include "gateway/net/http_server.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/clock.h"
#include "gateway/core/deadline.h"
#include "gateway/net/address.h"
#include "gateway/net/farewell.h"
#include "gateway/net/last_words.h"
#include "gateway/net/reception.h"

enum {
    POOL_BYTES = 8192, /* of each connection; about 500 less is what a head may have */
    LAST_RUNS = 8      /* of the daemon, before it ends */
};

struct http_server {
    struct MHD_Daemon *daemon;
    struct turn *turn;
    struct turn_step step;
    struct http_handlers handlers;
    struct http_watch watch;
    uv_poll_t poll;
    struct deadline timeout;
    struct farewell farewell;
    struct wire *pending; /* added, not announced yet: 1.0 does so in its next run, 0.9 at once */
    bool draining, closing;
};

struct wire { /* one connection */
    struct http_server *server;
    struct wire *next; /* pending too */
    void *owner;       /* what http_server_add was given */
    int fd;
    bool unread; /* answered before the whole request was read */
    char peer[ADDRESS_TEXT_SIZE];
};

struct held { /* one request */
    struct exchange exchange;
    struct wire *wire;
    struct MHD_Connection *connection;
    struct head head;
    struct buf body;
    bool handed_over; /* `request` was called */
    bool parked;
    bool direct; /* in the middle of a body: the answer must be written past libmicrohttpd */
    unsigned status;
    struct MHD_Response *response; /* to be queued */
};

static struct MHD_Response *new_response(const struct http_answer *answer, bool close)
{
    /* The library only reads the buffer: MUST_COPY. */
    struct MHD_Response *response = MHD_create_response_from_buffer(
        answer->body.len, (void *)(uintptr_t)answer->body.data, MHD_RESPMEM_MUST_COPY);
    char seconds[24];

    if (!response)
        abort(); /* out of memory */
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

void exchange_answer(struct exchange *exchange, const struct http_answer *answer)
{
    struct held *held = CONTAINER_OF(exchange, struct held, exchange);
    struct http_server *server = held->wire->server;

    assert(!exchange->answered);
    exchange->answered = true;
    if (held->direct) {
        last_words(held->wire->fd, answer, MHD_get_reason_phrase_for(answer->status));
        return;
    }
    exchange->close = exchange->close || answer->close || server->draining;
    held->status = answer->status;
    held->response = new_response(answer, exchange->close);
    if (!held->parked)
        return; /* the handler call that we are in goes on with it */
    held->parked = false;
    MHD_resume_connection(held->connection);
    turn_want(&server->step);
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
    struct request *request = context;

    (void)kind;
    if (request->header_count == LIMIT_HEADERS)
        return MHD_NO;
    struct header *header = &request->headers[request->header_count++];
    header->name = (struct slice){.data = name, .len = name_len};
    header->value = slice_trim((struct slice){.data = value, .len = value_len});
    return MHD_YES;
}

static enum MHD_Result on_first_call(struct wire *wire, struct MHD_Connection *connection,
                                     const char *url, const char *method, const char *version,
                                     void **slot)
{
    struct http_server *server = wire->server;
    struct held *held = mem_new(sizeof(*held));
    struct exchange *exchange = &held->exchange;

    *slot = held;
    held->wire = wire;
    held->connection = connection;
    exchange->method = slice_from(method);
    exchange->path = slice_from(url);
    exchange->began_us = clock_steady_us();
    memcpy(exchange->peer, wire->peer, sizeof(exchange->peer));
    server->watch.head_done(wire->owner);
    int count =
        MHD_get_connection_values_n(connection, MHD_HEADER_KIND, add_header, &exchange->request);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    const struct reception given = {.version = slice_from(version),
                                    .end = method + info->header_size,
                                    .too_many_headers = count > LIMIT_HEADERS};
    receive_head(&given, &server->handlers, exchange, &held->head);
    if (!exchange->answered) {
        held->body.max = exchange->max_body;
        if (held->head.length > 0)
            buf_reserve(&held->body, (size_t)held->head.length);
        return MHD_YES;
    }
    if (!exchange->close && head_body_is_short(&held->head))
        return MHD_YES; /* it is read and dropped, so that the connection can be kept */
    wire->unread = exchange->close || head_has_body(&held->head);
    server->watch.body_done(wire->owner);
    return queue(held);
}

static enum MHD_Result on_body(struct held *held, const char *bytes, size_t *len)
{
    struct slice more = {.data = bytes, .len = *len};

    *len = 0; /* taken */
    if (held->exchange.answered || buf_append(&held->body, more))
        return MHD_YES;
    held->direct = held->wire->unread = true;
    receive_fault(&held->wire->server->handlers, &held->exchange, FAULT_TOO_LARGE);
    return MHD_NO; /* closes */
}

static enum MHD_Result on_whole(struct held *held)
{
    struct http_server *server = held->wire->server;

    if (!held->handed_over) {
        held->handed_over = true;
        held->exchange.request.body = buf_slice(&held->body);
        server->watch.body_done(held->wire->owner);
        if (!held->exchange.answered)
            server->handlers.request(server->handlers.context, &held->exchange);
    }
    if (held->exchange.answered)
        return queue(held);
    held->parked = true;
    MHD_suspend_connection(held->connection);
    return MHD_YES;
}

static enum MHD_Result on_call(void *context, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *bytes,
                               size_t *len, void **slot)
{
    struct http_server *server = context;

    if (server->closing && (!*slot || !((struct held *)*slot)->exchange.answered))
        return MHD_NO;
    if (!*slot) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
        return on_first_call(info->socket_context, connection, url, method, version, slot);
    }
    return *len > 0 ? on_body(*slot, bytes, len) : on_whole(*slot);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **slot,
                         enum MHD_RequestTerminationCode code)
{
    struct held *held = *slot;

    (void)context;
    (void)connection;
    if (!held)
        return;
    assert(!held->parked);
    *slot = NULL;
    if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        held->wire->server->watch.answered(held->wire->owner);
    if (held->response)
        MHD_destroy_response(held->response);
    buf_release(&held->body);
    free(held);
}

static void drop_wire(struct wire *wire)
{
    wire->server->watch.closed(wire->owner);
    free(wire);
}

static struct wire *take_pending(struct http_server *server, int fd)
{
    struct wire **at = &server->pending;

    while (*at && (*at)->fd != fd)
        at = &(*at)->next;
    struct wire *found = *at;
    if (found)
        *at = found->next;
    return found;
}

static void drop_pending(struct http_server *server, int fd)
{
    struct wire *wire = take_pending(server, fd);

    if (wire)
        drop_wire(wire);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http_server *server = context;
    struct wire *wire = *socket_context;
    char byte;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *socket_context = take_pending(server, info->connect_fd);
        return;
    }
    /* Its descriptor is closed after this call. */
    if (wire->unread || recv(wire->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
        farewell_keep(&server->farewell, wire->fd);
    drop_wire(wire);
}

void http_server_add(struct http_server *server, int fd, const struct sockaddr *peer,
                     socklen_t peer_len, void *connection)
{
    struct wire *wire = mem_new(sizeof(*wire));

    *wire = (struct wire){.server = server, .next = server->pending, .owner = connection, .fd = fd};
    address_text(peer, wire->peer);
    server->pending = wire;
    if (MHD_add_connection(server->daemon, fd, peer, peer_len) != MHD_YES)
        drop_pending(server, fd);
    turn_want(&server->step);
}

static void run(struct turn_step *step)
{
    struct http_server *server = CONTAINER_OF(step, struct http_server, step);
    MHD_UNSIGNED_LONG_LONG ms;

    MHD_run(server->daemon);
    while (server->pending) /* failed without a notice */
        drop_pending(server, server->pending->fd);
    if (MHD_get_timeout(server->daemon, &ms) == MHD_YES)
        deadline_set(&server->timeout, ms);
    else
        deadline_clear(&server->timeout);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    turn_want(&CONTAINER_OF(poll, struct http_server, poll)->step);
}

static void on_timeout(struct deadline *deadline)
{
    turn_want(&CONTAINER_OF(deadline, struct http_server, timeout)->step);
}

/* Paths are compared and parsed as they were sent. */
static size_t leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

struct http_server *http_server_open(struct turn *turn, const struct http_handlers *handlers,
                                     const struct http_watch *watch,
                                     const struct http_limits *limits)
{
    struct http_server *server = mem_new(sizeof(*server));
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET;

    *server = (struct http_server){
        .turn = turn, .step = {.run = run}, .handlers = *handlers, .watch = *watch};
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_call, server, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)POOL_BYTES, MHD_OPTION_CONNECTION_LIMIT, limits->connections,
        MHD_OPTION_CONNECTION_TIMEOUT, limits->idle_s, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, server, MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL, MHD_OPTION_END);
    if (!server->daemon) {
        free(server);
        return NULL;
    }
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    uv_poll_init(turn->loop, &server->poll, info->epoll_fd);
    uv_poll_start(&server->poll, UV_READABLE, on_readable);
    deadline_open(&server->timeout, turn->loop, on_timeout);
    farewell_open(&server->farewell, turn->loop);
    turn_add_early_step(turn, &server->step);
    return server;
}

void http_server_drain(struct http_server *server)
{
    server->draining = true;
}

static void on_timeout_closed(struct deadline *deadline)
{
    free(CONTAINER_OF(deadline, struct http_server, timeout));
}

static void on_poll_closed(uv_handle_t *handle)
{
    deadline_close(&CONTAINER_OF(handle, struct http_server, poll)->timeout, on_timeout_closed);
}

void http_server_close(struct http_server *server)
{
    server->closing = true;
    for (int i = 0; i < LAST_RUNS; i++) /* answers given in this turn go out */
        MHD_run(server->daemon);
    turn_remove_step(server->turn, &server->step);
    uv_poll_stop(&server->poll);
    MHD_stop_daemon(server->daemon);
    farewell_close(&server->farewell);
    uv_close((uv_handle_t *)&server->poll, on_poll_closed);
}

const char *http_server_library(void)
{
    return MHD_get_version();
}
