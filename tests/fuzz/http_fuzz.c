/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection's bytes, as the HTTP server reads them. Whatever reaches a handler must stand there
 * word for word as a strict reader understands it: one that takes a single request line and `Name:
 * value` lines and knows little leniency. So two programs cannot cut the same bytes differently.
 *
 * A request that the server refuses is never wrong here, and the strict reader stops where the
 * server did.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway/core/metrics.h"
#include "gateway/net/http_server.h"

enum { REQUESTS = 8, BODY_MOST = 2000, TURNS = 64 };

struct seen { /* copies of what a handler got */
    struct buf head, body;
};

static struct rig {
    uv_loop_t loop;
    struct turn turn;
    struct http_server *server;
    struct seen seen[REQUESTS];
    size_t heads, requests;
    bool closed;
} rig;

/* --- what the handlers see --- */

static void tell_head(const struct exchange *exchange, struct buf *story)
{
    buf_clear(story);
    buf_appendf(story, "%.*s|%.*s|%s\n", SLICE_ARG(exchange->method), SLICE_ARG(exchange->path),
                exchange->http_1_0 ? "1.0" : "1.1");
    for (size_t i = 0; i < exchange->request.header_count; i++) {
        buf_append(story, exchange->request.headers[i].name);
        buf_append_char(story, '=');
        buf_append(story, exchange->request.headers[i].value);
        buf_append_char(story, '\n');
    }
}

static void answer(struct exchange *exchange, unsigned status)
{
    const struct http_answer answer = {
        .status = status, .content_type = "text/plain", .body = SLICE("x")};

    exchange_answer(exchange, &answer);
}

static void on_head(void *context, struct exchange *exchange)
{
    (void)context;
    exchange->max_body = BODY_MOST;
    if (rig.heads < REQUESTS)
        tell_head(exchange, &rig.seen[rig.heads].head);
    rig.heads++;
}

static void on_request(void *context, struct exchange *exchange)
{
    (void)context;
    assert(rig.requests < rig.heads);
    if (rig.heads <= REQUESTS) {
        struct seen *seen = &rig.seen[rig.heads - 1];
        buf_clear(&seen->body);
        buf_append(&seen->body, SLICE("+"));
        buf_append(&seen->body, exchange->request.body);
    }
    rig.requests = rig.heads;
    answer(exchange, 200);
}

static void on_fault(void *context, struct exchange *exchange, enum http_fault fault)
{
    (void)context;
    (void)fault;
    answer(exchange, 400);
}

static void ignore(void *connection)
{
    (void)connection;
}

static void on_closed(void *connection)
{
    (void)connection;
    rig.closed = true;
}

static void open_rig(void)
{
    static const struct http_handlers handlers = {
        .head = on_head, .request = on_request, .fault = on_fault};
    static const struct http_watch watch = {
        .head_done = ignore, .body_done = ignore, .answered = ignore, .closed = on_closed};
    static const struct http_limits limits = {
        .connections = 4, .body_memory = 1024 * 1024, .idle_s = 60};

    uv_loop_init(&rig.loop);
    turn_open(&rig.turn, &rig.loop);
    rig.server = http_server_open(&rig.turn, &handlers, &watch, &limits);
    assert(rig.server);
    for (size_t i = 0; i < REQUESTS; i++)
        rig.seen[i] = (struct seen){.head = BUF_INIT(65536), .body = BUF_INIT(65536)};
}

/* --- a strict reader --- */

static bool is_one_of(char c, const char *more)
{
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

    return letter || (c && strchr(more, c));
}

/* A line ends in CRLF, or in LF alone, which libmicrohttpd takes too. It writes NULs over both, so
 * that a few NULs and CRs before an LF alone cannot be told from it any more; they change nothing.
 */
static bool any_line(struct slice *bytes, struct slice *line)
{
    if (!slice_cut(*bytes, '\n', line, bytes))
        return false;
    while (slice_ends(*line, SLICE("\r")) || slice_ends(*line, SLICE("\0")))
        line->len--;
    return true;
}

static bool strict_line(struct slice *bytes, struct slice *line)
{
    return any_line(bytes, line) && (!line->len || !memchr(line->data, '\r', line->len));
}

/* The target stands between the first blanks and the last one; a blank or a CR in it or in the
 * method cannot make it one that we know. */
static bool strict_request_line(struct slice line, struct buf *story)
{
    struct slice method, target, version, path, query;

    if (!slice_cut(line, ' ', &method, &target) || memchr(line.data, '\0', line.len))
        return false;
    while (slice_starts(target, SLICE(" ")))
        target = slice_from_at(target, 1);
    const char *last = target.len > 0 ? memrchr(target.data, ' ', target.len) : NULL;
    if (!last)
        return false;
    version = slice_from_at(target, (size_t)(last - target.data) + 1);
    target.len -= version.len + 1;
    const bool one_one = slice_eq(version, SLICE("HTTP/1.1"));
    if (!one_one && !slice_eq(version, SLICE("HTTP/1.0")))
        return false;
    slice_cut(target, '?', &path, &query);
    buf_appendf(story, "%.*s|%.*s|%s\n", SLICE_ARG(method), SLICE_ARG(path),
                one_one ? "1.1" : "1.0");
    return true;
}

struct framing {
    bool chunked, sized;
    uint64_t length;
};

static bool strict_header(struct slice line, struct buf *story, struct framing *framing)
{
    struct slice name, value;

    if (!slice_cut(line, ':', &name, &value) || name.len == 0)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!is_one_of(name.data[i], "!#$%&'*+-.^_`|~"))
            return false;
    value = slice_trim(value);
    for (size_t i = 0; i < value.len; i++)
        if (((unsigned char)value.data[i] < 0x20 && value.data[i] != '\t') || value.data[i] == 0x7f)
            return false;
    buf_append(story, name);
    buf_append_char(story, '=');
    buf_append(story, value);
    buf_append_char(story, '\n');
    if (slice_eq_nocase(name, SLICE("Content-Length"))) {
        if (framing->sized || !slice_number(value, &framing->length))
            return false;
        framing->sized = true;
    }
    if (slice_eq_nocase(name, SLICE("Transfer-Encoding"))) {
        if (framing->chunked || !slice_eq_nocase(value, SLICE("chunked")))
            return false;
        framing->chunked = true;
    }
    return !framing->chunked || !framing->sized;
}

/* libmicrohttpd passes extensions over up to the LF, whatever stands in them. */
static bool strict_chunks(struct slice *bytes, struct buf *body)
{
    struct slice line, size, extension;
    size_t len = 1;

    while (len > 0) {
        if (!any_line(bytes, &line))
            return false;
        slice_cut(line, ';', &size, &extension);
        if (size.len == 0 || size.len > 8)
            return false;
        len = 0;
        for (size_t i = 0; i < size.len; i++) {
            const char *digits = "0123456789abcdefABCDEF";
            const char *at = size.data[i] ? strchr(digits, size.data[i]) : NULL;
            if (!at)
                return false;
            len = len * 16 + (size_t)(at - digits < 16 ? at - digits : at - digits - 6);
        }
        if (len > bytes->len)
            return false;
        buf_append(body, slice_first(*bytes, len));
        *bytes = slice_from_at(*bytes, len);
        if (len > 0 && (!any_line(bytes, &line) || line.len > 0))
            return false;
    }
    do { /* trailers, which nobody looks at */
        if (!any_line(bytes, &line))
            return false;
    } while (line.len > 0);
    return true;
}

/* libmicrohttpd 0.9.75 takes a colon alone for the empty line, too, and where an LF alone stands
 * beside it, nothing of that can be seen afterwards. */
static bool is_end_of_head(struct slice line)
{
    return line.len == 0 || slice_eq(line, SLICE(":"));
}

/* Takes one request off the bytes; what was seen of it must be the same. */
static bool strict_request(struct slice *bytes, const struct seen *seen, bool whole)
{
    struct buf head = BUF_INIT(65536), body = BUF_INIT(65536);
    struct framing framing = {.length = 0};
    struct slice line;
    bool fine = false;

    do /* empty lines before a request are passed over, and those that begin with a NUL */
        fine = any_line(bytes, &line);
    while (fine && (line.len == 0 || line.data[0] == '\0'));
    fine = fine && strict_request_line(line, &head);
    while (fine && strict_line(bytes, &line) && !is_end_of_head(line))
        fine = strict_header(line, &head, &framing);
    fine = fine && is_end_of_head(line) && slice_eq(buf_slice(&head), buf_slice(&seen->head));
    buf_append(&body, SLICE("+"));
    if (fine && whole && framing.chunked)
        fine = strict_chunks(bytes, &body);
    if (fine && whole && framing.sized) {
        fine = framing.length <= bytes->len;
        buf_append(&body, slice_first(*bytes, (size_t)framing.length));
        *bytes = slice_from_at(*bytes, (size_t)framing.length);
    }
    fine = fine && (!whole || slice_eq(buf_slice(&body), buf_slice(&seen->body)));
    buf_release(&head);
    buf_release(&body);
    return fine;
}

/* --- one connection --- */

static void drain(int fd)
{
    char bytes[4096];

    while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
        continue;
}

static void turn(int fd, int times)
{
    for (int i = 0; i < times && !rig.closed; i++) {
        uv_run(&rig.loop, UV_RUN_NOWAIT);
        drain(fd);
    }
}

/* In two pieces, the first of which has `cut` bytes. */
static void converse(struct slice bytes, size_t cut)
{
    const struct sockaddr_in peer = {.sin_family = AF_INET};
    int ends[2];

    rig.heads = rig.requests = 0;
    rig.closed = false;
    assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    http_server_add(rig.server, ends[0], (const struct sockaddr *)&peer, sizeof(peer), &rig);
    const struct slice first = slice_first(bytes, cut), rest = slice_from_at(bytes, cut);
    if (first.len > 0 && send(ends[1], first.data, first.len, MSG_NOSIGNAL) >= 0)
        turn(ends[1], 4);
    if (rest.len > 0)
        (void)!send(ends[1], rest.data, rest.len, MSG_NOSIGNAL);
    shutdown(ends[1], SHUT_WR);
    turn(ends[1], TURNS);
    close(ends[1]);
    for (int i = 0; i < TURNS && !rig.closed; i++)
        uv_run(&rig.loop, UV_RUN_NOWAIT);
    assert(rig.closed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = fuzz_slice(data, size);
    const size_t cut = fuzz_byte(&input);

    if (!rig.server)
        open_rig();
    converse(input, cut);
    for (size_t i = 0; i < rig.heads && i < REQUESTS; i++)
        assert(strict_request(&input, &rig.seen[i], i < rig.requests));
    return 0;
}
