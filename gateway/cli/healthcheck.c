/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakegate healthcheck: asks a gateway whether it is ready, for images that have no curl. It is a
 * process of its own, so it simply blocks, name look-up included, and an alarm ends it when that
 * takes too long. Over https the certificate is not verified, as by the probes of Kubernetes: it
 * names the gateway as clients reach it, not 127.0.0.1, and nothing secret is asked.
 */
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway/cli/cli.h"
#include "gateway/cli/options.h"
#include "gateway/config.h"
#include "gateway/core/buf.h"
#include "gateway/core/err.h"
#include "gateway/net/address.h"
#include "gateway/net/tls.h"

enum { TIMEOUT_S = 5, ANSWER_BYTES = 65536, CHUNK_BYTES = 4096 };

struct question {
    char host[256], port[8];
    struct slice authority, path; /* in the URL */
    bool https;
};

struct channel {
    int fd;
    struct tls *tls; /* NULL: plain */
};

/* http[s]://host[:port][/path], with an IPv6 address in brackets. */
static bool read_url(struct slice url, struct question *question, struct err *err)
{
    const struct slice http = SLICE("http://"), https = SLICE("https://");
    struct slice host, port, rest;

    question->https = slice_starts(url, https);
    if ((!question->https && !slice_starts(url, http)) || !slice_is_visible(url))
        return err_set(err, "not a URL that begins with http:// or https://");
    port = question->https ? SLICE("443") : SLICE("80");
    url = slice_from_at(url, question->https ? https.len : http.len);
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

static bool send_all(int fd, struct slice bytes)
{
    ssize_t sent = send(fd, bytes.data, bytes.len, MSG_NOSIGNAL);

    return sent >= 0 && (size_t)sent == bytes.len;
}

static bool flush(const struct channel *channel)
{
    struct slice output = tls_output(channel->tls);
    bool sent = send_all(channel->fd, output);

    tls_taken(channel->tls, output.len);
    return sent;
}

static bool feed(const struct channel *channel)
{
    char bytes[CHUNK_BYTES];
    ssize_t len = recv(channel->fd, bytes, sizeof(bytes), 0);

    if (len > 0)
        tls_feed(channel->tls, (struct slice){.data = bytes, .len = (size_t)len});
    return len > 0;
}

static bool shake(const struct channel *channel, struct err *err)
{
    enum tls_answer answer = TLS_MORE;
    struct err why = {"the handshake broke off"};

    while (answer == TLS_MORE) {
        answer = tls_shake(channel->tls, &why);
        if (!flush(channel) || (answer == TLS_MORE && !feed(channel)))
            answer = TLS_ENDED;
    }
    return answer == TLS_DONE || err_set(err, "no TLS there: %s", why.text);
}

static bool send_question(const struct question *question, const struct channel *channel)
{
    struct buf text = BUF_INIT(4096);
    struct err err;

    buf_appendf(&text, "GET %.*s HTTP/1.1\r\nHost: %.*s\r\nConnection: close\r\n\r\n",
                SLICE_ARG(question->path), SLICE_ARG(question->authority));
    bool whole = !text.overflow;
    if (channel->tls)
        whole = whole && tls_write(channel->tls, buf_slice(&text), &err) && flush(channel);
    else
        whole = whole && send_all(channel->fd, buf_slice(&text));
    buf_release(&text);
    return whole;
}

/* 0: the other side has said everything. */
static size_t hear(const struct channel *channel, char *bytes, size_t size)
{
    enum tls_answer answer = TLS_MORE;
    struct err err;
    size_t len = 0;

    if (!channel->tls) {
        ssize_t got = recv(channel->fd, bytes, size, 0);
        return got > 0 ? (size_t)got : 0;
    }
    while (answer == TLS_MORE) {
        answer = tls_read(channel->tls, bytes, size, &len, &err);
        if (answer == TLS_MORE && !feed(channel))
            answer = TLS_ENDED;
    }
    return answer == TLS_DONE ? len : 0;
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
    struct channel channel = {.fd = connect_to(question, err)};

    if (channel.fd < 0)
        return false;
    if (question->https)
        channel.tls = tls_probe_new();
    bool good = !channel.tls || shake(&channel, err);
    if (good) {
        size_t len = send_question(question, &channel) ? 1 : 0;
        while (len > 0) {
            char *room = buf_reserve(&answer, CHUNK_BYTES);
            len = room ? hear(&channel, room, CHUNK_BYTES) : 0;
            answer.len += len;
        }
        good = is_good(buf_slice(&answer), err);
    }
    tls_free(channel.tls);
    close(channel.fd);
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

/* Where the config says that a gateway on this machine listens; without one, where it does by
 * default. What else may be wrong with the config is not asked here. */
static void find_gateway(char url[static ADDRESS_URL_SIZE])
{
    struct settings_report report;
    union address address = {.any.sa_family = AF_UNIX};
    struct err err;

    snprintf(url, ADDRESS_URL_SIZE, "http://127.0.0.1:8080");
    settings_report_init(&report, config_path());
    struct config *config = config_read(&report, environ);
    for (size_t i = 0; config && i < config->front.listen_count; i++)
        if (address.any.sa_family == AF_UNIX)
            address_parse(config->front.listen[i], &address, &err);
    if (address.any.sa_family != AF_UNIX)
        address_url(&address, json_object_get(config->root, "tls") ? "https" : "http", url);
    config_free(config);
    settings_report_release(&report);
}

int cli_healthcheck(int argc, char **argv)
{
    char own[ADDRESS_URL_SIZE];
    const char *url = NULL;
    const struct option_row rows[] = {{.name = NULL, .values = &url}};
    struct question question;
    struct err err = {""};

    if (!options_read(argc, argv, rows, 1))
        return CLI_USAGE;
    if (!url)
        find_gateway(own);
    url = url ? url : own;
    signal(SIGALRM, on_alarm);
    alarm(TIMEOUT_S);
    if (!read_url(slice_from(url), &question, &err)) {
        printf("%s: %s\n", url, err.text);
        return CLI_FAILED;
    }
    bool good = ask(&question, &err);
    const char *meaning = slice_eq(question.path, SLICE("/readyz")) ? "ready" : "answered 200";
    printf("%s://%.*s%.*s: %s\n", question.https ? "https" : "http", SLICE_ARG(question.authority),
           SLICE_ARG(question.path), good ? meaning : err.text);
    return good ? CLI_OK : CLI_FAILED;
}
