/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each listening socket is a door: it sits in a uv_poll, and what it accepts goes to connections
 * and from there to http_server. Accepting stops for a moment, at all doors, when there are no
 * descriptors left; the spare one then takes a connection in order to close it.
 */
#include "gateway/net/front.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gateway/core/buf.h"
#include "gateway/core/deadline.h"
#include "gateway/core/metrics.h"
#include "gateway/net/connections.h"
#include "gateway/net/listener.h"

enum {
    ACCEPTS_PER_EVENT = 64,
    PAUSE_MS = 100,
    OTHER_DESCRIPTORS = 1536 /* kept for what is no connection: targets, lingering, the store */
};

struct door {
    struct front *front;
    struct listener listener;
    uv_poll_t poll;
    char url[ADDRESS_URL_SIZE];
};

struct front {
    struct turn *turn;
    struct connections *connections;
    struct http_server *server;
    struct door doors[FRONT_LISTENERS];
    size_t door_count;
    bool open; /* the doors */
    int spare; /* a descriptor to give up when there are none left */
    struct deadline pause;
    unsigned handles; /* not closed yet */
    void (*closed)(void *context);
    void *context;
    uint64_t *pauses, *refused;
};

/* ---- accepting ---- */

static int accept_from(const struct door *door, union address *peer, socklen_t *len)
{
    *len = sizeof(*peer);
    return accept4(door->listener.fd, &peer->any, len, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* Nobody is left waiting unanswered in the backlog's first place: the spare descriptor takes one
 * connection in order to close it. */
static void pause_accepting(struct front *front, const struct door *full)
{
    union address peer;
    socklen_t len;

    (*front->pauses)++;
    close(front->spare);
    int fd = accept_from(full, &peer, &len);
    if (fd >= 0) {
        (*front->refused)++;
        close(fd);
    }
    front->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; i < front->door_count; i++)
        uv_poll_stop(&front->doors[i].poll);
    deadline_set(&front->pause, PAUSE_MS);
}

static void on_connectable(uv_poll_t *poll, int status, int events)
{
    struct door *door = CONTAINER_OF(poll, struct door, poll);
    union address peer;
    socklen_t len;

    (void)status;
    (void)events;
    for (int i = 0; i < ACCEPTS_PER_EVENT; i++) {
        int fd = accept_from(door, &peer, &len);
        if (fd >= 0) {
            connections_admit(door->front->connections, door->front->server, fd, &peer, len);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            pause_accepting(door->front, door);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

static void start_accepting(struct front *front)
{
    for (size_t i = 0; i < front->door_count; i++)
        uv_poll_start(&front->doors[i].poll, UV_READABLE, on_connectable);
}

static void on_pause_over(struct deadline *deadline)
{
    start_accepting(CONTAINER_OF(deadline, struct front, pause));
}

/* ---- opening ---- */

/* As many as are wanted, and as there are descriptors for when the soft limit is raised: idle
 * connections must not take those that the relays need. Where there are few, they get half. */
static unsigned connection_limit(unsigned wanted)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return wanted;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return wanted;
    rlim_t half = limit.rlim_cur / 2;
    rlim_t most = limit.rlim_cur - (half < OTHER_DESCRIPTORS ? half : OTHER_DESCRIPTORS);
    return wanted < most ? wanted : (unsigned)most;
}

static void shut_doors(struct front *front)
{
    for (size_t i = 0; i < front->door_count; i++)
        listener_close(&front->doors[i].listener);
}

static bool open_doors(struct front *front, const struct front_settings *settings, struct err *err)
{
    for (size_t i = 0; i < settings->listen_count; i++) {
        struct door *door = &front->doors[i];
        if (!listener_open(&door->listener, settings->listen[i], err)) {
            shut_doors(front);
            return false;
        }
        door->front = front;
        address_url(&door->listener.address, door->url);
        front->door_count = i + 1;
    }
    return true;
}

static void start(struct front *front, bool held_back)
{
    uv_loop_t *loop = front->turn->loop;

    front->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    deadline_open(&front->pause, loop, on_pause_over);
    for (size_t i = 0; i < front->door_count; i++)
        uv_poll_init(loop, &front->doors[i].poll, front->doors[i].listener.fd);
    front->open = true;
    if (!held_back)
        start_accepting(front);
}

void front_accept(struct front *front)
{
    start_accepting(front);
}

static bool serve(struct front *front, const struct http_handlers *handlers,
                  const struct front_settings *settings, struct err *err)
{
    const struct http_limits limits = {.connections = connection_limit(settings->connections),
                                       .body_memory = settings->body_memory,
                                       .idle_s = (unsigned)((settings->idle_ms + 999) / 1000)};

    if (!connections_open(&front->connections, front->turn, settings, &limits, err))
        return false;
    front->server = http_server_open(front->turn, handlers, &connections_watch, &limits);
    if (front->server)
        return true;
    connections_close(front->connections, NULL, NULL);
    return err_set(err, "libmicrohttpd does not start: %s", strerror(errno));
}

bool front_open(const struct front_settings *settings, struct turn *turn,
                const struct http_handlers *handlers, struct front **front, struct err *err)
{
    struct front *opened = mem_new(sizeof(*opened));

    signal(SIGPIPE, SIG_IGN);
    opened->turn = turn;
    opened->pauses = metrics_value(METRIC_ACCEPT_PAUSES, NULL, NULL, NULL);
    opened->refused = metrics_value(METRIC_CONNECTIONS_REFUSED, "descriptors", NULL, NULL);
    if (!open_doors(opened, settings, err)) {
        free(opened);
        return false;
    }
    if (!serve(opened, handlers, settings, err)) {
        shut_doors(opened);
        free(opened);
        return false;
    }
    start(opened, settings->held_back);
    *front = opened;
    return true;
}

const char *front_address(const struct front *front, size_t index)
{
    return index < front->door_count ? front->doors[index].url : NULL;
}

size_t front_listener_count(const struct front *front)
{
    return front->door_count;
}

bool front_check_address(struct slice address, struct err *err)
{
    union address parsed;

    return address_parse(address, &parsed, err);
}

bool front_check_proxy(struct slice block, struct err *err)
{
    struct address_block parsed;

    return address_block_parse(block, &parsed, err);
}

/* ---- closing ---- */

static void close_doors(struct front *front)
{
    if (!front->open)
        return;
    front->open = false;
    deadline_clear(&front->pause);
    for (size_t i = 0; i < front->door_count; i++)
        uv_poll_stop(&front->doors[i].poll);
    shut_doors(front);
}

void front_drain(struct front *front)
{
    close_doors(front);
    http_server_drain(front->server);
}

static void handle_closed(struct front *front)
{
    front->handles--;
    if (front->handles > 0)
        return;
    if (front->closed)
        front->closed(front->context);
    free(front);
}

static void on_door_closed(uv_handle_t *handle)
{
    handle_closed(CONTAINER_OF(handle, struct door, poll)->front);
}

static void on_pause_closed(struct deadline *deadline)
{
    handle_closed(CONTAINER_OF(deadline, struct front, pause));
}

static void on_connections_closed(void *context)
{
    handle_closed(context);
}

void front_close(struct front *front, void (*closed)(void *context), void *context)
{
    front->closed = closed;
    front->context = context;
    close_doors(front);
    http_server_close(front->server);
    close(front->spare);
    front->handles = (unsigned)front->door_count + 2;
    for (size_t i = 0; i < front->door_count; i++)
        uv_close((uv_handle_t *)&front->doors[i].poll, on_door_closed);
    deadline_close(&front->pause, on_pause_closed);
    connections_close(front->connections, on_connections_closed, front);
}
