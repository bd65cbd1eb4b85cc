/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fakes/http_stub.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/op.h"

enum { REQUEST_BYTES = 4 * 1024 * 1024 };

struct stub_peer {
    uv_tcp_t tcp;
    uv_write_t write;
    uv_timer_t pace;
    struct stub *stub;
    struct stub_peer *next;
    struct buf in, out;
    size_t sent;
    unsigned requests;
    int handles;
    bool closing;
};

static void bind_loopback(uv_loop_t *loop, uv_tcp_t *tcp, int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    int len = sizeof(address);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    uv_tcp_init(loop, tcp);
    int bound = uv_tcp_bind(tcp, (struct sockaddr *)&address, 0);
    assert(bound == 0);
    (void)bound;
    uv_tcp_getsockname(tcp, (struct sockaddr *)&address, &len);
    *port = ntohs(address.sin_port);
}

static void on_peer_closed(uv_handle_t *handle)
{
    struct stub_peer *peer = handle->data;
    struct stub_peer **link = &peer->stub->peers;

    peer->handles--;
    if (peer->handles > 0)
        return;
    while (*link != peer)
        link = &(*link)->next;
    *link = peer->next;
    buf_release(&peer->in);
    buf_release(&peer->out);
    free(peer);
}

static void peer_close(struct stub_peer *peer)
{
    if (peer->closing)
        return;
    peer->closing = true;
    uv_close((uv_handle_t *)&peer->tcp, on_peer_closed);
    uv_close((uv_handle_t *)&peer->pace, on_peer_closed);
}

static void peer_answered(struct stub_peer *peer)
{
    enum stub_manner manner = peer->stub->manner;

    if (manner == STUB_CLOSE || manner == STUB_DRIBBLE)
        peer_close(peer);
}

static void on_pace(uv_timer_t *timer);

static void on_written(uv_write_t *write, int status)
{
    struct stub_peer *peer = CONTAINER_OF(write, struct stub_peer, write);

    if (peer->closing)
        return;
    if (status < 0)
        peer_close(peer);
    else if (peer->sent < peer->out.len)
        uv_timer_start(&peer->pace, on_pace, 0, 0);
    else
        peer_answered(peer);
}

static void peer_write(struct stub_peer *peer, size_t len)
{
    uv_buf_t bytes = uv_buf_init(peer->out.data + peer->sent, (unsigned)len);

    peer->sent += len;
    uv_write(&peer->write, (uv_stream_t *)&peer->tcp, &bytes, 1, on_written);
}

static void on_pace(uv_timer_t *timer)
{
    peer_write(CONTAINER_OF(timer, struct stub_peer, pace), 1);
}

static void peer_answer(struct stub_peer *peer)
{
    struct stub *stub = peer->stub;

    peer->requests++;
    stub->requests++;
    buf_clear(&peer->out);
    peer->sent = 0;
    if (stub->manner == STUB_DIE && peer->requests > 1) {
        peer_close(peer);
        return;
    }
    buf_append(&peer->out, stub->answer);
    if (peer->out.len == 0)
        peer_answered(peer);
    else
        peer_write(peer, stub->manner == STUB_DRIBBLE ? 1 : peer->out.len);
}

/* The length of the first whole request in `bytes`, 0 when it is not whole yet. */
static size_t whole_request(const struct buf *bytes)
{
    const char *end = strstr(buf_text(bytes), "\r\n\r\n");
    const char *length = strstr(buf_text(bytes), "Content-Length: ");

    if (!end)
        return 0;
    size_t need = (size_t)(end + 4 - bytes->data);
    if (length && length < end)
        need += strtoul(length + strlen("Content-Length: "), NULL, 10);
    return bytes->len >= need ? need : 0;
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *room)
{
    struct stub_peer *peer = handle->data;

    room->base = buf_reserve(&peer->in, suggested);
    room->len = room->base ? suggested : 0;
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *room)
{
    struct stub_peer *peer = stream->data;

    (void)room;
    if (count < 0) {
        peer_close(peer);
        return;
    }
    peer->in.len += (size_t)count;
    peer->in.data[peer->in.len] = '\0';
    size_t len = whole_request(&peer->in);
    if (len == 0)
        return;
    buf_clear(&peer->stub->request);
    buf_append(&peer->stub->request, slice_first(buf_slice(&peer->in), len));
    buf_consume(&peer->in, len);
    peer_answer(peer);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct stub *stub = listener->data;
    struct stub_peer *peer = mem_new(sizeof(*peer));

    assert(status == 0);
    (void)status;
    peer->stub = stub;
    peer->in = (struct buf)BUF_INIT(REQUEST_BYTES);
    peer->out = (struct buf)BUF_INIT(REQUEST_BYTES);
    peer->next = stub->peers;
    stub->peers = peer;
    stub->connections++;
    uv_tcp_init(stub->loop, &peer->tcp);
    uv_timer_init(stub->loop, &peer->pace);
    peer->handles = 2;
    peer->tcp.data = peer->pace.data = peer;
    uv_accept(listener, (uv_stream_t *)&peer->tcp);
    uv_tcp_nodelay(&peer->tcp, 1);
    if (stub->manner == STUB_DROP)
        peer_close(peer);
    else
        uv_read_start((uv_stream_t *)&peer->tcp, on_alloc, on_read);
}

void stub_open(struct stub *stub, uv_loop_t *loop)
{
    *stub = (struct stub){.loop = loop, .request = BUF_INIT(REQUEST_BYTES)};
    bind_loopback(loop, &stub->listener, &stub->port);
    stub->listener.data = stub;
    int listening = uv_listen((uv_stream_t *)&stub->listener, 128, on_connection);
    assert(listening == 0);
    (void)listening;
    snprintf(stub->url, sizeof(stub->url), "http://127.0.0.1:%d/hook", stub->port);
}

void stub_close(struct stub *stub)
{
    for (struct stub_peer *peer = stub->peers; peer; peer = peer->next)
        peer_close(peer);
    uv_close((uv_handle_t *)&stub->listener, NULL);
    buf_release(&stub->request);
}

void stub_script(struct stub *stub, enum stub_manner manner, struct slice answer)
{
    stub->manner = manner;
    stub->answer = answer;
}

bool stub_saw_line(const struct stub *stub, const char *line)
{
    struct slice rest = buf_slice(&stub->request), head;

    while (rest.len > 0) {
        slice_cut(rest, '\n', &head, &rest);
        if (slice_ends(head, SLICE("\r")))
            head.len--;
        if (head.len == 0)
            return false; /* the body begins */
        if (slice_eq(head, slice_from(line)))
            return true;
    }
    return false;
}

struct slice stub_body(const struct stub *stub)
{
    const char *end = strstr(buf_text(&stub->request), "\r\n\r\n");

    assert(end);
    return slice_from_at(buf_slice(&stub->request), (size_t)(end + 4 - stub->request.data));
}

struct slice stub_answer(unsigned status, const char *headers, const char *body)
{
    static char text[4096];
    int len = snprintf(text, sizeof(text), "HTTP/1.1 %u Stub\r\n%sContent-Length: %zu\r\n\r\n%s",
                       status, headers, strlen(body), body);

    assert(len > 0 && (size_t)len < sizeof(text));
    return (struct slice){.data = text, .len = (size_t)len};
}

int stub_free_port(uv_loop_t *loop)
{
    uv_tcp_t tcp;
    int port;

    bind_loopback(loop, &tcp, &port);
    uv_close((uv_handle_t *)&tcp, NULL);
    uv_run(loop, UV_RUN_NOWAIT);
    return port;
}
