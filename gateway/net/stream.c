/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream goes from state to state in the order of the enum. Wherever something fails, the reason
 * is kept and the handles are closed; the last close callback frees the stream and tells it, which
 * is why no event can come from inside a call.
 */
#include "gateway/net/stream.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/deadline.h"
#include "gateway/core/op.h"
#include "gateway/net/dial.h"

enum { READ_BYTES = 16 * 1024 };

enum stream_state { STREAM_DIALING, STREAM_SHAKING, STREAM_OPEN, STREAM_CLOSING };

struct stream {
    enum stream_state state;
    const struct stream_events *events;
    void *context;
    char *name, *ca_file, *cert_file, *key_file; /* owned; what TLS must know */
    bool wants_tls;
    bool deaf;           /* the peer takes nothing any more; what it sent is still read */
    struct dial *dial;   /* only while dialing */
    uv_stream_t *socket; /* owned; NULL while dialing and once it is closed */
    struct tls *tls;     /* owned; NULL: plain */
    struct deadline deadline;
    bool has_deadline;
    uint64_t connect_until_ms;
    struct err why;
    char in[READ_BYTES];
};

struct unsent {
    uv_write_t request;
    struct stream *stream;
    char bytes[];
};

static uint64_t now_ms(void)
{
    return uv_hrtime() / 1000000;
}

/* --- the end --- */

static void free_when_gone(struct stream *stream)
{
    if (stream->socket || stream->has_deadline)
        return;
    const struct stream_events *events = stream->events;
    void *context = stream->context;
    struct err why = stream->why;

    tls_free(stream->tls);
    free(stream->name);
    free(stream->ca_file);
    free(stream->cert_file);
    free(stream->key_file);
    free(stream);
    events->closed(context, &why);
}

static void on_socket_closed(uv_handle_t *socket)
{
    struct stream *stream = socket->data;

    free(socket);
    stream->socket = NULL;
    free_when_gone(stream);
}

static void on_deadline_closed(struct deadline *deadline)
{
    struct stream *stream = CONTAINER_OF(deadline, struct stream, deadline);

    stream->has_deadline = false;
    free_when_gone(stream);
}

/* The first reason is the one that is told. */
static void fail(struct stream *stream, const char *why)
{
    if (stream->state == STREAM_CLOSING)
        return;
    stream->state = STREAM_CLOSING;
    err_set(&stream->why, "%s", why);
    dial_drop(stream->dial);
    if (stream->socket)
        uv_close((uv_handle_t *)stream->socket, on_socket_closed);
    deadline_close(&stream->deadline, on_deadline_closed);
}

/* --- bytes out --- */

/* A peer that closed may have said why: reading goes on to its end, which comes at once. */
static void fail_to_write(struct stream *stream, int status)
{
    if (status == UV_EPIPE || status == UV_ECONNRESET)
        stream->deaf = true;
    else
        fail(stream, uv_strerror(status));
}

static void on_written(uv_write_t *request, int status)
{
    struct unsent *unsent = CONTAINER_OF(request, struct unsent, request);
    struct stream *stream = unsent->stream;

    free(unsent);
    if (status < 0)
        fail_to_write(stream, status);
}

static void queue_bytes(struct stream *stream, struct slice bytes)
{
    size_t queued = uv_stream_get_write_queue_size(stream->socket);

    if (queued > STREAM_QUEUE_BYTES || bytes.len > STREAM_QUEUE_BYTES - queued) {
        fail(stream, "the peer does not read what is sent to it");
        return;
    }
    struct unsent *unsent = mem_new(sizeof(*unsent) + bytes.len);
    unsent->stream = stream;
    memcpy(unsent->bytes, bytes.data, bytes.len);
    uv_buf_t buf = uv_buf_init(unsent->bytes, (unsigned)bytes.len);
    int status = uv_write(&unsent->request, stream->socket, &buf, 1, on_written);
    if (status < 0) {
        free(unsent);
        fail_to_write(stream, status);
    }
}

static void send_bytes(struct stream *stream, struct slice bytes)
{
    if (stream->state == STREAM_CLOSING || stream->deaf || bytes.len == 0)
        return;
    uv_buf_t buf = {.base = (char *)(uintptr_t)bytes.data, .len = bytes.len};
    int sent = uv_try_write(stream->socket, &buf, 1);
    if (sent < 0 && sent != UV_EAGAIN) {
        fail_to_write(stream, sent);
        return;
    }
    bytes = slice_from_at(bytes, sent > 0 ? (size_t)sent : 0);
    if (bytes.len > 0)
        queue_bytes(stream, bytes);
}

static void flush_tls(struct stream *stream)
{
    const struct slice output = tls_output(stream->tls);

    send_bytes(stream, output);
    tls_taken(stream->tls, output.len);
}

/* --- bytes in --- */

static void become_open(struct stream *stream)
{
    stream->state = STREAM_OPEN;
    deadline_clear(&stream->deadline);
    stream->events->opened(stream->context);
}

static void go_on_shaking(struct stream *stream)
{
    struct err err = {0};
    enum tls_answer answer = tls_shake(stream->tls, &err);

    flush_tls(stream); /* an alert, too */
    if (stream->state != STREAM_SHAKING || answer == TLS_MORE)
        return;
    if (answer == TLS_DONE)
        become_open(stream);
    else
        fail(stream, err.text[0] ? err.text : "the peer ended the TLS handshake");
}

static void read_tls(struct stream *stream)
{
    enum tls_answer answer = TLS_DONE;
    struct err err = {0};

    while (stream->state == STREAM_OPEN && answer == TLS_DONE) {
        size_t len = 0;
        answer = tls_read(stream->tls, stream->in, sizeof(stream->in), &len, &err);
        if (answer == TLS_DONE)
            stream->events->bytes(stream->context, (struct slice){stream->in, len});
    }
    flush_tls(stream);
    if (answer == TLS_ENDED)
        fail(stream, "the peer closed the connection");
    if (answer == TLS_FAILED)
        fail(stream, err.text);
}

static void give_room(uv_handle_t *socket, size_t suggested, uv_buf_t *buf)
{
    struct stream *stream = socket->data;

    (void)suggested;
    *buf = uv_buf_init(stream->in, sizeof(stream->in));
}

static void on_read(uv_stream_t *socket, ssize_t len, const uv_buf_t *buf)
{
    struct stream *stream = socket->data;

    if (len < 0)
        fail(stream, len == UV_EOF ? "the peer closed the connection" : uv_strerror((int)len));
    if (len <= 0)
        return;
    struct slice bytes = {.data = buf->base, .len = (size_t)len};
    if (!stream->tls) {
        stream->events->bytes(stream->context, bytes);
        return;
    }
    tls_feed(stream->tls, bytes);
    if (stream->state == STREAM_SHAKING)
        go_on_shaking(stream);
    if (stream->state == STREAM_OPEN)
        read_tls(stream);
}

/* --- the beginning --- */

static void on_deadline(struct deadline *deadline)
{
    fail(CONTAINER_OF(deadline, struct stream, deadline), "no TLS handshake in time");
}

static void begin_shaking(struct stream *stream)
{
    const struct tls_files files = {
        .ca_file = stream->ca_file, .cert_file = stream->cert_file, .key_file = stream->key_file};
    struct err err = {0};
    uint64_t now = now_ms();

    stream->tls = tls_client_new(stream->name, &files, &err);
    if (!stream->tls) {
        fail(stream, err.text);
        return;
    }
    stream->state = STREAM_SHAKING;
    deadline_set(&stream->deadline,
                 now < stream->connect_until_ms ? stream->connect_until_ms - now : 0);
    go_on_shaking(stream);
}

static void on_dialed(void *context, uv_stream_t *socket, const struct err *why)
{
    struct stream *stream = context;

    stream->dial = NULL;
    if (!socket) {
        fail(stream, why->text);
        return;
    }
    stream->socket = socket;
    socket->data = stream;
    int status = uv_read_start(socket, give_room, on_read);
    if (status < 0)
        fail(stream, uv_strerror(status));
    else if (stream->wants_tls)
        begin_shaking(stream);
    else
        become_open(stream);
}

static char *copy(const char *text)
{
    return text ? mem_text(slice_from(text)) : NULL;
}

struct stream *stream_connect(uv_loop_t *loop, const struct stream_address *address,
                              int64_t connect_ms, const struct stream_events *events, void *context)
{
    struct stream *stream = mem_new(sizeof(*stream));

    stream->events = events;
    stream->context = context;
    stream->name = mem_text(slice_from(address->name ? address->name : address->host));
    stream->ca_file = copy(address->files.ca_file);
    stream->cert_file = copy(address->files.cert_file);
    stream->key_file = copy(address->files.key_file);
    stream->wants_tls = address->tls;
    stream->connect_until_ms = now_ms() + (uint64_t)connect_ms;
    deadline_open(&stream->deadline, loop, on_deadline);
    stream->has_deadline = true;
    stream->dial =
        dial_start(loop, address->host, address->port, (uint64_t)connect_ms, on_dialed, stream);
    return stream;
}

void stream_write(struct stream *stream, struct slice bytes)
{
    struct err err = {0};

    if (stream->state != STREAM_OPEN)
        return;
    if (!stream->tls) {
        send_bytes(stream, bytes);
        return;
    }
    if (tls_write(stream->tls, bytes, &err))
        flush_tls(stream);
    else
        fail(stream, err.text);
}

int64_t stream_certificate_end(const struct stream *stream)
{
    return tls_certificate_end(stream->tls);
}

void stream_close(struct stream *stream)
{
    if (stream->state == STREAM_CLOSING)
        return;
    if (stream->state == STREAM_OPEN && stream->tls) {
        tls_end(stream->tls);
        flush_tls(stream);
    }
    fail(stream, "");
    stream->why = (struct err){0};
}
