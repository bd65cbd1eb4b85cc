/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd: many idle WebSocket clients of one server, for the benchmarks.
 *
 *   crowd <port> <path> <ws | socketio | thread> <clients>
 *
 * It connects them, WINDOW at a time, from several loopback addresses; with `socketio` each enters
 * the namespace "/", and with `thread` then joins the thread "wakes". When the last is in, it
 * prints a line of JSON with how many they are and how long it took. Then it stays, answers the
 * server's pings, and obeys lines on its standard input:
 *
 *   tell     one client sends an envelope that the server is to send to all
 *   expect   somebody else lets the server send something to all; prints "expecting" first
 *
 * After both it prints how long it took from then until the first client had it, and until the
 * last: an envelope, or in a thread the end of a run. It leaves when its input ends. One thread,
 * which costs a server on the same machine as little as possible.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "tests/bench/load.h"

enum {
    WINDOW = 128, /* on their way in at once; below every server's backlog */
    PER_ADDRESS = 1000,
    ENVELOPE_BYTES = 600,
    BUFFER_BYTES = 2048,
    EVENTS = 512,
    PATIENCE_MS = 60000
};

enum speaks { SPEAKS_WS, SPEAKS_SOCKETIO, SPEAKS_THREAD };
enum stage { SHAKING, OPENING, ENTERING, JOINING, IN };

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
    enum speaks speaks;
    struct client *clients;
    unsigned wanted, begun, in, told;
    int epoll;
};

/* ---- sending ---- */

/* One text frame; the mask is four zeros, which changes nothing. */
static void send_text(const struct client *client, const char *text)
{
    unsigned char frame[BUFFER_BYTES] = {0x81};
    size_t len = strlen(text), at = 2;

    if (len > BUFFER_BYTES - 8)
        load_fail("a text too long to send");
    frame[1] = (unsigned char)(0x80 | (len < 126 ? len : 126));
    if (len >= 126) {
        frame[at++] = (unsigned char)(len >> 8);
        frame[at++] = (unsigned char)(len & 0xff);
    }
    at += 4;
    memcpy(frame + at, text, len);
    load_send(client->fd, (const char *)frame, at + len);
}

/* ---- connecting ---- */

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
        load_fail("a path too long to ask for");
    crowd->request_len = (size_t)len;
}

static void begin(struct crowd *crowd)
{
    struct client *client = &crowd->clients[crowd->begun];
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};

    crowd->begun++;
    load_connect(client->fd, &crowd->server);
    if (epoll_ctl(crowd->epoll, EPOLL_CTL_ADD, client->fd, &event) != 0)
        load_fail("cannot watch a socket: %s", strerror(errno));
    load_send(client->fd, crowd->request, crowd->request_len);
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
        load_fail("no handshake: %.*s", (int)client->len, client->bytes);
    if (crowd->speaks == SPEAKS_WS)
        come_in(crowd, client);
    else
        client->stage = OPENING;
    return (size_t)(end + 4 - client->bytes);
}

static bool begins(const char *payload, size_t len, const char *with)
{
    return len >= strlen(with) && memcmp(payload, with, strlen(with)) == 0;
}

/* A step on the way in, where one text follows from another. */
static void go_on(struct crowd *crowd, struct client *client, const char *payload, size_t len)
{
    bool thread = crowd->speaks == SPEAKS_THREAD;

    if (client->stage == OPENING && begins(payload, len, "0{")) {
        client->stage = ENTERING;
        send_text(client, "40");
    } else if (client->stage == ENTERING && begins(payload, len, "40{")) {
        client->stage = JOINING;
        if (!thread)
            come_in(crowd, client);
    } else if (client->stage == JOINING && begins(payload, len, "42[\"protocol:hello\",")) {
        send_text(client, "420[\"thread:messages\",{\"threadId\":\"wakes\"}]");
    } else if (client->stage == JOINING && begins(payload, len, "430[{\"ok\":true,")) {
        come_in(crowd, client);
    } else {
        load_fail("a surprise on the way in: %.*s", (int)len, payload);
    }
}

static bool is_news(const struct crowd *crowd, const char *payload, size_t len)
{
    static const char end[] = "\"RUN_FINISHED\"";

    if (crowd->speaks == SPEAKS_THREAD)
        return memmem(payload, len, end, sizeof(end) - 1) != NULL;
    return len >= ENVELOPE_BYTES;
}

static void on_text(struct crowd *crowd, struct client *client, const char *payload, size_t len)
{
    if (crowd->speaks != SPEAKS_WS && len == 1 && payload[0] == '2') {
        send_text(client, "3");
    } else if (client->stage != IN) {
        go_on(crowd, client, payload, len);
    } else if (is_news(crowd, payload, len)) {
        if (client->told)
            load_fail("a client was told twice");
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
        load_fail("a frame that begins with %02x %02x", head[0], head[1]);
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
        load_fail("the server closed a connection: %s", len < 0 ? strerror(errno) : "end");
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
    if (load_now_ms() - began > PATIENCE_MS)
        load_fail("waited in vain: %u of %u are in, %u were told", crowd->in, crowd->wanted,
                  crowd->told);
}

static void gather(struct crowd *crowd)
{
    for (unsigned i = 0; i < crowd->wanted; i++)
        crowd->clients[i].fd = load_socket(i / PER_ADDRESS);
    double began = load_now_ms();
    for (int i = 0; i < WINDOW && crowd->begun < crowd->wanted; i++)
        begin(crowd);
    while (crowd->in < crowd->wanted)
        turn_awake(crowd, began);
    printf("{\"clients\":%u,\"ms\":%.1f}\n", crowd->in, load_now_ms() - began);
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

static void forget_news(struct crowd *crowd)
{
    for (unsigned i = 0; i < crowd->wanted; i++)
        crowd->clients[i].told = false;
    crowd->told = 0;
}

static void await_news(struct crowd *crowd, double began)
{
    double first = 0;

    while (crowd->told < crowd->wanted) {
        turn_awake(crowd, began);
        if (first == 0 && crowd->told > 0)
            first = load_now_ms() - began;
    }
    printf("{\"told\":%u,\"first_ms\":%.2f,\"last_ms\":%.2f}\n", crowd->told, first,
           load_now_ms() - began);
    fflush(stdout);
}

static void tell(struct crowd *crowd)
{
    char envelope[ENVELOPE_BYTES + 1], event[BUFFER_BYTES];

    write_envelope(envelope);
    snprintf(event, sizeof(event), "42[\"broadcast\",%s]", envelope);
    forget_news(crowd);
    double began = load_now_ms();
    send_text(&crowd->clients[0], crowd->speaks == SPEAKS_WS ? envelope : event);
    await_news(crowd, began);
}

static void expect(struct crowd *crowd)
{
    forget_news(crowd);
    printf("expecting\n");
    fflush(stdout);
    await_news(crowd, load_now_ms());
}

static void obey(struct crowd *crowd)
{
    struct epoll_event event = {.events = EPOLLIN};
    char line[64];
    ssize_t len = 1;

    if (epoll_ctl(crowd->epoll, EPOLL_CTL_ADD, STDIN_FILENO, &event) != 0)
        load_fail("cannot watch the standard input: %s", strerror(errno));
    while (len > 0) {
        if (!turn(crowd, -1))
            continue;
        len = read(STDIN_FILENO, line, sizeof(line));
        if (len > 0 && begins(line, (size_t)len, "tell\n"))
            tell(crowd);
        else if (len > 0 && begins(line, (size_t)len, "expect\n"))
            expect(crowd);
        else if (len > 0)
            load_fail("no such command: %.*s", (int)len, line);
    }
}

static enum speaks read_speaks(const char *word)
{
    static const char *const words[] = {
        [SPEAKS_WS] = "ws", [SPEAKS_SOCKETIO] = "socketio", [SPEAKS_THREAD] = "thread"};

    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(word, words[i]) == 0)
            return (enum speaks)i;
    load_fail("nobody speaks %s", word);
}

int main(int argc, char **argv)
{
    struct crowd crowd = {0};

    if (argc != 5)
        load_fail("usage: crowd <port> <path> <ws | socketio | thread> <clients>");
    crowd.server = load_server(argv[1]);
    crowd.path = argv[2];
    crowd.speaks = read_speaks(argv[3]);
    crowd.wanted = load_number(argv[4], 200000);
    load_raise_limit();
    crowd.clients = calloc(crowd.wanted, sizeof(crowd.clients[0]));
    crowd.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!crowd.clients || crowd.epoll < 0)
        load_fail("cannot begin: %s", strerror(errno));
    write_request(&crowd);
    gather(&crowd);
    obey(&crowd);
    return 0; /* the connections end with the process */
}
