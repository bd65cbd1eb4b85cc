/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_stub: a loopback HTTP server inside the test process that reads whole requests and answers
 * with scripted bytes, or misbehaves as scripted.
 */
#ifndef WAKEGATE_TESTS_HTTP_STUB_H
#define WAKEGATE_TESTS_HTTP_STUB_H

#include <uv.h>

#include "gateway/core/buf.h"

enum stub_manner {
    STUB_CLOSE,   /* answer, then close */
    STUB_KEEP,    /* answer, then wait for the next request */
    STUB_DRIBBLE, /* answer byte by byte, then close */
    STUB_HANG,    /* read the request, answer what there is, and leave the connection open */
    STUB_DROP,    /* close at once, before anything was read */
    STUB_DIE      /* a kept connection: answer its first request, die at its second */
};

struct stub {
    uv_loop_t *loop;
    uv_tcp_t listener;
    int port;
    char url[64];

    enum stub_manner manner;
    struct slice answer;  /* borrowed */
    unsigned connections; /* accepted so far */
    unsigned requests;    /* read whole so far */
    struct buf request;   /* the last one: head and body */
    struct stub_peer *peers;
};

/* Listens on a free port of 127.0.0.1. */
void stub_open(struct stub *stub, uv_loop_t *loop);
void stub_close(struct stub *stub); /* the loop must run once more */

/* What the next requests get. */
void stub_script(struct stub *stub, enum stub_manner manner, struct slice answer);

/* Did the last request have this line in its head? */
bool stub_saw_line(const struct stub *stub, const char *line);
struct slice stub_body(const struct stub *stub);

/* A complete answer: "HTTP/1.1 <status> Stub", the extra header lines (each ended by CR LF) and a
 * body with its Content-Length. Valid until the next call. */
struct slice stub_answer(unsigned status, const char *headers, const char *body);

/* A port of 127.0.0.1 on which nobody listens. */
int stub_free_port(uv_loop_t *loop);

#endif
