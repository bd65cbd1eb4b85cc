/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd: many idle WebSocket clients of one server, for the benchmarks.
 *
 *   crowd <port> <path> <ws | socketio> <clients>
 *
 * It connects them, WINDOW at a time, from several loopback addresses; with `socketio` each also
 * enters the namespace "/". When the last is in, it prints a line of JSON with how many they are
 * and how long it took. Then it stays, answers the server's pings, and obeys lines on its standard
 * input:
 *
 *   tell   one client sends an envelope that the server is to send to all; prints how long it took
 *          from sending until the first client had it, and until the last
 *
 * It leaves when its input ends. Anything that is not as it should be ends it with a word on why
 * and exit code 1. One thread, so that it costs a server on the same machine as little as possible.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    WINDOW = 128, /* on their way in at once; below every server's backlog */
    PER_ADDRESS = 1000,
    ENVELOPE_BYTES = 600,
    BUFFER_BYTES = 2048,
    EVENTS = 512,
    PATIENCE_MS = 60000
};

enum stage { SHAKING, OPENING, ENTERING, IN };

struct client {
    int fd;
    enum stage stage;
    bool told;
    size_t len;
    char bytes[BUFFER_BYTES];
};

struct crowd {
    struct sockaddr_in server;
    const char *path;
    char request[1024];
    size_t request_len;
    bool socketio;
    struct client *clients;
    unsigned wanted, begun, in, told;
    int epoll;
};

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "crowd: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* ---- sending ---- */

/* What is sent is small next to a socket's buffer. */
static void send_all(const struct client *client, const char *bytes, size_t len)
{
    if (send(client->fd, bytes, len, MSG_NOSIGNAL) != (ssize_t)len)
        fail("sending failed: %s", strerror(errno));
}

/* One text frame; the mask is four zeros, which changes nothing. */
static void send_text(const struct client *client, const char *text)
{
    unsigned char frame[BUFFER_BYTES] = {0x81};
    size_t len = strlen(text), at = 2;

    if (len > BUFFER_BYTES - 8)
        fail("a text too long to send");
    frame[1] = (unsigned char)(0x80 | (len < 126 ? len : 126));
    if (len >= 126) {
        frame[at++] = (unsigned char)(len >> 8);
        frame[at++] = (unsigned char)(len & 0xff);
    }
    at += 4;
    memcpy(frame + at, text, len);
    send_all(client, (const char *)frame, at + len);
}

/* ---- connecting ---- */

/* A socket with an address of its own, not connected yet. */
static int open_from(unsigned address)
{
    const int on = 1;
    const struct linger none = {.l_onoff = 1}; /* no port is held after the end */
    const struct sockaddr_in own = {.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + address)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        fail("no socket: %s", strerror(errno));
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    if (bind(fd, (const struct sockaddr *)&own, sizeof(own)) != 0)
        fail("cannot bind a socket: %s", strerror(errno));
    return fd;
}

/* What a browser sends. */
static void write_request(struct crowd *crowd)
{
    unsigned port = ntohs(crowd->server.sin_port);
    int len = snprintf(crowd->request, sizeof(crowd->request),
                       "GET %s HTTP/1.1\r\n"
                       "Host: 127.0.0.1:%u\r\n"
                       "Connection: Upgrade\r\n"
                       "Pragma: no-cache\r\n"
                       "Cache-Control: no-cache\r\n"
                       "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 "
                       "(KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36\r\n"
                       "Upgrade: websocket\r\n"
                       "Origin: http://127.0.0.1:%u\r\n"
                       "Sec-WebSocket-Version: 13\r\n"
                       "Accept-Encoding: gzip, deflate, br, zstd\r\n"
                       "Accept-Language: en-US,en;q=0.9\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                       "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"
                       "\r\n",
                       crowd->path, port, port);

    if (len < 0 || (size_t)len >= sizeof(crowd->request))
        fail("a path too long to ask for");
    crowd->request_len = (size_t)len;
}

static void begin(struct crowd *crowd)
{
    struct client *client = &crowd->clients[crowd->begun];
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};

    crowd->begun++;
    if (connect(client->fd, (const struct sockaddr *)&crowd->server, sizeof(crowd->server)) != 0)
        fail("cannot connect: %s", strerror(errno));
    if (epoll_ctl(crowd->epoll, EPOLL_CTL_ADD, client->fd, &event) != 0)
        fail("cannot watch a socket: %s", strerror(errno));
    send_all(client, crowd->request, crowd->request_len);
}

static void come_in(struct crowd *crowd, struct client *client)
{
    client->stage = IN;
    crowd->in++;
    if (crowd->begun < crowd->wanted)
        begin(crowd);
}

/* ---- receiving ---- */

/* Returns how many bytes of the front it used; 0: more must come. */
static size_t take_head(struct crowd *crowd, struct client *client)
{
    const char *end = memmem(client->bytes, client->len, "\r\n\r\n", 4);

    if (!end)
        return 0;
    if (client->len < 12 || memcmp(client->bytes, "HTTP/1.1 101", 12) != 0)
        fail("no handshake: %.*s", (int)client->len, client->bytes);
    if (crowd->socketio)
        client->stage = OPENING;
    else
        come_in(crowd, client);
    return (size_t)(end + 4 - client->bytes);
}

static bool begins(const char *payload, size_t len, const char *with)
{
    return len >= strlen(with) && memcmp(payload, with, strlen(with)) == 0;
}

static void on_text(struct crowd *crowd, struct client *client, const char *payload, size_t len)
{
    if (crowd->socketio && len == 1 && payload[0] == '2') {
        send_text(client, "3");
    } else if (client->stage == OPENING && begins(payload, len, "0{")) {
        client->stage = ENTERING;
        send_text(client, "40");
    } else if (client->stage == ENTERING && begins(payload, len, "40{")) {
        come_in(crowd, client);
    } else if (client->stage != IN) {
        fail("a surprise on the way in: %.*s", (int)len, payload);
    } else if (len >= ENVELOPE_BYTES) {
        if (client->told)
            fail("a client was told twice");
        client->told = true;
        crowd->told++;
    }
}

static size_t take_frame(struct crowd *crowd, struct client *client)
{
    const unsigned char *head = (const unsigned char *)client->bytes;
    size_t at = 2;

    if (client->len < at)
        return 0;
    size_t len = head[1];
    if (len == 126) {
        at = 4;
        if (client->len < at)
            return 0;
        len = (size_t)head[2] << 8 | head[3];
    }
    if (head[0] != 0x81 || len > BUFFER_BYTES - 4)
        fail("a frame that begins with %02x %02x", head[0], head[1]);
    if (client->len < at + len)
        return 0;
    on_text(crowd, client, client->bytes + at, len);
    return at + len;
}

static void on_readable(struct crowd *crowd, struct client *client)
{
    ssize_t len =
        recv(client->fd, client->bytes + client->len, BUFFER_BYTES - client->len, MSG_DONTWAIT);
    size_t used = 1;

    if (len < 0 && errno == EAGAIN)
        return;
    if (len <= 0)
        fail("the server closed a connection: %s", len < 0 ? strerror(errno) : "end");
    client->len += (size_t)len;
    while (used > 0 && client->len > 0) {
        used = client->stage == SHAKING ? take_head(crowd, client) : take_frame(crowd, client);
        client->len -= used;
        memmove(client->bytes, client->bytes + used, client->len);
    }
}

/* ---- what it does ---- */

/* true: there is a line on the standard input, or its end. */
static bool turn(struct crowd *crowd, int wait_ms)
{
    struct epoll_event events[EVENTS];
    bool asked = false;
    int count = epoll_wait(crowd->epoll, events, EVENTS, wait_ms);

    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr)
            on_readable(crowd, events[i].data.ptr);
        else
            asked = true;
    }
    return asked;
}

/* Without sleeping: a server does not pay for waking its clients, who would be elsewhere. */
static void turn_awake(struct crowd *crowd, double began)
{
    turn(crowd, 0);
    if (now_ms() - began > PATIENCE_MS)
        fail("waited in vain: %u of %u are in, %u were told", crowd->in, crowd->wanted,
             crowd->told);
}

static void gather(struct crowd *crowd)
{
    for (unsigned i = 0; i < crowd->wanted; i++)
        crowd->clients[i].fd = open_from(i / PER_ADDRESS);
    double began = now_ms();
    for (int i = 0; i < WINDOW && crowd->begun < crowd->wanted; i++)
        begin(crowd);
    while (crowd->in < crowd->wanted)
        turn_awake(crowd, began);
    printf("{\"clients\":%u,\"ms\":%.1f}\n", crowd->in, now_ms() - began);
    fflush(stdout);
}

/* An envelope of exactly ENVELOPE_BYTES. */
static void write_envelope(char envelope[static ENVELOPE_BYTES + 1])
{
    static const char front[] = "{\"type\":\"run:delta\",\"threadId\":\"thread-1\",\"runId\":\"run-"
                                "1\",\"seq\":1,\"text\":\"";

    memset(envelope, 'x', ENVELOPE_BYTES);
    memcpy(envelope, front, sizeof(front) - 1);
    memcpy(envelope + ENVELOPE_BYTES - 2, "\"}", 3);
}

static void tell(struct crowd *crowd)
{
    char envelope[ENVELOPE_BYTES + 1], event[BUFFER_BYTES];
    double first = 0;

    write_envelope(envelope);
    snprintf(event, sizeof(event), "42[\"broadcast\",%s]", envelope);
    for (unsigned i = 0; i < crowd->wanted; i++)
        crowd->clients[i].told = false;
    crowd->told = 0;
    double began = now_ms();
    send_text(&crowd->clients[0], crowd->socketio ? event : envelope);
    while (crowd->told < crowd->wanted) {
        turn_awake(crowd, began);
        if (first == 0 && crowd->told > 0)
            first = now_ms() - began;
    }
    printf("{\"told\":%u,\"first_ms\":%.2f,\"last_ms\":%.2f}\n", crowd->told, first,
           now_ms() - began);
    fflush(stdout);
}

static void obey(struct crowd *crowd)
{
    struct epoll_event event = {.events = EPOLLIN};
    char line[64];
    ssize_t len = 1;

    if (epoll_ctl(crowd->epoll, EPOLL_CTL_ADD, STDIN_FILENO, &event) != 0)
        fail("cannot watch the standard input: %s", strerror(errno));
    while (len > 0) {
        if (!turn(crowd, -1))
            continue;
        len = read(STDIN_FILENO, line, sizeof(line));
        if (len > 0 && begins(line, (size_t)len, "tell\n"))
            tell(crowd);
        else if (len > 0)
            fail("no such command: %.*s", (int)len, line);
    }
}

static unsigned number(const char *text, unsigned long most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*end || value == 0 || value > most)
        fail("no number from 1 to %lu: %s", most, text);
    return (unsigned)value;
}

int main(int argc, char **argv)
{
    struct crowd crowd = {.server = {.sin_family = AF_INET}};
    struct rlimit limit;

    if (argc != 5)
        fail("usage: crowd <port> <path> <ws | socketio> <clients>");
    crowd.server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    crowd.server.sin_port = htons((uint16_t)number(argv[1], 65535));
    crowd.path = argv[2];
    crowd.socketio = strcmp(argv[3], "socketio") == 0;
    crowd.wanted = number(argv[4], 200000);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    crowd.clients = calloc(crowd.wanted, sizeof(crowd.clients[0]));
    crowd.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!crowd.clients || crowd.epoll < 0)
        fail("cannot begin: %s", strerror(errno));
    write_request(&crowd);
    gather(&crowd);
    obey(&crowd);
    return 0; /* the connections end with the process */
}
