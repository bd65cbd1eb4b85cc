/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_url: where a Redis is and who asks it.
 *
 *   redis://[[user]:password@]host[:port][/db]
 *   rediss://[[user]:password@]host[:port][/db][?files]             TLS
 *   redis+unix://[[user]:password@]/path[?db=number]                a unix socket
 *   redis+sentinel://[[user]:password@]host[:port][,host[:port]]/master[/db][?login]
 *   rediss+sentinel://...[?login&files]                             TLS to Sentinels and server
 *
 * files: ca_file=/path, cert_file=/path with key_file=/path. login: sentinel_password=...,
 * sentinel_username=..., for the Sentinels; what stands before the @ is for the server. All values
 * are percent-decoded. No text from here quotes the URL, since any part of a mistyped one may be
 * the password.
 */
#ifndef WAKEGATE_STORE_REDIS_URL_H
#define WAKEGATE_STORE_REDIS_URL_H

#include "gateway/core/err.h"
#include "gateway/core/slice.h"
#include "gateway/net/tls.h"

enum { REDIS_SENTINELS = 16 };

struct redis_login {
    char *user;     /* NULL: the default user */
    char *password; /* NULL: none; wiped when released */
};

struct redis_host {
    char *host; /* or the path of the socket */
    char *port; /* NULL: a unix socket */
};

struct redis_url {
    struct redis_host server; /* not set where Sentinels know it */
    struct redis_login login;
    char *master; /* what the Sentinels call the server; NULL: there are none */
    struct redis_host sentinels[REDIS_SENTINELS];
    size_t sentinel_count;
    struct redis_login sentinel_login;
    char *ca_file, *cert_file, *key_file;
    char *place; /* "host:port", the path, or the master's name: for texts */
    uint64_t db;
    bool tls;
    char *text; /* the whole; wiped when released */
};

/* false: nothing is left to release. */
bool redis_url_init(struct redis_url *url, struct slice text, struct err *err);
struct redis_url redis_url_copy(const struct redis_url *url);
void redis_url_release(struct redis_url *url);

/* "host:port", or the path; the caller frees it. */
char *redis_host_text(const struct redis_host *host);

struct tls_files redis_url_files(const struct redis_url *url); /* borrowed */

#endif
