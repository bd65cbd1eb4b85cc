/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakegate healthcheck: asks a gateway whether it is ready, for images that have no curl. It is a
 * process of its own, so it simply blocks, name look-up included, and an alarm ends it when that
 * takes too long.
 */
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway/cli/cli.h"
#include "gateway/cli/options.h"
#include "gateway/core/buf.h"
#include "gateway/core/err.h"

enum { TIMEOUT_S = 5, ANSWER_BYTES = 65536 };

struct question {
    char host[256], port[8];
    struct slice authority, path; /* in the URL */
};

/* http://host[:port][/path], with an IPv6 address in brackets. */
static bool read_url(struct slice url, struct question *question, struct err *err)
{
    struct slice host, port = SLICE("80"), rest;

    if (!slice_starts(url, SLICE("http://")) || !slice_is_visible(url))
        return err_set(err, "not a URL that begins with http://");
    url = slice_from_at(url, 7);
    slice_cut(url, '/', &host, &rest);
    question->authority = host;
    question->path = slice_from_at(url, host.len);
    if (question->path.len <= 1)
        question->path = SLICE("/readyz");
    if (slice_starts(host, SLICE("["))) {
        slice_cut(slice_from_at(host, 1), ']', &host, &rest);
        if (rest.len > 0)
            port = slice_from_at(rest, 1);
    } else if (slice_cut(host, ':', &host, &rest)) {
        port = rest;
    }
    if (host.len == 0 || host.len >= sizeof(question->host) || port.len >= sizeof(question->port))
        return err_set(err, "not a URL like http://127.0.0.1:8080/readyz");
    snprintf(question->host, sizeof(question->host), "%.*s", SLICE_ARG(host));
    snprintf(question->port, sizeof(question->port), "%.*s", SLICE_ARG(port));
    return true;
}

/* -1: nobody listens there. */
static int connect_to(const struct question *question, struct err *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list;

    int found = getaddrinfo(question->host, question->port, &hints, &list);
    if (found != 0) {
        err_set(err, "%s", gai_strerror(found));
        return -1;
    }
    int fd = -1;
    for (const struct addrinfo *address = list; address && fd < 0; address = address->ai_next) {
        fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, address->ai_addr, address->ai_addrlen) != 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    if (fd < 0)
        err_set(err, "nobody listens there");
    return fd;
}

static bool send_question(const struct question *question, int fd)
{
    struct buf text = BUF_INIT(4096);

    buf_appendf(&text, "GET %.*s HTTP/1.1\r\nHost: %.*s\r\nConnection: close\r\n\r\n",
                SLICE_ARG(question->path), SLICE_ARG(question->authority));
    ssize_t sent = send(fd, text.data, text.len, MSG_NOSIGNAL);
    bool whole = sent >= 0 && (size_t)sent == text.len && !text.overflow;
    buf_release(&text);
    return whole;
}

static bool is_good(struct slice answer, struct err *err)
{
    struct slice line, rest, version, status;

    slice_cut(answer, '\r', &line, &rest);
    slice_cut(line, ' ', &version, &status);
    if (!slice_starts(version, SLICE("HTTP/1.")))
        return err_set(err, "no answer");
    return slice_starts(status, SLICE("200")) ||
           err_set(err, "answered %.*s", SLICE_ARG(slice_first(status, 80)));
}

static bool ask(const struct question *question, struct err *err)
{
    struct buf answer = BUF_INIT(ANSWER_BYTES);
    int fd = connect_to(question, err);

    if (fd < 0)
        return false;
    ssize_t len = send_question(question, fd) ? 1 : 0;
    while (len > 0) { /* until the other side closes */
        char *room = buf_reserve(&answer, 4096);
        len = room ? recv(fd, room, 4096, 0) : 0;
        answer.len += len > 0 ? (size_t)len : 0;
    }
    close(fd);
    bool good = is_good(buf_slice(&answer), err);
    buf_release(&answer);
    return good;
}

static void on_alarm(int number)
{
    static const char text[] = "no answer in time\n";

    (void)number;
    if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
        _exit(CLI_FAILED);
    _exit(CLI_FAILED);
}

int cli_healthcheck(int argc, char **argv)
{
    const char *url = "http://127.0.0.1:8080";
    const struct option_row rows[] = {{.name = NULL, .values = &url}};
    struct question question;
    struct err err = {""};

    if (!options_read(argc, argv, rows, 1))
        return CLI_USAGE;
    signal(SIGALRM, on_alarm);
    alarm(TIMEOUT_S);
    if (!read_url(slice_from(url), &question, &err)) {
        printf("%s: %s\n", url, err.text);
        return CLI_FAILED;
    }
    bool good = ask(&question, &err);
    const char *meaning = slice_eq(question.path, SLICE("/readyz")) ? "ready" : "answered 200";
    printf("http://%.*s%.*s: %s\n", SLICE_ARG(question.authority), SLICE_ARG(question.path),
           good ? meaning : err.text);
    return good ? CLI_OK : CLI_FAILED;
}
