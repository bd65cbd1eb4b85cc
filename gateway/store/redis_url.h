/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_url: where a Redis is and who asks it.
 *
 *   redis://[[user]:password@]host[:port][/db]
 *   rediss://[[user]:password@]host[:port][/db][?ca_file=/path]     TLS
 *   redis+unix://[[user]:password@]/path[?db=number]                a unix socket
 *
 * User, password, path and ca_file are percent-decoded. No text from here quotes the URL, since any
 * part of a mistyped one may be the password.
 */
#ifndef WAKEGATE_STORE_REDIS_URL_H
#define WAKEGATE_STORE_REDIS_URL_H

#include "gateway/core/err.h"
#include "gateway/core/slice.h"

struct redis_url {
    char *host;     /* or the path of the socket */
    char *port;     /* NULL: a unix socket */
    char *user;     /* NULL: the default user */
    char *password; /* NULL: none; wiped when released */
    char *ca_file;  /* NULL: the system's certificates */
    char *place;    /* "host:port" or the path, for texts */
    uint64_t db;
    bool tls;
};

/* false: nothing is left to release. */
bool redis_url_init(struct redis_url *url, struct slice text, struct err *err);
struct redis_url redis_url_copy(const struct redis_url *url);
void redis_url_release(struct redis_url *url);

#endif
