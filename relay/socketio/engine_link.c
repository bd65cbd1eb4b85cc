/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptor comes from the HTTP server some time after the handshake was answered; until then
 * what is sent waits. All of an engine's are watched as one set and read into one buffer that all
 * links share: whoever gets a payload has it for the call only.
 */
#include "relay/socketio/engine_link.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "relay/socketio/engine_probe.h"

enum { READ_BYTES = 65536, READS_PER_EVENT = 4 };

size_t link_waiting(const struct link *link)
{
    return link->out.bytes;
}

/* ---- the end ---- */

static void free_link(struct link *link)
{
    struct engine *engine = link->engine;

    websocket_reader_release(&link->reader);
    queue_clear(&link->out);
    free(link);
    engine->links--;
    turn_want(&engine->step); /* it may be waiting for the last one */
}

void links_free_closed(struct engine *engine)
{
    while (engine->closed_links) {
        struct link *link = engine->closed_links;
        engine->closed_links = link->next_closed;
        free_link(link);
    }
}

static void detach(struct link *link)
{
    struct engine_session *session = link->session;

    link->session = NULL;
    due_clear(&link->due);
    if (session && session->link == link)
        session->link = NULL;
    if (session && session->probe == link) {
        session->probe = NULL;
        session->probed = false;
    }
}

/* Without a wait: what the socket does not take is lost, and after half a frame nothing more can be
 * said. */
static void say_goodbye(struct link *link, enum websocket_status status)
{
    struct buf frame = BUF_INIT(WEBSOCKET_HEAD_MAX + WEBSOCKET_CONTROL_MAX);

    if (link->out.sent > 0)
        return;
    websocket_append_close(&frame, status);
    send(http_socket_fd(link->socket), frame.data, frame.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    buf_release(&frame);
}

void link_close(struct link *link, enum websocket_status status)
{
    detach(link);
    if (!link->socket)
        return; /* link_taken will find that it has no session */
    say_goodbye(link, status);
    poll_set_remove(&link->engine->sockets, http_socket_fd(link->socket));
    http_socket_close(link->socket);
    link->socket = NULL;
    link->next_closed = link->engine->closed_links;
    link->engine->closed_links = link;
    turn_want(&link->engine->step);
}

/* `why` ends a session that has nothing else to go on with. */
static void fail(struct link *link, const char *why, enum websocket_status status)
{
    struct engine_session *session = link->session;
    bool needed = session && session->link == link;

    link_close(link, status);
    if (needed)
        session_over(session, why);
}

/* ---- writing ---- */

static void watch_writing(struct link *link, bool blocked)
{
    link->blocked = blocked;
    poll_set_change(&link->engine->sockets, http_socket_fd(link->socket),
                    POLL_SET_READABLE | (blocked ? (unsigned)POLL_SET_WRITABLE : 0), link);
}

static bool write_out(struct link *link)
{
    enum queue_written written = queue_write(&link->out, http_socket_fd(link->socket));

    if (written == QUEUE_FAILED) {
        fail(link, "transport close", WEBSOCKET_NO_STATUS);
        return false;
    }
    bool blocked = written == QUEUE_PART;
    if (blocked != link->blocked)
        watch_writing(link, blocked);
    return !blocked;
}

bool link_flush(struct link *link)
{
    queue_append(&link->out, &link->session->queue);
    return link->socket && write_out(link);
}

void link_send(struct link *link, struct engine_message *message)
{
    queue_add(&link->out, message);
    engine_message_drop(message);
    if (link->socket)
        write_out(link);
}

/* ---- reading ---- */

static void on_message(struct link *link, struct slice payload, bool binary)
{
    struct engine_packet packet = {.type = ENGINE_MESSAGE, .binary = binary, .data = payload};

    if (link->session->probe == link)
        probe_message(link, payload, binary);
    else if (binary || engine_packet_parse(payload, &packet))
        session_packet(link->session, &packet);
    else
        session_over(link->session, "parse error");
}

static void on_frame(struct link *link, enum websocket_got got, struct slice payload)
{
    switch (got) {
    case WEBSOCKET_GOT_TEXT:
    case WEBSOCKET_GOT_BINARY:
        on_message(link, payload, got == WEBSOCKET_GOT_BINARY);
        break;
    case WEBSOCKET_GOT_PING:
        link_send(link, engine_message_frame(WEBSOCKET_PONG, payload));
        if (link->session) /* whoever pings and does not read is slow as well */
            session_stir(link->session);
        break;
    case WEBSOCKET_GOT_CLOSE:
        fail(link, "transport close", (enum websocket_status)link->reader.status);
        break;
    case WEBSOCKET_GOT_FAULT:
        fail(link, "transport error", (enum websocket_status)link->reader.status);
        break;
    case WEBSOCKET_GOT_PONG:
    case WEBSOCKET_GOT_NOTHING:
        break;
    }
}

static void take_in(struct link *link, struct slice bytes)
{
    enum websocket_got got = WEBSOCKET_GOT_PONG;

    while (link->session && got != WEBSOCKET_GOT_NOTHING) {
        struct slice payload = {0};
        got = websocket_read(&link->reader, &bytes, &payload);
        on_frame(link, got, payload);
    }
}

static void on_readable(struct link *link)
{
    static char bytes[READ_BYTES];
    ssize_t len = READ_BYTES;

    for (int i = 0; link->session && len == READ_BYTES && i < READS_PER_EVENT; i++) {
        len = recv(http_socket_fd(link->socket), bytes, sizeof(bytes), MSG_DONTWAIT);
        if (len > 0)
            take_in(link, (struct slice){.data = bytes, .len = (size_t)len});
        else if (len == 0 || (errno != EAGAIN && errno != EINTR))
            fail(link, "transport close", WEBSOCKET_NO_STATUS);
    }
}

void link_on_ready(void *item, unsigned events)
{
    struct link *link = item;

    if (!link->socket) /* closed in this turn */
        return;
    if ((events & POLL_SET_WRITABLE) && link->blocked && write_out(link))
        session_stir(link->session);
    if ((events & POLL_SET_READABLE) && link->session)
        on_readable(link);
}

/* ---- the beginning ---- */

struct link *link_new(struct engine *engine)
{
    struct link *link = mem_new(sizeof(*link));

    link->engine = engine;
    websocket_reader_init(&link->reader, engine->settings.max_payload);
    engine->links++;
    return link;
}

/* It is accepted all the same. */
static void turn_away(struct link *link, struct slice head)
{
    int fd = http_socket_fd(link->socket);

    if (head.len > 0)
        send(fd, head.data, head.len, MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE);
    say_goodbye(link, WEBSOCKET_NO_STATUS);
    http_socket_close(link->socket);
    link->socket = NULL;
}

void link_taken(void *context, struct http_socket *socket, struct slice head, struct slice early)
{
    struct link *link = context;

    link->socket = socket;
    bool wanted = socket && link->session;
    if (!wanted ||
        !poll_set_add(&link->engine->sockets, http_socket_fd(socket), POLL_SET_READABLE, link)) {
        if (socket)
            turn_away(link, head);
        fail(link, "transport close", WEBSOCKET_NO_STATUS);
        free_link(link);
        return;
    }
    if (head.len > 0)
        queue_add_head(&link->out, head);
    write_out(link);
    if (link->session)
        session_stir(link->session);
    take_in(link, early);
}
