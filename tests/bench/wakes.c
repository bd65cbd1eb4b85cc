/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakes: sends requests that are written down in a file, and measures the answers.
 *
 *   wakes [-k] [-s status] [-r rate] [-t seconds] <port> <file> <connections>
 *
 * The file has each request as it goes over the wire, and before it its length in a line of its
 * own. Each connection is kept and has one request under way. Without a rate the next request goes
 * as soon as an answer came. With one, so many a second are due, each goes on the connection that
 * has been free for longest, and its latency counts from when it was due: a server that falls
 * behind does not slow down what is asked of it. It ends with the file, or when the seconds are
 * over. Every answer must have the status, 200 unless said otherwise. Prints a line of JSON. With
 * -k the connections are kept after that until standard input ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/load.h"

enum { ANSWER_BYTES = 4096, EVENTS = 256, PATIENCE_MS = 60000, MOST_REQUESTS = 2000000 };

struct line { /* one connection */
    struct line *next_free;
    int fd;
    double due_ms; /* of the request that is under way */
    size_t len;
    char answer[ANSWER_BYTES + 1];
};

struct load {
    const char *next, *end; /* of the file */
    const char *status;     /* how every answer begins */
    double rate;            /* requests a millisecond; 0: as fast as they are answered */
    double began_ms, end_ms;
    unsigned sent, answered;
    bool keep;
    struct line *free, **free_end;
    float *latencies; /* in ms, of each answer */
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

static void send_next(struct load *load, struct line *line, double due_ms)
{
    char *request;

    size_t len = strtoul(load->next, &request, 10);
    request++; /* the end of the line */
    if (len == 0 || len > (size_t)(load->end - request))
        load_fail("request %u of the file is cut off", load->sent + 1);
    line->due_ms = due_ms;
    load_send(line->fd, request, len);
    load->next = request + len;
    if (++load->sent == MOST_REQUESTS)
        load->next = load->end;
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

static void set_free(struct load *load, struct line *line)
{
    line->next_free = NULL;
    *load->free_end = line;
    load->free_end = &line->next_free;
}

static struct line *take_free(struct load *load)
{
    struct line *line = load->free;

    load->free = line->next_free;
    if (!load->free)
        load->free_end = &load->free;
    return line;
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
    if (strncmp(line->answer, load->status, strlen(load->status)) != 0)
        load_fail("an answer that is not \"%s\": %s", load->status, line->answer);
    line->len = 0;
    load->latencies[load->answered++] = (float)(load_now_ms() - line->due_ms);
    set_free(load, line);
}

static void open_lines(int epoll, const struct sockaddr_in *server, struct load *load,
                       unsigned count)
{
    struct line *lines = calloc(count, sizeof(*lines));

    if (!lines)
        load_fail("no memory");
    for (unsigned i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &lines[i]};
        lines[i].fd = load_socket(i % 16);
        load_connect(lines[i].fd, server);
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, lines[i].fd, &event) != 0)
            load_fail("cannot watch a socket: %s", strerror(errno));
        set_free(load, &lines[i]);
    }
}

/* Sends what may be sent. Returns how long to wait for the next one, in ms. */
static double send_due(struct load *load)
{
    double now = load_now_ms();

    if (now >= load->end_ms)
        load->next = load->end;
    while (load->free && load->next < load->end) {
        double due = load->rate > 0 ? load->began_ms + load->sent / load->rate : now;
        if (due > now)
            return due - now;
        send_next(load, take_free(load), due);
    }
    return PATIENCE_MS;
}

static void run(struct load *load, int epoll)
{
    struct epoll_event events[EVENTS];
    double wait_ms = send_due(load);

    while (load->answered < load->sent || load->next < load->end) {
        struct timespec wait = {.tv_sec = (time_t)(wait_ms / 1e3),
                                .tv_nsec = (long)(fmod(wait_ms, 1e3) * 1e6)};
        int ready = epoll_pwait2(epoll, events, EVENTS, &wait, NULL);
        if (ready < 0 || (ready == 0 && wait_ms >= PATIENCE_MS))
            load_fail("waited in vain for an answer");
        for (int i = 0; i < ready; i++)
            on_readable(load, events[i].data.ptr);
        wait_ms = send_due(load);
    }
}

static int by_size(const void *left, const void *right)
{
    float a = *(const float *)left, b = *(const float *)right;

    return (a > b) - (a < b);
}

static void report(struct load *load)
{
    double ms = load_now_ms() - load->began_ms;
    unsigned count = load->answered;

    if (count == 0)
        load_fail("nothing was sent");
    qsort(load->latencies, count, sizeof(load->latencies[0]), by_size);
    printf("{\"answers\":%u,\"ms\":%.1f,\"p50_ms\":%.4f,\"p99_ms\":%.4f,\"longest_ms\":%.4f}\n",
           count, ms, (double)load->latencies[count / 2],
           (double)load->latencies[(unsigned long)count * 99 / 100],
           (double)load->latencies[count - 1]);
}

static unsigned read_options(struct load *load, int argc, char **argv)
{
    unsigned seconds = PATIENCE_MS / 1000;
    static char status[32];

    snprintf(status, sizeof(status), "HTTP/1.1 200");
    for (int option = getopt(argc, argv, "ks:r:t:"); option != -1;
         option = getopt(argc, argv, "ks:r:t:")) {
        if (option == 's')
            snprintf(status, sizeof(status), "HTTP/1.1 %u", load_number(optarg, 599));
        else if (option == 'r')
            load->rate = load_number(optarg, 1000000) / 1e3;
        else if (option == 'k')
            load->keep = true;
        else if (option == 't')
            seconds = load_number(optarg, 600);
        else
            exit(1);
    }
    if (argc - optind != 3)
        load_fail(
            "usage: wakes [-k] [-s status] [-r rate] [-t seconds] <port> <file> <connections>");
    load->status = status;
    return seconds;
}

int main(int argc, char **argv)
{
    struct load load = {.free_end = &load.free};
    size_t len;

    unsigned seconds = read_options(&load, argc, argv);
    const struct sockaddr_in server = load_server(argv[optind]);
    load.next = map_file(argv[optind + 1], &len);
    load.end = load.next + len;
    load.latencies = calloc(MOST_REQUESTS, sizeof(load.latencies[0]));
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!load.latencies || epoll < 0)
        load_fail("cannot begin: %s", strerror(errno));
    load_raise_limit();
    open_lines(epoll, &server, &load, load_number(argv[optind + 2], 10000));
    load.began_ms = load_now_ms();
    load.end_ms = load.began_ms + seconds * 1e3;
    run(&load, epoll);
    report(&load);
    fflush(stdout);
    while (load.keep && getchar() != EOF) {
    }
    return 0;
}
