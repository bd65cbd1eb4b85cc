/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/cli/ask.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { QUESTION_BYTES = 8192 };

bool ask_read_url(const char *text, struct ask_place *place, struct err *err)
{
    struct slice url = slice_from(text), host, port = SLICE("80"), rest;

    *place = (struct ask_place){.authority = SLICE("localhost")};
    if (slice_starts(url, SLICE("unix:")) && url.len > 5) {
        place->socket = slice_from_at(url, 5);
        return true;
    }
    if (slice_starts(url, SLICE("https://")))
        return err_set(err, "https is not spoken here; name the gateway's own http:// or unix: "
                            "address");
    if (!slice_starts(url, SLICE("http://")) || !slice_is_visible(url))
        return err_set(err, "not a URL that begins with http://, nor unix:/path");
    url = slice_from_at(url, 7);
    slice_cut(url, '/', &host, &rest);
    place->authority = host;
    place->path = slice_from_at(url, host.len);
    if (slice_starts(host, SLICE("["))) {
        slice_cut(slice_from_at(host, 1), ']', &host, &rest);
        if (rest.len > 0)
            port = slice_from_at(rest, 1);
    } else if (slice_cut(host, ':', &host, &rest)) {
        port = rest;
    }
    if (host.len == 0 || host.len >= sizeof(place->host) || port.len >= sizeof(place->port))
        return err_set(err, "not a URL like http://127.0.0.1:8080/readyz");
    snprintf(place->host, sizeof(place->host), "%.*s", SLICE_ARG(host));
    snprintf(place->port, sizeof(place->port), "%.*s", SLICE_ARG(port));
    return true;
}

static int open_socket(int family, unsigned timeout_s)
{
    const struct timeval timeout = {.tv_sec = timeout_s};
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
    }
    return fd;
}

static int connected(int fd, const struct sockaddr *address, socklen_t len)
{
    if (fd >= 0 && connect(fd, address, len) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int connect_to_file(const struct ask_place *place, unsigned timeout_s)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (place->socket.len >= sizeof(address.sun_path))
        return -1;
    memcpy(address.sun_path, place->socket.data, place->socket.len);
    return connected(open_socket(AF_UNIX, timeout_s), (struct sockaddr *)&address, sizeof(address));
}

/* -1: nobody listens there. */
static int connect_to(const struct ask_place *place, unsigned timeout_s, struct err *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    int fd = -1, found = 0;

    if (place->socket.len > 0)
        fd = connect_to_file(place, timeout_s);
    else
        found = getaddrinfo(place->host, place->port, &hints, &list);
    if (found != 0) {
        err_set(err, "%s", gai_strerror(found));
        return -1;
    }
    for (const struct addrinfo *address = list; address && fd < 0; address = address->ai_next)
        fd = connected(open_socket(address->ai_family, timeout_s), address->ai_addr,
                       address->ai_addrlen);
    if (list)
        freeaddrinfo(list);
    if (fd < 0)
        err_set(err, "nobody listens there, or this user may not connect");
    return fd;
}

static bool send_question(const struct ask_place *place, const struct ask_question *question,
                          int fd)
{
    struct buf text = BUF_INIT(QUESTION_BYTES);

    buf_appendf(&text, "%s %.*s HTTP/1.1\r\nHost: %.*s\r\nConnection: close\r\n", question->method,
                SLICE_ARG(question->target), SLICE_ARG(place->authority));
    if (question->token.len > 0)
        buf_appendf(&text, "Authorization: Bearer %.*s\r\n", SLICE_ARG(question->token));
    if (strcmp(question->method, "GET") != 0)
        buf_append(&text, SLICE("Content-Length: 0\r\n"));
    buf_append(&text, SLICE("\r\n"));
    ssize_t sent = send(fd, text.data, text.len, MSG_NOSIGNAL);
    bool whole = sent >= 0 && (size_t)sent == text.len && !text.overflow;
    buf_release(&text);
    return whole;
}

/* Leaves the body in the buffer. */
static bool read_answer(struct buf *answer, unsigned *status, struct err *err)
{
    static const char end[] = "\r\n\r\n";
    struct slice text = buf_slice(answer), version, rest;
    uint64_t number = 0;
    const char *body = text.len > 0 ? memmem(text.data, text.len, end, sizeof(end) - 1) : NULL;

    slice_cut(text, ' ', &version, &rest);
    bool good = body && slice_starts(version, SLICE("HTTP/1.")) &&
                slice_number(slice_first(rest, 3), &number);
    if (!good)
        return err_set(err, "no answer");
    *status = (unsigned)number;
    buf_consume(answer, (size_t)(body - text.data) + sizeof(end) - 1);
    return true;
}

bool ask(const struct ask_place *place, const struct ask_question *question, unsigned timeout_s,
         unsigned *status, struct buf *body, struct err *err)
{
    int fd = connect_to(place, timeout_s, err);

    if (fd < 0)
        return false;
    ssize_t len = send_question(place, question, fd) ? 1 : 0;
    while (len > 0) { /* until the other side closes */
        char *room = buf_reserve(body, 4096);
        len = room ? recv(fd, room, 4096, 0) : 0;
        body->len += len > 0 ? (size_t)len : 0;
    }
    close(fd);
    if (len < 0)
        return err_set(err, "no answer in time");
    return read_answer(body, status, err);
}
