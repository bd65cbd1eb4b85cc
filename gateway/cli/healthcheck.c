/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakegate healthcheck: asks a gateway whether it is ready, for images that have no curl. A process
 * of its own, so it simply blocks; every wait is part of one short time-out.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway/cli/cli.h"
#include "gateway/cli/options.h"
#include "gateway/core/buf.h"
#include "gateway/core/clock.h"
#include "gateway/core/err.h"

enum { TIMEOUT_MS = 5000, ANSWER_BYTES = 65536 };

struct question {
    char host[256], port[8];
    struct slice authority, path; /* in the URL */
    uint64_t until_us;
};

static int left_ms(const struct question *question)
{
    uint64_t now = clock_steady_us();

    return now >= question->until_us ? 0 : (int)((question->until_us - now) / 1000) + 1;
}

/* http://host[:port][/path], [::1] in brackets. */
static bool read_url(const char *text, struct question *question, struct err *err)
{
    struct slice url = slice_from(text), host, port = SLICE("80"), rest;

    if (!slice_starts(url, SLICE("http://")))
        return err_set(err, "not a URL that begins with http://");
    url = slice_from_at(url, 7);
    slice_cut(url, '/', &question->authority, &rest);
    question->path = slice_from_at(url, question->authority.len);
    if (question->path.len <= 1)
        question->path = SLICE("/readyz");
    host = question->authority;
    if (slice_starts(host, SLICE("["))) {
        slice_cut(slice_from_at(host, 1), ']', &host, &rest);
        if (rest.len > 0)
            port = slice_from_at(rest, 1);
    } else if (slice_cut(host, ':', &host, &rest)) {
        port = rest;
    }
    if (host.len == 0 || host.len >= sizeof(question->host) || port.len >= sizeof(question->port) ||
        !slice_is_visible(url))
        return err_set(err, "not a URL like http://127.0.0.1:8080/readyz");
    snprintf(question->host, sizeof(question->host), "%.*s", SLICE_ARG(host));
    snprintf(question->port, sizeof(question->port), "%.*s", SLICE_ARG(port));
    return true;
}

static bool wait_for(const struct question *question, int fd, short events)
{
    struct pollfd wanted = {.fd = fd, .events = events};

    return poll(&wanted, 1, left_ms(question)) == 1;
}

/* -1: this address does not answer. */
static int connect_to(const struct question *question, const struct addrinfo *address)
{
    int failure = 0;
    socklen_t len = sizeof(failure);
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (connect(fd, address->ai_addr, address->ai_addrlen) == 0)
        return fd;
    if (errno == EINPROGRESS && wait_for(question, fd, POLLOUT) &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &len) == 0 && failure == 0)
        return fd;
    close(fd);
    return -1;
}

static int connect_any(const struct question *question, struct err *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list;
    int fd = -1;

    int found = getaddrinfo(question->host, question->port, &hints, &list);
    if (found != 0) {
        err_set(err, "%s: %s", question->host, gai_strerror(found));
        return -1;
    }
    for (const struct addrinfo *address = list; address && fd < 0; address = address->ai_next)
        fd = connect_to(question, address);
    freeaddrinfo(list);
    if (fd < 0)
        err_set(err, "nobody answers at %s port %s", question->host, question->port);
    return fd;
}

/* The request fits every socket's buffer. The answer ends when the other side closes. */
static bool exchange_text(const struct question *question, int fd, struct buf *answer,
                          struct err *err)
{
    struct buf request = BUF_INIT(4096);

    buf_appendf(&request, "GET %.*s HTTP/1.1\r\nHost: %.*s\r\nConnection: close\r\n\r\n",
                SLICE_ARG(question->path), SLICE_ARG(question->authority));
    ssize_t sent = send(fd, request.data, request.len, MSG_NOSIGNAL);
    bool whole = sent >= 0 && (size_t)sent == request.len && !request.overflow;
    buf_release(&request);
    if (!whole)
        return err_set(err, "the request could not be sent");
    while (wait_for(question, fd, POLLIN)) {
        char *room = buf_reserve(answer, 4096);
        ssize_t len = room ? recv(fd, room, 4096, 0) : 0;
        if (len <= 0)
            return answer->len > 0 || err_set(err, "no answer");
        answer->len += (size_t)len;
    }
    return err_set(err, "no answer within %d ms", TIMEOUT_MS);
}

static bool ask(const struct question *question, struct err *err)
{
    struct buf answer = BUF_INIT(ANSWER_BYTES);
    struct slice line, rest, version, status;
    int fd = connect_any(question, err);

    if (fd < 0)
        return false;
    bool answered = exchange_text(question, fd, &answer, err);
    close(fd);
    slice_cut(buf_slice(&answer), '\r', &line, &rest);
    slice_cut(line, ' ', &version, &status);
    bool ready =
        answered && slice_starts(version, SLICE("HTTP/1.")) && slice_starts(status, SLICE("200"));
    if (answered && !ready)
        err_set(err, "not ready: %.*s", SLICE_ARG(slice_first(status, 80)));
    buf_release(&answer);
    return ready;
}

int cli_healthcheck(int argc, char **argv)
{
    const char *url = "http://127.0.0.1:8080/readyz";
    const struct option_row rows[] = {{.name = NULL, .values = &url}};
    struct question question = {.until_us = clock_steady_us() + TIMEOUT_MS * UINT64_C(1000)};
    struct err err = {""};

    if (!options_read(argc, argv, rows, 1))
        return CLI_USAGE;
    bool ready = read_url(url, &question, &err) && ask(&question, &err);
    printf("%s: %s\n", url, ready ? "ready" : err.text);
    return ready ? CLI_OK : CLI_FAILED;
}
