/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_client: outgoing HTTP on the event loop, and the only file that knows libcurl.
 *
 * TLS is always verified, redirects are never followed, no proxy is taken from the environment, and
 * the address that is really connected to is checked: a client reaches public addresses, one opened
 * with `private_too` also private and loopback ones, and none ever reaches link-local ones, where
 * clouds keep their metadata. Connections are kept per client, so the two never share one.
 */
#ifndef WAKEGATE_RELAY_HTTP_CLIENT_H
#define WAKEGATE_RELAY_HTTP_CLIENT_H

#include "gateway/core/buf.h"
#include "gateway/core/err.h"
#include "gateway/core/op.h"

enum http_result {
    HTTP_ANSWERED, /* a whole answer, or one cut at LIMIT_ANSWER_BYTES */
    HTTP_NOT_SENT, /* failed before any byte of the request was sent: nothing happened there */
    HTTP_NO_ANSWER /* sent at least in part, and no whole answer: unclear */
};

struct http_call {
    struct op op;

    const char *url;      /* borrowed until done, as all below */
    const char *method;   /* what is sent instead of POST; NULL: POST */
    struct slice headers; /* "Name: value" lines, each ended by NUL */
    struct slice body;
    const char *const *wanted; /* names of headers of the answer, NULL-terminated; NULL: none */
    int64_t timeout_ms;        /* for all of it, name resolution included */
    bool fresh_connection;     /* never reuse one: libcurl would send a POST again when it dies */

    enum http_result result;
    unsigned status;
    bool has_retry_after;
    int64_t retry_after_ms; /* parsed and clamped, when has_retry_after */
    struct buf answer;      /* the body; the caller releases it */
    struct buf kept;        /* the wanted headers that came, as `headers`; the caller releases it,
                               where it wanted any */
    struct err err;         /* for HTTP_NOT_SENT and HTTP_NO_ANSWER; names no URL */

    void *work; /* the client's own */
};

struct http_client;

/* `ca_file` NULL: the system's certificates. */
struct http_client *http_client_open(struct turn *turn, bool private_too, const char *ca_file);
/* Every call must be over. `closed` comes when the handles are gone; may be NULL. */
void http_client_close(struct http_client *client, void (*closed)(void *context), void *context);

/* POSTs, or sends another method with a body. */
void http_client_send(struct http_client *client, struct http_call *call,
                      void (*done)(struct op *op));
/* GETs, with the same struct (body unused). */
void http_client_get(struct http_client *client, struct http_call *call,
                     void (*done)(struct op *op));
/* Ends a running call: `done` comes with HTTP_NOT_SENT or HTTP_NO_ANSWER. */
void http_client_cancel(struct http_client *client, struct http_call *call);

/* Runs, and no byte of the request was sent: cancelled now, it ends with HTTP_NOT_SENT. */
bool http_client_is_unsent(const struct http_call *call);

/* "libcurl/7.88.1 ..." */
const char *http_client_library(void);

#endif
