/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/wire.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "gateway/net/raw_answer.h"
#include "gateway/net/traffic.h"

struct http_socket { /* small: there are as many as clients wait in rooms */
    struct wires *all;
    void *owner;
    int fd;
};

void wires_open(struct wires *wires, uv_loop_t *loop, const struct http_watch *watch)
{
    *wires = (struct wires){.watch = *watch};
    lingering_open(&wires->lingering, loop);
}

void wires_close(struct wires *wires)
{
    assert(!wires->pending && wires->taken == 0);
    lingering_close(&wires->lingering);
}

void wire_add(struct wires *wires, int fd, const struct sockaddr *peer, void *owner)
{
    struct wire *wire = mem_new(sizeof(*wire));

    *wire = (struct wire){.all = wires, .next = wires->pending, .owner = owner, .fd = fd};
    address_text(peer, wire->peer);
    wires->pending = wire;
}

struct wire *wire_announced(struct wires *wires, int fd)
{
    struct wire **at = &wires->pending;

    while (*at && (*at)->fd != fd)
        at = &(*at)->next;
    struct wire *found = *at;
    if (found)
        *at = found->next;
    return found;
}

static void drop(struct wire *wire)
{
    wire->all->watch.closed(wire->owner);
    free(wire);
}

void wire_drop_pending(struct wires *wires, int fd)
{
    struct wire *wire = wire_announced(wires, fd);

    if (wire)
        drop(wire);
}

void wires_drop_pending(struct wires *wires)
{
    while (wires->pending)
        wire_drop_pending(wires, wires->pending->fd);
}

bool wire_is_deserted(const struct wire *wire)
{
    char byte;
    ssize_t len = recv(wire->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    return len == 0 || (len < 0 && errno != EAGAIN && errno != EINTR);
}

void wire_close(struct wire *wire)
{
    char byte;

    buf_release(&wire->switching);
    if (wire->taken) {
        free(wire);
        return;
    }
    if (wire->unread || recv(wire->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0) {
        shutdown(wire->fd, SHUT_WR);
        lingering_keep(&wire->all->lingering, wire->fd);
    }
    drop(wire);
}

/* A socket with a descriptor of its own for the same connection. NULL: there are no descriptors
 * left. */
static struct http_socket *take(struct wire *wire)
{
    int fd = fcntl(wire->fd, F_DUPFD_CLOEXEC, 0);
    const int on = 1;

    if (fd < 0)
        return NULL;
    if (wire->switching.len == 0) /* libmicrohttpd has sent the 101, and turned it off */
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    struct http_socket *socket = mem_new(sizeof(*socket));
    *socket = (struct http_socket){.all = wire->all, .owner = wire->owner, .fd = fd};
    wire->taken = true;
    wire->all->taken++;
    return socket;
}

bool wire_switch(struct wire *wire, size_t len, const struct http_upgrade *upgrade)
{
    struct traffic traffic;

    if (!traffic_of(wire->fd, &traffic) || traffic.in != len)
        return false;
    raw_switching(&wire->switching, upgrade->fields, upgrade->field_count);
    return true;
}

void wire_hand_over(struct wire *wire, struct http_upgrade *upgrade, struct slice early)
{
    struct http_upgrade to = *upgrade;
    struct http_socket *socket = take(wire);

    if (!socket)
        return;
    upgrade->taken = NULL;
    to.taken(to.context, socket, buf_slice(&wire->switching), early);
    buf_release(&wire->switching);
}

int http_socket_fd(const struct http_socket *socket)
{
    return socket->fd;
}

void http_socket_close(struct http_socket *socket)
{
    struct wires *all = socket->all;
    char byte;

    if (recv(socket->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0) { /* it has not closed its side */
        shutdown(socket->fd, SHUT_WR);
        lingering_keep(&all->lingering, socket->fd);
    }
    close(socket->fd);
    all->taken--;
    all->watch.closed(socket->owner);
    free(socket);
}
