/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_server: HTTP/1.1 requests in, answers out; the only file that knows libmicrohttpd.
 *
 * It turns each request into an exchange. The injected handlers are called in this order: `head`
 * when the head is complete and well-formed, `request` when the body is complete too; or `fault`
 * when the server itself refuses the request. Each handler either answers the exchange or, in
 * `request` alone, returns and lets somebody answer later: the exchange is parked, its connection
 * suspended. Every exchange that got so far is answered exactly once, from the loop's thread. The
 * exchange is the server's: nobody else frees it, and it must not be touched after exchange_answer
 * returned. A parked client's disconnect is not seen unless somebody asks.
 *
 * An exchange can also be answered with another protocol: then its connection is taken over, and
 * still counts among the front's connections until the socket is closed.
 */
#ifndef WAKEGATE_NET_HTTP_SERVER_H
#define WAKEGATE_NET_HTTP_SERVER_H

#include <sys/socket.h>

#include "gateway/core/op.h"
#include "gateway/core/request.h"

struct exchange {
    struct slice method;
    struct slice path; /* as sent, without the query; not percent-decoded */
    struct request request;
    char peer[64];        /* the client's address as text; "unix" for a unix socket */
    uint64_t began_us;    /* steady time at which the request's head was complete */
    size_t max_body;      /* set by `head`; 0: a body is refused with FAULT_TOO_LARGE */
    void *context;        /* for the handlers */
    bool http_1_0;        /* it cannot be upgraded */
    bool answered, close; /* the server's own */
};

enum http_fault {
    FAULT_BAD_REQUEST, /* a header shape that must not pass (design: the response contract) */
    FAULT_TOO_LARGE,   /* the body is, or says it will be, over max_body */
    FAULT_NO_LENGTH,   /* a POST with neither Content-Length nor chunked coding */
    FAULT_EXPECTATION, /* an Expect other than 100-continue */
    FAULT_TOO_MANY_HEADERS,
    FAULT_NO_ROOM /* the bodies that are under way take all the memory that they may */
};

struct http_handlers {
    void (*head)(void *context, struct exchange *exchange);
    void (*request)(void *context, struct exchange *exchange);
    void (*fault)(void *context, struct exchange *exchange, enum http_fault fault);
    /* `head` wanted a body and the connection ended before all of it came: the exchange is about to
     * be freed, unanswered. May be NULL. */
    void (*gone)(void *context, struct exchange *exchange);
    void *context;
};

struct http_field { /* a header of an answer */
    const char *name;
    struct slice value;
};

struct http_answer {
    unsigned status;
    const char *content_type;
    const char *allow;               /* NULL: no Allow header */
    int64_t retry_after_s;           /* 0: no Retry-After header */
    bool close;                      /* close the connection after it */
    struct slice body;               /* copied */
    const struct http_field *fields; /* further headers; copied */
    size_t field_count;
};

void exchange_answer(struct exchange *exchange, const struct http_answer *answer);

/* The parameters of the query, the first LIMIT_HEADERS of them, as if they were headers: as sent but
 * with `+` as a blank, and without blanks around the value. parameters.h finds one by its name. */
void exchange_query(const struct exchange *exchange, struct request *query);

/* Has the client of a parked exchange closed its side of the connection? */
bool exchange_is_deserted(const struct exchange *exchange);

/* A connection that left HTTP. Its descriptor does not block; it is read, written and polled by
 * whoever took it, and closed by http_socket_close alone, before the server is. What was written
 * then still arrives, though the client may be sending. */
struct http_socket;
int http_socket_fd(const struct http_socket *socket);
void http_socket_close(struct http_socket *socket);

struct http_upgrade {
    const struct http_field *fields; /* Upgrade and the like; Connection is the server's; copied */
    size_t field_count;
    /* Comes once, later, from the loop. `head` is the 101, which whoever takes the socket sends
     * before all else, with what follows it; empty: it is out. `early` is what the client has sent
     * beyond its request. Both are borrowed for the call. `socket` is NULL when the connection
     * ended before. */
    void (*taken)(void *context, struct http_socket *socket, struct slice head, struct slice early);
    void *context;
};

/* Answers 101. Not from `head`, and not an exchange with http_1_0. */
void exchange_upgrade(struct exchange *exchange, const struct http_upgrade *upgrade);

/* What the server tells its owner about a connection, for deadlines. `connection` is what was given
 * to http_server_add. */
struct http_watch {
    void (*head_done)(void *connection); /* the head is complete: the body's time begins */
    void (*body_done)(void *connection); /* the request is complete: no deadline while parked */
    void (*answered)(void *connection);  /* the answer is out: the next head's time begins */
    void (*closed)(void *connection);    /* gone; called once, also when http_server_add failed */
};

struct http_limits {
    unsigned connections;
    size_t body_memory; /* bytes, of all bodies together; see body.h */
    unsigned idle_s;    /* a connection on which nothing moves is closed */
};

struct http_server;

struct http_server *http_server_open(struct turn *turn, const struct http_handlers *handlers,
                                     const struct http_watch *watch,
                                     const struct http_limits *limits);
/* Takes the descriptor over, also on failure. */
void http_server_add(struct http_server *server, int fd, const struct sockaddr *peer,
                     socklen_t peer_len, void *connection);
/* From now on every answer closes its connection. */
void http_server_drain(struct http_server *server);
/* No exchange may be parked, no socket open. Open connections are closed. */
void http_server_close(struct http_server *server);

/* "0.9.75" */
const char *http_server_library(void);

#endif
