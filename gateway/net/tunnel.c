/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both descriptors sit in a uv_poll, which is level-triggered: what is not wanted now is not polled
 * for, and each event moves one chunk at most. A chunk passes through one static buffer; only what
 * the other side does not take at once is kept.
 */
#include "gateway/net/tunnel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway/core/buf.h"
#include "gateway/core/log.h"
#include "gateway/core/metrics.h"
#include "gateway/core/op.h"

enum {
    CHUNK_BYTES = 16 * 1024,        /* a record's most */
    OUTPUT_BYTES = 2 * CHUNK_BYTES, /* over it nothing is read that could be answered */
    PAIR_BYTES = 32 * 1024,         /* that wait in the kernel between the two ends */
    SHAKES_PER_TICK = 8             /* steps of handshakes, each up to a millisecond of work */
};

enum tunnel_state { TUNNEL_SHAKING, TUNNEL_OPEN, TUNNEL_CLOSING };

struct side {
    uv_poll_t poll;
    int fd;     /* -1: none */
    int events; /* that are polled for */
};

struct tunnel {
    enum tunnel_state state;
    struct tunnels *all;
    void *context;
    struct tls *tls;
    struct side client, server;
    unsigned handles;  /* not closed yet */
    bool client_over;  /* it said that it sends no more */
    bool server_over;  /* its end is closed, or says so */
    bool server_deaf;  /* it takes no more */
    bool spoken;       /* the client said something */
    struct buf unread; /* what the server does not take yet */
    union address peer;
    socklen_t peer_len;
};

static char chunk[CHUNK_BYTES];

/* --- the end --- */

static void on_handle_closed(uv_handle_t *handle)
{
    struct tunnel *tunnel = handle->data;
    const struct tunnel_events *events = tunnel->all->events;
    void *context = tunnel->context;

    tunnel->handles--;
    if (tunnel->handles > 0)
        return;
    tls_free(tunnel->tls);
    buf_release(&tunnel->unread);
    free(tunnel);
    events->closed(context);
}

static void close_side(struct side *side)
{
    if (side->fd < 0)
        return;
    uv_close((uv_handle_t *)&side->poll, on_handle_closed);
    close(side->fd);
    side->fd = -1;
}

static void break_off(struct tunnel *tunnel)
{
    if (tunnel->state == TUNNEL_CLOSING)
        return;
    tunnel->state = TUNNEL_CLOSING;
    close_side(&tunnel->client);
    close_side(&tunnel->server);
}

/* All is said. The client may still be sending, its close_notify at least; a reset would overtake
 * what it has not read. */
static void leave(struct tunnel *tunnel)
{
    if (!tunnel->client_over) {
        shutdown(tunnel->client.fd, SHUT_WR);
        lingering_keep(tunnel->all->lingering, tunnel->client.fd);
    }
    break_off(tunnel);
}

static void fail_shaking(struct tunnel *tunnel, const char *result, const char *why)
{
    char peer[ADDRESS_TEXT_SIZE];

    ++*metrics_value(METRIC_TLS_HANDSHAKES, result, NULL, NULL);
    address_text(&tunnel->peer.any, peer);
    log_begin(strcmp(result, "closed") == 0 ? LOG_DEBUG : LOG_INFO, "tls_handshake_failed");
    log_text("peer", peer);
    log_text("result", result);
    log_text("why", why);
    log_end();
    break_off(tunnel);
}

/* --- to the client --- */

static void flush(struct tunnel *tunnel)
{
    struct slice output = tls_output(tunnel->tls);

    if (tunnel->state == TUNNEL_CLOSING)
        return;
    if (output.len > 0) {
        ssize_t sent =
            send(tunnel->client.fd, output.data, output.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0)
            tls_taken(tunnel->tls, (size_t)sent);
        else if (errno != EAGAIN && errno != EINTR)
            break_off(tunnel);
    }
    if (tunnel->state == TUNNEL_OPEN && tunnel->server_over && tls_output(tunnel->tls).len == 0)
        leave(tunnel);
}

/* A server that closed without reading all of it resets the pair, after its last bytes. */
static void take_from_server(struct tunnel *tunnel)
{
    struct err err;
    ssize_t len = recv(tunnel->server.fd, chunk, sizeof(chunk), MSG_DONTWAIT);

    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (len <= 0) {
        tunnel->server_over = true;
        tls_end(tunnel->tls);
    } else if (!tls_write(tunnel->tls, (struct slice){.data = chunk, .len = (size_t)len}, &err)) {
        break_off(tunnel);
    }
    flush(tunnel);
}

/* --- to the server --- */

/* How much of it was taken. */
static size_t push(struct tunnel *tunnel, struct slice bytes)
{
    ssize_t sent = send(tunnel->server.fd, bytes.data, bytes.len, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (sent >= 0)
        return (size_t)sent;
    if (errno == EAGAIN || errno == EINTR)
        return 0;
    tunnel->server_deaf = true;
    return bytes.len;
}

static void give_server(struct tunnel *tunnel, struct slice bytes)
{
    tunnel->spoken = true;
    bytes = slice_from_at(bytes, push(tunnel, bytes));
    if (bytes.len > 0)
        buf_append(&tunnel->unread, bytes);
}

/* What was fed and can be read, until the server takes no more. */
static void pass_on(struct tunnel *tunnel)
{
    enum tls_answer answer = TLS_DONE;
    struct err err;

    while (answer == TLS_DONE && tunnel->unread.len == 0) {
        size_t len = 0;
        answer = tls_read(tunnel->tls, chunk, sizeof(chunk), &len, &err);
        if (answer == TLS_DONE)
            give_server(tunnel, (struct slice){.data = chunk, .len = len});
    }
    flush(tunnel); /* an alert, or the answer to a key update */
    if (answer == TLS_FAILED)
        break_off(tunnel);
    if (answer != TLS_ENDED || tunnel->state == TUNNEL_CLOSING)
        return;
    tunnel->client_over = true;
    shutdown(tunnel->server.fd, SHUT_WR);
}

static void push_unread(struct tunnel *tunnel)
{
    if (tunnel->unread.len == 0)
        return;
    buf_consume(&tunnel->unread, push(tunnel, buf_slice(&tunnel->unread)));
    if (tunnel->unread.len > 0)
        return;
    buf_release(&tunnel->unread);
    pass_on(tunnel);
}

/* true: something came, and was fed. Else the connection may be over, without a close_notify. */
static bool feed(struct tunnel *tunnel)
{
    ssize_t len = recv(tunnel->client.fd, chunk, sizeof(chunk), MSG_DONTWAIT);

    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (len > 0)
        tls_feed(tunnel->tls, (struct slice){.data = chunk, .len = (size_t)len});
    else if (tunnel->state == TUNNEL_SHAKING)
        fail_shaking(tunnel, "closed", "the client closed the connection");
    else
        break_off(tunnel);
    return len > 0;
}

/* --- what is polled for --- */

static void on_client(uv_poll_t *poll, int status, int events);
static void on_server(uv_poll_t *poll, int status, int events);

/* Each change costs system calls. */
static void want(struct side *side, int events, uv_poll_cb on_events)
{
    if (events == side->events)
        return;
    side->events = events;
    if (events)
        uv_poll_start(&side->poll, events, on_events);
    else
        uv_poll_stop(&side->poll);
}

static void want_what_follows(struct tunnel *tunnel)
{
    size_t waiting = tls_output(tunnel->tls).len;
    int client = waiting > 0 ? UV_WRITABLE : 0, server = tunnel->unread.len > 0 ? UV_WRITABLE : 0;
    bool listens = !tunnel->client_over && !tunnel->server_over && !tunnel->server_deaf;

    if (tunnel->state == TUNNEL_CLOSING)
        return;
    if (listens && tunnel->unread.len == 0 && waiting <= OUTPUT_BYTES)
        client |= UV_READABLE;
    want(&tunnel->client, client, on_client);
    if (tunnel->state == TUNNEL_SHAKING)
        return;
    if (!tunnel->server_over && waiting == 0)
        server |= UV_READABLE;
    want(&tunnel->server, server, on_server);
}

/* --- the handshake --- */

static bool watch(struct tunnel *tunnel, struct side *side, int fd)
{
    if (uv_poll_init(tunnel->all->loop, &side->poll, fd) != 0)
        return false;
    side->poll.data = tunnel;
    side->fd = fd;
    tunnel->handles++;
    return true;
}

static void open_pair(struct tunnel *tunnel)
{
    const int size = PAIR_BYTES;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
        fail_shaking(tunnel, "descriptors", "no descriptors are left");
        return;
    }
    if (!watch(tunnel, &tunnel->server, ends[0])) {
        close(ends[0]);
        close(ends[1]);
        fail_shaking(tunnel, "descriptors", "the loop can watch no more");
        return;
    }
    for (int i = 0; i < 2; i++)
        setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    tunnel->state = TUNNEL_OPEN;
    ++*metrics_value(METRIC_TLS_HANDSHAKES, "ok", NULL, NULL);
    tunnel->all->events->opened(tunnel->context, ends[1], &tunnel->peer, tunnel->peer_len);
    pass_on(tunnel);
}

static void shake(struct tunnel *tunnel)
{
    struct err err = {0};
    enum tls_answer answer = tls_shake(tunnel->tls, &err);

    flush(tunnel); /* an alert, too */
    if (tunnel->state == TUNNEL_CLOSING)
        return;
    if (answer == TLS_DONE)
        open_pair(tunnel);
    else if (answer == TLS_ENDED)
        fail_shaking(tunnel, "closed", "the client ended the handshake");
    else if (answer == TLS_FAILED)
        fail_shaking(tunnel, tls_fault(tunnel->tls), err.text);
}

/* Handshakes are work that anybody can ask for; in between, the loop turns for those that are in.
 * What is left for later is told again. */
static bool may_shake(struct tunnels *all)
{
    uint64_t now = uv_now(all->loop);

    if (now != all->tick)
        all->shakes = 0;
    all->tick = now;
    return all->shakes++ < SHAKES_PER_TICK;
}

/* --- events --- */

static void on_client(uv_poll_t *poll, int status, int events)
{
    struct tunnel *tunnel = CONTAINER_OF(poll, struct tunnel, client.poll);

    if (status < 0) {
        if (tunnel->state == TUNNEL_SHAKING)
            fail_shaking(tunnel, "closed", "the client reset the connection");
        break_off(tunnel);
        return;
    }
    if (events & UV_WRITABLE)
        flush(tunnel);
    if (tunnel->state == TUNNEL_SHAKING && events & UV_READABLE) {
        if (may_shake(tunnel->all) && feed(tunnel))
            shake(tunnel);
    } else if (tunnel->state == TUNNEL_OPEN && events & UV_READABLE) {
        if (feed(tunnel))
            pass_on(tunnel);
    }
    want_what_follows(tunnel);
}

static void on_server(uv_poll_t *poll, int status, int events)
{
    struct tunnel *tunnel = CONTAINER_OF(poll, struct tunnel, server.poll);

    if (status < 0) { /* reset, which libuv takes for an end; its last bytes are there to be read */
        tunnel->server.events = 0;
        tunnel->server_deaf = true;
        buf_release(&tunnel->unread);
        events = UV_READABLE;
    }
    if (events & UV_WRITABLE)
        push_unread(tunnel);
    if (events & UV_READABLE && tunnel->state == TUNNEL_OPEN && tls_output(tunnel->tls).len == 0)
        take_from_server(tunnel);
    want_what_follows(tunnel);
}

/* --- the beginning --- */

struct tunnel *tunnel_open(struct tunnels *all, const struct tunnel_guest *guest,
                           struct certificate *certificate, void *context)
{
    struct tunnel *tunnel = mem_new(sizeof(*tunnel));

    tunnel->all = all;
    tunnel->server.fd = -1;
    if (!watch(tunnel, &tunnel->client, guest->fd)) {
        close(guest->fd);
        free(tunnel);
        return NULL;
    }
    tunnel->context = context;
    tunnel->tls = tls_server_new(certificate);
    tunnel->unread = (struct buf)BUF_INIT(CHUNK_BYTES);
    tunnel->peer = guest->peer;
    tunnel->peer_len = guest->peer_len;
    want_what_follows(tunnel);
    return tunnel;
}

bool tunnel_has_spoken(const struct tunnel *tunnel)
{
    return tunnel->spoken;
}

void tunnel_cut(struct tunnel *tunnel)
{
    if (tunnel->state == TUNNEL_SHAKING)
        fail_shaking(tunnel, "timeout", "the handshake took too long");
    break_off(tunnel);
}
