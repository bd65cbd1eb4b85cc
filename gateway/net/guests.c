/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A descriptor is libmicrohttpd's from http_server_add on, but until `closed` is called it is open,
 * so it may be written to and shut down here: that is how a deadline ends a connection. One sweep
 * looks at the deadlines of all guests; it runs only while there are any.
 */
#include "gateway/net/guests.h"

#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "gateway/core/buf.h"
#include "gateway/core/deadline.h"
#include "gateway/core/metrics.h"
#include "gateway/net/census.h"
#include "gateway/net/first_byte.h"
#include "gateway/net/last_words.h"

enum { SWEEP_MS = 250 };

enum part { PART_FIRST_HEAD, PART_BODY, PART_ANSWER, PART_NEXT_HEAD };

struct guest { /* one connection */
    struct guests *all;
    struct guest *next, *before;
    struct tally *tally;
    int fd; /* libmicrohttpd's */
    enum part part;
    bool fresh;   /* no sweep saw it in this part yet */
    uint64_t due; /* loop time; no meaning in PART_ANSWER */
};

struct guests {
    struct turn *turn;
    struct census *census;
    struct guest *first;
    unsigned count, most;
    uint64_t head_ms, body_ms, next_head_ms;
    struct deadline sweep;
    void (*closed)(void *context);
    void *context;
    uint64_t *gauge, *slow_heads, *slow_bodies, *refused_address, *refused_total;
};

static void expect(struct guest *guest, enum part part, uint64_t ms)
{
    guest->part = part;
    guest->fresh = true;
    guest->due = uv_now(guest->all->turn->loop) + ms;
}

static void on_head_done(void *connection)
{
    struct guest *guest = connection;

    expect(guest, PART_BODY, guest->all->body_ms);
}

static void on_body_done(void *connection)
{
    struct guest *guest = connection;

    guest->part = PART_ANSWER;
}

static void on_answered(void *connection)
{
    struct guest *guest = connection;

    expect(guest, PART_NEXT_HEAD, guest->all->next_head_ms);
}

static void on_closed(void *connection)
{
    struct guest *guest = connection;
    struct guests *all = guest->all;

    if (guest->before)
        guest->before->next = guest->next;
    else
        all->first = guest->next;
    if (guest->next)
        guest->next->before = guest->before;
    census_leave(all->census, guest->tally);
    all->count--;
    *all->gauge = all->count;
    if (all->count == 0)
        deadline_clear(&all->sweep);
    free(guest);
}

/* A kept connection that stays silent is closed by libmicrohttpd before this deadline, so only a
 * new one can reach it without a byte. That one gets no answer: it did not ask. */
static bool has_begun(const struct guest *guest)
{
    return guest->part != PART_FIRST_HEAD || first_byte_came(guest->fd);
}

const struct http_watch guests_watch = {.head_done = on_head_done,
                                        .body_done = on_body_done,
                                        .answered = on_answered,
                                        .closed = on_closed};

/* libmicrohttpd sees it and closes. */
static void shut_out(struct guest *guest)
{
    guest->part = PART_ANSWER;
    shutdown(guest->fd, SHUT_RDWR);
}

static void end_guest(struct guest *guest)
{
    const struct http_answer answer = {
        .status = 408,
        .content_type = "application/json",
        .body = SLICE("{\"code\":\"request_timeout\","
                      "\"message\":\"The request did not arrive in time.\"}")};
    struct guests *all = guest->all;

    if (has_begun(guest))
        last_words(guest->fd, &answer, "Request Timeout");
    (*(guest->part == PART_BODY ? all->slow_bodies : all->slow_heads))++;
    shut_out(guest);
}

/* Where a client's end of stream comes together with its last bytes, libmicrohttpd, which polls for
 * changes, does not see it: the connection would stay until its time is over. */
static void look_for_end(struct guest *guest)
{
    char byte;

    guest->fresh = false;
    if (recv(guest->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
        shut_out(guest);
}

static void on_sweep(struct deadline *deadline)
{
    struct guests *all = CONTAINER_OF(deadline, struct guests, sweep);
    uint64_t now = uv_now(all->turn->loop);

    for (struct guest *guest = all->first; guest; guest = guest->next) {
        if (guest->part == PART_ANSWER)
            continue;
        if (guest->due <= now)
            end_guest(guest);
        else if (guest->fresh)
            look_for_end(guest);
    }
    deadline_set(&all->sweep, SWEEP_MS);
}

void guests_admit(struct guests *all, struct http_server *server, int fd, const union address *peer,
                  socklen_t peer_len)
{
    struct tally *tally;
    const int on = 1;

    if (all->count >= all->most) {
        (*all->refused_total)++;
        close(fd);
        return;
    }
    if (!census_enter(all->census, &peer->any, &tally)) {
        (*all->refused_address)++;
        close(fd);
        return;
    }
    if (peer->any.sa_family != AF_UNIX)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    struct guest *guest = mem_new(sizeof(*guest));
    *guest = (struct guest){.all = all, .next = all->first, .tally = tally, .fd = fd};
    expect(guest, PART_FIRST_HEAD, all->head_ms);
    if (guest->next)
        guest->next->before = guest;
    else
        deadline_set(&all->sweep, SWEEP_MS);
    all->first = guest;
    all->count++;
    *all->gauge = all->count;
    http_server_add(server, fd, &peer->any, peer_len, guest);
}

bool guests_open(struct guests **guests, struct turn *turn, const struct front_settings *settings,
                 const struct http_limits *limits, struct err *err)
{
    struct address_block exempt[FRONT_PROXIES];
    struct guests *all = mem_new(sizeof(*all));

    for (size_t i = 0; i < settings->proxy_count; i++) {
        if (!address_block_parse(settings->proxies[i], &exempt[i], err)) {
            free(all);
            return err_wrap(err, "proxy \"%.*s\"", SLICE_ARG(settings->proxies[i]));
        }
    }
    *all = (struct guests){
        .turn = turn,
        .census = census_new(settings->connections_per_address, exempt, settings->proxy_count),
        .most = limits->connections,
        .head_ms = (uint64_t)settings->head_ms,
        .body_ms = (uint64_t)settings->body_ms,
        .next_head_ms = limits->idle_s * UINT64_C(1000) + (uint64_t)settings->head_ms,
        .gauge = metrics_value(METRIC_CONNECTIONS, NULL, NULL, NULL),
        .slow_heads = metrics_value(METRIC_DEADLINES, "head", NULL, NULL),
        .slow_bodies = metrics_value(METRIC_DEADLINES, "body", NULL, NULL),
        .refused_address = metrics_value(METRIC_CONNECTIONS_REFUSED, "per_address", NULL, NULL),
        .refused_total = metrics_value(METRIC_CONNECTIONS_REFUSED, "total", NULL, NULL)};
    deadline_open(&all->sweep, turn->loop, on_sweep);
    *guests = all;
    return true;
}

static void on_sweep_closed(struct deadline *deadline)
{
    struct guests *all = CONTAINER_OF(deadline, struct guests, sweep);

    if (all->closed)
        all->closed(all->context);
    free(all);
}

void guests_close(struct guests *guests, void (*closed)(void *context), void *context)
{
    guests->closed = closed;
    guests->context = context;
    census_free(guests->census);
    deadline_close(&guests->sweep, on_sweep_closed);
}
