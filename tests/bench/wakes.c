/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakes: sends requests that are written down in a file, and measures how long all the answers
 * take.
 *
 *   wakes <port> <file> <connections>
 *
 * The file has each request as it goes over the wire, and before it its length in a line of its
 * own. Each connection is kept and has one request under way. Every answer must be a 200. Prints a
 * line of JSON.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/load.h"

enum { ANSWER_BYTES = 4096, EVENTS = 256, PATIENCE_MS = 60000 };

struct line { /* one connection */
    int fd;
    size_t len;
    char answer[ANSWER_BYTES + 1];
};

struct load {
    const char *next, *end; /* of the file */
    unsigned sent, answered;
};

static const char *map_file(const char *path, size_t *len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat file;

    if (fd < 0 || fstat(fd, &file) != 0)
        load_fail("%s: %s", path, strerror(errno));
    *len = (size_t)file.st_size;
    char *bytes = mmap(NULL, *len, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        load_fail("%s: %s", path, strerror(errno));
    return bytes;
}

static void send_next(struct load *load, struct line *line)
{
    char *request;

    if (load->next == load->end)
        return;
    size_t len = strtoul(load->next, &request, 10);
    request++; /* the end of the line */
    if (len == 0 || len > (size_t)(load->end - request))
        load_fail("request %u of the file is cut off", load->sent + 1);
    load_send(line->fd, request, len);
    load->next = request + len;
    load->sent++;
}

static bool is_whole(struct line *line)
{
    line->answer[line->len] = '\0';
    const char *body = strstr(line->answer, "\r\n\r\n");
    const char *length = strcasestr(line->answer, "\r\nContent-Length:");

    if (!body || !length)
        return false;
    size_t wanted = strtoul(length + 17, NULL, 10);
    return line->len >= (size_t)(body + 4 - line->answer) + wanted;
}

static void on_readable(struct load *load, struct line *line)
{
    ssize_t len = recv(line->fd, line->answer + line->len, ANSWER_BYTES - line->len, MSG_DONTWAIT);

    if (len < 0 && errno == EAGAIN)
        return;
    if (len <= 0)
        load_fail("the server closed a connection: %s", len < 0 ? strerror(errno) : line->answer);
    line->len += (size_t)len;
    if (!is_whole(line))
        return;
    if (strncmp(line->answer, "HTTP/1.1 200", 12) != 0)
        load_fail("an answer that is no 200: %s", line->answer);
    line->len = 0;
    load->answered++;
    send_next(load, line);
}

static void open_lines(int epoll, const struct sockaddr_in *server, struct line *lines,
                       unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &lines[i]};
        lines[i].fd = load_socket(i % 16);
        load_connect(lines[i].fd, server);
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, lines[i].fd, &event) != 0)
            load_fail("cannot watch a socket: %s", strerror(errno));
    }
}

static void run(struct load *load, int epoll, struct line *lines, unsigned count)
{
    struct epoll_event events[EVENTS];

    for (unsigned i = 0; i < count; i++)
        send_next(load, &lines[i]);
    while (load->answered < load->sent) {
        int ready = epoll_wait(epoll, events, EVENTS, PATIENCE_MS);
        if (ready <= 0)
            load_fail("waited in vain for an answer");
        for (int i = 0; i < ready; i++)
            on_readable(load, events[i].data.ptr);
    }
}

int main(int argc, char **argv)
{
    struct load load = {0};
    size_t len;

    if (argc != 4)
        load_fail("usage: wakes <port> <file> <connections>");
    const struct sockaddr_in server = load_server(argv[1]);
    load.next = map_file(argv[2], &len);
    load.end = load.next + len;
    unsigned count = load_number(argv[3], 10000);
    struct line *lines = calloc(count, sizeof(*lines));
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!lines || epoll < 0)
        load_fail("cannot begin: %s", strerror(errno));
    load_raise_limit();
    open_lines(epoll, &server, lines, count);
    double began = load_now_ms();
    run(&load, epoll, lines, count);
    printf("{\"answers\":%u,\"ms\":%.1f}\n", load.answered, load_now_ms() - began);
    return 0;
}
