/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/store/redis_url.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/codec.h"
#include "gateway/core/limits.h"
#include "gateway/net/address.h"

enum { DB_MOST = 1000000, PLACE_BYTES = 2 * LIMIT_URL_BYTES };

/* NULL: an escape that is none, or a NUL. */
static char *decode(struct slice text, const char *what, struct err *err)
{
    char *plain = mem_new(text.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        if (byte == '%') {
            if (!hex_decode(slice_first(slice_from_at(text, i + 1), 2), &byte, 1) || byte == 0) {
                err_set(err, "the %s has a %% that is not followed by two hex digits", what);
                free(plain);
                return NULL;
            }
            i += 2;
        }
        plain[len++] = (char)byte;
    }
    return plain;
}

static bool set_decoded(char **to, struct slice text, const char *what, struct err *err)
{
    if (*to)
        return err_set(err, "%s stands there twice", what);
    if (text.len == 0)
        return err_set(err, "the %s is empty", what);
    *to = decode(text, what, err);
    return *to != NULL;
}

static bool read_login(struct redis_url *url, struct slice text, struct err *err)
{
    struct slice user, password;

    if (!slice_cut(text, ':', &user, &password))
        return err_set(err, "there is an @ but no password (:password@ or user:password@)");
    if (user.len > 0 && !set_decoded(&url->login.user, user, "user", err))
        return false;
    return set_decoded(&url->login.password, password, "password", err);
}

static bool read_host(struct redis_host *to, struct slice text, const char *usual_port,
                      struct err *err)
{
    struct slice host, port;
    uint64_t number;

    if (slice_starts(text, SLICE("["))) {
        bool closed = slice_cut(slice_from_at(text, 1), ']', &host, &port);
        if (!closed || (port.len > 0 && port.data[0] != ':'))
            return err_set(err, "the address in brackets is not followed by :port or its end");
        if (!address_is_ipv6(host))
            return err_set(err, "what stands in brackets is no IPv6 address");
        port = slice_from_at(port, 1);
    } else {
        slice_cut(text, ':', &host, &port);
    }
    if (host.len == 0)
        return err_set(err, "there is no host");
    if (port.len == 0)
        port = slice_from(usual_port);
    if (!slice_number(port, &number) || number < 1 || number > 65535)
        return err_set(err, "the port is not a number from 1 to 65535");
    to->host = mem_text(host);
    to->port = mem_text(port);
    return true;
}

static bool read_sentinels(struct redis_url *url, struct slice hosts, struct err *err)
{
    bool more = true;

    while (more) {
        struct slice host;
        if (url->sentinel_count == REDIS_SENTINELS)
            return err_set(err, "there are more than %d Sentinels", REDIS_SENTINELS);
        more = slice_cut(hosts, ',', &host, &hosts);
        if (!read_host(&url->sentinels[url->sentinel_count], host, "26379", err))
            return err_wrap(err, "Sentinel %zu", url->sentinel_count + 1);
        url->sentinel_count++;
    }
    return true;
}

static bool read_db(struct redis_url *url, struct slice text, struct err *err)
{
    if (!slice_number(text, &url->db) || url->db > DB_MOST)
        return err_set(err, "the database is not a small number");
    return true;
}

/* --- what stands behind the host --- */

static bool read_parameter(struct redis_url *url, struct slice parameter, struct err *err)
{
    const struct {
        const char *name;
        char **to;
        bool fits;
    } known[] = {
        {"ca_file", &url->ca_file, url->tls},
        {"cert_file", &url->cert_file, url->tls},
        {"key_file", &url->key_file, url->tls},
        {"sentinel_username", &url->sentinel_login.user, url->master},
        {"sentinel_password", &url->sentinel_login.password, url->master},
    };
    bool is_unix = !url->server.port && !url->master;
    struct slice name, value;

    slice_cut(parameter, '=', &name, &value);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].fits && slice_eq(name, slice_from(known[i].name)))
            return set_decoded(known[i].to, value, known[i].name, err);
    if (is_unix && slice_eq(name, SLICE("db")))
        return read_db(url, value, err);
    return err_set(err, "after the ? may stand only %s%s%s",
                   url->tls ? "ca_file, cert_file, key_file" : "",
                   url->master ? url->tls ? ", sentinel_username, sentinel_password"
                                          : "sentinel_username, sentinel_password"
                               : "",
                   url->tls || url->master ? ""
                   : is_unix               ? "db=number"
                                           : "nothing");
}

static bool read_query(struct redis_url *url, struct slice query, struct err *err)
{
    while (query.len > 0) {
        struct slice parameter;
        slice_cut(query, '&', &parameter, &query);
        if (!read_parameter(url, parameter, err))
            return false;
    }
    if (!url->cert_file != !url->key_file)
        return err_set(err, "there is a %s but no %s; a client's certificate needs both",
                       url->cert_file ? "cert_file" : "key_file",
                       url->cert_file ? "key_file" : "cert_file");
    if (url->sentinel_login.user && !url->sentinel_login.password)
        return err_set(err, "there is a sentinel_username but no sentinel_password");
    return true;
}

/* The path of the socket, without its first '/'. */
static bool read_socket(struct redis_url *url, struct slice path, struct err *err)
{
    if (path.len == 0)
        return err_set(err, "there is no path of a socket");
    struct buf whole = BUF_INIT(LIMIT_URL_BYTES);
    buf_append_char(&whole, '/');
    buf_append(&whole, path);
    url->server.host = decode(buf_slice(&whole), "path", err);
    buf_release(&whole);
    return url->server.host != NULL;
}

static bool read_master(struct redis_url *url, struct slice path, struct err *err)
{
    struct slice name, db;

    slice_cut(path, '/', &name, &db);
    if (name.len == 0)
        return err_set(err, "there is no name of a master after the Sentinels (/mymaster)");
    return set_decoded(&url->master, name, "name of the master", err) &&
           (db.len == 0 || read_db(url, db, err));
}

/* --- the whole --- */

static bool read_place(struct redis_url *url, struct slice scheme, struct slice host,
                       struct slice path, struct err *err)
{
    if (slice_eq(scheme, SLICE("redis+unix"))) {
        if (host.len > 0)
            return err_set(err, "a unix socket has a path and no host (redis+unix:///path)");
        return read_socket(url, path, err);
    }
    if (slice_ends(scheme, SLICE("+sentinel")))
        return read_sentinels(url, host, err) && read_master(url, path, err);
    return read_host(&url->server, host, "6379", err) && (path.len == 0 || read_db(url, path, err));
}

/* Where the last @ ends; 0: there is none. The last, since a password may have others. */
static size_t last_at(struct slice text)
{
    size_t at = text.len;

    while (at > 0 && text.data[at - 1] != '@')
        at--;
    return at;
}

static bool read_parts(struct redis_url *url, struct slice text, struct err *err)
{
    struct slice scheme, rest, place, query, host, path;

    if (text.len > LIMIT_URL_BYTES)
        return err_set(err, "it has more than %d bytes", LIMIT_URL_BYTES);
    if (!slice_is_visible(text))
        return err_set(err, "it has blanks or other bytes that a URL cannot have; "
                            "percent-encode them");
    slice_cut(text, ':', &scheme, &rest);
    url->tls = slice_starts(scheme, SLICE("rediss"));
    if (!slice_starts(rest, SLICE("//")))
        return err_set(err, "the scheme is not followed by //");
    slice_cut(slice_from_at(rest, 2), '?', &place, &query);
    slice_cut(place, '/', &host, &path);
    size_t at = last_at(host);
    bool is_unix = slice_eq(scheme, SLICE("redis+unix"));
    if (!is_unix && at == 0 && (last_at(path) > 0 || (path.len == 0 && last_at(query) > 0)))
        return err_set(err, "there is an @ behind a / or a ?: in a password these must be "
                            "percent-encoded (%%2F, %%3F)");
    if (at > 0 && !read_login(url, slice_first(host, at - 1), err))
        return false;
    host = slice_from_at(host, at);
    return read_place(url, scheme, host, path, err) && read_query(url, query, err);
}

char *redis_host_text(const struct redis_host *host)
{
    struct buf text = BUF_INIT(PLACE_BYTES);
    bool brackets = host->port && strchr(host->host, ':');

    buf_appendf(&text, brackets ? "[%s]" : "%s", host->host);
    if (host->port)
        buf_appendf(&text, ":%s", host->port);
    return text.data;
}

bool redis_url_init(struct redis_url *url, struct slice text, struct err *err)
{
    struct redis_url parts = {0};

    if (!read_parts(&parts, text, err)) {
        redis_url_release(&parts);
        return err_wrap(err, "the store's URL");
    }
    parts.place =
        parts.master ? mem_text(slice_from(parts.master)) : redis_host_text(&parts.server);
    parts.text = mem_text(text);
    *url = parts;
    return true;
}

struct redis_url redis_url_copy(const struct redis_url *url)
{
    struct redis_url copy = {0};

    redis_url_init(&copy, slice_from(url->text), NULL);
    return copy;
}

struct tls_files redis_url_files(const struct redis_url *url)
{
    return (struct tls_files){
        .ca_file = url->ca_file, .cert_file = url->cert_file, .key_file = url->key_file};
}

static void wipe(char *secret)
{
    if (secret)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}

static void release_host(const struct redis_host *host)
{
    free(host->host);
    free(host->port);
}

void redis_url_release(struct redis_url *url)
{
    wipe(url->text);
    wipe(url->login.password);
    wipe(url->sentinel_login.password);
    free(url->login.user);
    free(url->sentinel_login.user);
    release_host(&url->server);
    for (size_t i = 0; i < url->sentinel_count; i++)
        release_host(&url->sentinels[i]);
    free(url->master);
    free(url->ca_file);
    free(url->cert_file);
    free(url->key_file);
    free(url->place);
    *url = (struct redis_url){0};
}
