/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each try has memory of its own, because libuv still holds the socket of a try that failed while
 * the next one runs. A dial lives on after its end until libuv has let go of it too.
 */
#include "gateway/net/dial.h"

#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "gateway/core/buf.h"
#include "gateway/core/deadline.h"
#include "gateway/core/op.h"

enum { KEEPALIVE_S = 30 };

struct
try {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } socket; /* first: who frees the socket frees the try */
    uv_connect_t request;
    struct dial *dial; /* NULL: given up, or handed over */
};

struct dial {
    uv_loop_t *loop;
    char *host;
    uint64_t until_ms;
    void (*done)(void *context, uv_stream_t *socket, const struct err *why);
    void *context;
    uv_getaddrinfo_t lookup;
    bool looking, timing, over; /* the first two: what libuv still holds */
    struct addrinfo *addresses, *next;
    struct try *try; /* running; NULL: none */
    struct deadline deadline;
    struct err why;
};

static uint64_t now_ms(void)
{
    return uv_hrtime() / 1000000;
}

static void free_when_gone(struct dial *dial)
{
    if (dial->looking || dial->timing)
        return;
    uv_freeaddrinfo(dial->addresses);
    free(dial->host);
    free(dial);
}

static void on_deadline_closed(struct deadline *deadline)
{
    struct dial *dial = CONTAINER_OF(deadline, struct dial, deadline);

    dial->timing = false;
    free_when_gone(dial);
}

static void on_socket_closed(uv_handle_t *handle)
{
    free(handle);
}

static void give_up_try(struct dial *dial)
{
    if (!dial->try)
        return;
    dial->try->dial = NULL;
    uv_close(&dial->try->socket.handle, on_socket_closed);
    dial->try = NULL;
}

void dial_drop(struct dial *dial)
{
    if (!dial)
        return;
    dial->over = true;
    give_up_try(dial);
    if (dial->looking)
        uv_cancel((uv_req_t *)&dial->lookup);
    deadline_close(&dial->deadline, on_deadline_closed);
}

static void finish(struct dial *dial, struct try *connected)
{
    void (*done)(void *, uv_stream_t *, const struct err *) = dial->done;
    void *context = dial->context;
    struct err why = dial->why;

    dial_drop(dial);
    done(context, connected ? &connected->socket.stream : NULL, connected ? NULL : &why);
}

static void try_next(struct dial *dial);

static void on_connected(uv_connect_t *request, int status)
{
    struct try *try = CONTAINER_OF(request, struct try, request);
    struct dial *dial = try->dial;

    if (!dial)
        return;
    if (status == 0) {
        try->dial = NULL;
        dial->try = NULL;
        finish(dial, try);
        return;
    }
    err_set(&dial->why, "%s", uv_strerror(status));
    give_up_try(dial);
    try_next(dial);
}

static struct try *new_try(struct dial *dial)
{
    struct try *try = mem_new(sizeof(*try));

    try->dial = dial;
    dial->try = try;
    return try;
}

/* The next address, or the end when there is none. */
static void try_next(struct dial *dial)
{
    const struct addrinfo *address = dial->next;
    uint64_t now = now_ms(), share = 1;

    if (!address) {
        finish(dial, NULL);
        return;
    }
    dial->next = address->ai_next;
    for (const struct addrinfo *other = dial->next; other; other = other->ai_next)
        share++;
    deadline_set(&dial->deadline, now < dial->until_ms ? (dial->until_ms - now) / share : 0);
    struct try *try = new_try(dial);
    uv_tcp_init(dial->loop, &try->socket.tcp);
    uv_tcp_nodelay(&try->socket.tcp, 1);
    uv_tcp_keepalive(&try->socket.tcp, 1, KEEPALIVE_S);
    int status = uv_tcp_connect(&try->request, &try->socket.tcp, address->ai_addr, on_connected);
    if (status < 0)
        on_connected(&try->request, status);
}

/* Also due at once where the start already failed. */
static void on_deadline(struct deadline *deadline)
{
    struct dial *dial = CONTAINER_OF(deadline, struct dial, deadline);

    if (dial->looking)
        err_set(&dial->why, "the name was not resolved in time");
    else if (dial->try)
        err_set(&dial->why, "no answer in time");
    give_up_try(dial);
    try_next(dial);
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *addresses)
{
    struct dial *dial = CONTAINER_OF(request, struct dial, lookup);

    dial->looking = false;
    dial->addresses = dial->next = addresses;
    if (dial->over) {
        free_when_gone(dial);
        return;
    }
    if (status < 0)
        err_set(&dial->why, "%s", uv_strerror(status));
    try_next(dial);
}

static bool start_lookup(struct dial *dial, const char *port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    int status = uv_getaddrinfo(dial->loop, &dial->lookup, on_resolved, dial->host, port, &hints);

    if (status < 0)
        return err_set(&dial->why, "%s", uv_strerror(status));
    dial->looking = true;
    return true;
}

static bool start_pipe(struct dial *dial)
{
    if (strlen(dial->host) >= sizeof((struct sockaddr_un){0}.sun_path))
        return err_set(&dial->why, "the path of the unix socket is too long");
    struct try *try = new_try(dial);
    uv_pipe_init(dial->loop, &try->socket.pipe, 0);
    uv_pipe_connect(&try->request, &try->socket.pipe, dial->host, on_connected);
    return true;
}

struct dial *dial_start(uv_loop_t *loop, const char *host, const char *port, uint64_t for_ms,
                        void (*done)(void *context, uv_stream_t *socket, const struct err *why),
                        void *context)
{
    struct dial *dial = mem_new(sizeof(*dial));

    dial->loop = loop;
    dial->host = mem_text(slice_from(host));
    dial->until_ms = now_ms() + for_ms;
    dial->done = done;
    dial->context = context;
    dial->timing = true;
    deadline_open(&dial->deadline, loop, on_deadline);
    bool started = port ? start_lookup(dial, port) : start_pipe(dial);
    deadline_set(&dial->deadline, started ? for_ms : 0);
    return dial;
}
