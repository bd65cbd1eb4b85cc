/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A descriptor is libmicrohttpd's from http_server_add on, but until `closed` is called it is open,
 * so it may be written to and shut down here: that is how a deadline ends a connection. One sweep
 * looks at all connections that have a deadline; it runs only while there are any. Those that wait
 * for an answer, or that left HTTP, cost it nothing.
 */
#include "gateway/net/connections.h"

#include <stdlib.h>
#include <unistd.h>

#include "gateway/core/buf.h"
#include "gateway/core/deadline.h"
#include "gateway/core/metrics.h"
#include "gateway/net/address_quota.h"
#include "gateway/net/raw_answer.h"
#include "gateway/net/traffic.h"

enum {
    SWEEP_MS = 250,
    INTERIM_BYTES = 64 /* more than "100 Continue" has, less than any answer */
};

enum part { PART_FIRST_HEAD, PART_BODY, PART_ANSWER, PART_NEXT_HEAD };

struct connection {
    struct connections *all;
    struct connection *next, **at; /* what the sweep looks at; `at` NULL: not in it */
    struct tally *tally;
    int fd; /* libmicrohttpd's */
    enum part part;
    bool fresh;     /* no sweep saw it in this part yet */
    uint64_t due;   /* loop time; no meaning in PART_ANSWER */
    uint64_t given; /* bytes sent to the client before this request */
};

struct connections {
    struct turn *turn;
    struct address_quota *quota;
    struct connection *first; /* of those with a deadline */
    unsigned count, most;
    uint64_t head_ms, body_ms, next_head_ms;
    struct deadline sweep;
    void (*closed)(void *context);
    void *context;
    uint64_t *gauge, *slow_heads, *slow_bodies, *refused_address, *refused_total;
    uint64_t *unreadable;
};

static void leave_sweep(struct connection *connection)
{
    if (!connection->at)
        return;
    *connection->at = connection->next;
    if (connection->next)
        connection->next->at = connection->at;
    connection->at = NULL;
}

static void join_sweep(struct connection *connection)
{
    struct connections *all = connection->all;

    if (connection->at)
        return;
    connection->next = all->first;
    connection->at = &all->first;
    if (connection->next)
        connection->next->at = &connection->next;
    else if (!uv_is_active((uv_handle_t *)&all->sweep.timer))
        deadline_set(&all->sweep, SWEEP_MS);
    all->first = connection;
}

static void expect(struct connection *connection, enum part part, uint64_t ms)
{
    connection->part = part;
    connection->fresh = true;
    connection->due = uv_now(connection->all->turn->loop) + ms;
    join_sweep(connection);
}

static void expect_nothing(struct connection *connection)
{
    connection->part = PART_ANSWER;
    leave_sweep(connection);
}

static void on_head_done(void *owner)
{
    struct connection *connection = owner;

    expect(connection, PART_BODY, connection->all->body_ms);
}

static void on_body_done(void *owner)
{
    expect_nothing(owner);
}

static void on_answered(void *owner)
{
    struct connection *connection = owner;

    struct traffic traffic;

    expect(connection, PART_NEXT_HEAD, connection->all->next_head_ms);
    if (traffic_of(connection->fd, &traffic))
        connection->given = traffic.out;
}

/* libmicrohttpd answers by itself, or closes, where a head or a chunk makes no sense to it, and
 * tells nobody: then the connection ends while a request is expected, and the client did not end
 * it. */
static bool was_unreadable(const struct connection *connection)
{
    struct traffic traffic;
    char byte;

    if (connection->part == PART_ANSWER || !traffic_of(connection->fd, &traffic))
        return false;
    if (traffic.out > connection->given + INTERIM_BYTES)
        return true;
    bool left = recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
    return connection->part == PART_FIRST_HEAD && traffic.in > 0 && !left;
}

static void on_closed(void *owner)
{
    struct connection *connection = owner;
    struct connections *all = connection->all;

    if (was_unreadable(connection))
        ++*all->unreadable;
    leave_sweep(connection);
    address_quota_leave(all->quota, connection->tally);
    all->count--;
    *all->gauge = all->count;
    free(connection);
}

/* A kept connection that stays silent is closed by libmicrohttpd before this deadline, so only a
 * new one can reach it without a byte. That one gets no answer: it did not ask. */
static bool has_begun(const struct connection *connection)
{
    struct traffic traffic;

    return connection->part != PART_FIRST_HEAD || !traffic_of(connection->fd, &traffic) ||
           traffic.in > 0;
}

const struct http_watch connections_watch = {.head_done = on_head_done,
                                             .body_done = on_body_done,
                                             .answered = on_answered,
                                             .closed = on_closed};

/* libmicrohttpd sees it and closes. */
static void shut_out(struct connection *connection)
{
    expect_nothing(connection);
    shutdown(connection->fd, SHUT_RDWR);
}

static void end_connection(struct connection *connection)
{
    const struct http_answer answer = {
        .status = 408,
        .content_type = "application/json",
        .body = SLICE("{\"code\":\"request_timeout\","
                      "\"message\":\"The request did not arrive in time.\"}")};
    struct connections *all = connection->all;

    if (has_begun(connection))
        raw_answer(connection->fd, &answer, "Request Timeout");
    (*(connection->part == PART_BODY ? all->slow_bodies : all->slow_heads))++;
    shut_out(connection);
}

/* Where a client's end of stream comes together with its last bytes, libmicrohttpd, which polls for
 * changes, does not see it: the connection would stay until its time is over. */
static void look_for_end(struct connection *connection)
{
    char byte;

    connection->fresh = false;
    if (recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
        shut_out(connection);
}

static void on_sweep(struct deadline *deadline)
{
    struct connections *all = CONTAINER_OF(deadline, struct connections, sweep);
    uint64_t now = uv_now(all->turn->loop);
    struct connection *next;

    for (struct connection *connection = all->first; connection; connection = next) {
        next = connection->next; /* this one may leave */
        if (connection->due <= now)
            end_connection(connection);
        else if (connection->fresh)
            look_for_end(connection);
    }
    if (all->first)
        deadline_set(&all->sweep, SWEEP_MS);
}

void connections_admit(struct connections *all, struct http_server *server, int fd,
                       const union address *peer, socklen_t peer_len)
{
    struct tally *tally;

    if (all->count >= all->most) {
        (*all->refused_total)++;
        close(fd);
        return;
    }
    if (!address_quota_enter(all->quota, &peer->any, &tally)) {
        (*all->refused_address)++;
        close(fd);
        return;
    }
    struct connection *connection = mem_new(sizeof(*connection));
    *connection = (struct connection){.all = all, .tally = tally, .fd = fd};
    expect(connection, PART_FIRST_HEAD, all->head_ms);
    all->count++;
    *all->gauge = all->count;
    http_server_add(server, fd, &peer->any, peer_len, connection);
}

bool connections_open(struct connections **connections, struct turn *turn,
                      const struct front_settings *settings, const struct http_limits *limits,
                      struct err *err)
{
    struct address_block exempt[FRONT_PROXIES];
    struct connections *all = mem_new(sizeof(*all));

    for (size_t i = 0; i < settings->proxy_count; i++) {
        if (!address_block_parse(settings->proxies[i], &exempt[i], err)) {
            free(all);
            return err_wrap(err, "proxy \"%.*s\"", SLICE_ARG(settings->proxies[i]));
        }
    }
    *all = (struct connections){
        .turn = turn,
        .quota =
            address_quota_new(settings->connections_per_address, exempt, settings->proxy_count),
        .most = limits->connections,
        .head_ms = (uint64_t)settings->head_ms,
        .body_ms = (uint64_t)settings->body_ms,
        .next_head_ms = limits->idle_s * UINT64_C(1000) + (uint64_t)settings->head_ms,
        .gauge = metrics_value(METRIC_CONNECTIONS, NULL, NULL, NULL),
        .slow_heads = metrics_value(METRIC_DEADLINES, "head", NULL, NULL),
        .slow_bodies = metrics_value(METRIC_DEADLINES, "body", NULL, NULL),
        .refused_address = metrics_value(METRIC_CONNECTIONS_REFUSED, "per_address", NULL, NULL),
        .refused_total = metrics_value(METRIC_CONNECTIONS_REFUSED, "total", NULL, NULL),
        .unreadable = metrics_value(METRIC_REQUESTS_REFUSED, "unreadable", NULL, NULL)};
    deadline_open(&all->sweep, turn->loop, on_sweep);
    *connections = all;
    return true;
}

static void on_sweep_closed(struct deadline *deadline)
{
    struct connections *all = CONTAINER_OF(deadline, struct connections, sweep);

    if (all->closed)
        all->closed(all->context);
    free(all);
}

void connections_close(struct connections *connections, void (*closed)(void *context),
                       void *context)
{
    connections->closed = closed;
    connections->context = context;
    address_quota_free(connections->quota);
    deadline_close(&connections->sweep, on_sweep_closed);
}
