/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/store/redis_url.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/codec.h"
#include "gateway/core/limits.h"
#include "gateway/net/address.h"

enum { DB_MOST = 1000000 };

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

static bool read_user(struct redis_url *url, struct slice text, struct err *err)
{
    struct slice user, password;

    if (!slice_cut(text, ':', &user, &password))
        return err_set(err, "there is an @ but no password (:password@ or user:password@)");
    if (password.len == 0)
        return err_set(err, "the password is empty");
    if (user.len > 0) {
        url->user = decode(user, "user", err);
        if (!url->user)
            return false;
    }
    url->password = decode(password, "password", err);
    return url->password != NULL;
}

static bool read_host(struct redis_url *url, struct slice text, struct err *err)
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
        port = SLICE("6379");
    if (!slice_number(port, &number) || number < 1 || number > 65535)
        return err_set(err, "the port is not a number from 1 to 65535 "
                            "(a password with / or @ in it must be percent-encoded)");
    url->host = mem_text(host);
    url->port = mem_text(port);
    return true;
}

static bool read_db(struct redis_url *url, struct slice text, struct err *err)
{
    if (!slice_number(text, &url->db) || url->db > DB_MOST)
        return err_set(err, "the database is not a small number");
    return true;
}

static bool read_parameter(struct redis_url *url, struct slice parameter, struct err *err)
{
    struct slice name, value;

    slice_cut(parameter, '=', &name, &value);
    if (!url->port && slice_eq(name, SLICE("db")))
        return read_db(url, value, err);
    if (url->tls && slice_eq(name, SLICE("ca_file")) && value.len > 0 && !url->ca_file) {
        url->ca_file = decode(value, "ca_file", err);
        return url->ca_file != NULL;
    }
    return err_set(err, "after the ? may only stand %s",
                   url->tls ? "ca_file=/path" : (url->port ? "nothing" : "db=number"));
}

static bool read_query(struct redis_url *url, struct slice query, struct err *err)
{
    while (query.len > 0) {
        struct slice parameter, rest;
        slice_cut(query, '&', &parameter, &rest);
        if (!read_parameter(url, parameter, err))
            return false;
        query = rest;
    }
    return true;
}

/* What stands behind the host: a database, or the path of the socket, without its first '/'. */
static bool read_path(struct redis_url *url, struct slice path, bool is_unix, struct err *err)
{
    if (!is_unix)
        return path.len == 0 || read_db(url, path, err);
    if (path.len == 0)
        return err_set(err, "there is no path of a socket");
    struct buf whole = BUF_INIT(LIMIT_URL_BYTES);
    buf_append_char(&whole, '/');
    buf_append(&whole, path);
    url->host = decode(buf_slice(&whole), "path", err);
    buf_release(&whole);
    return url->host != NULL;
}

static bool read_parts(struct redis_url *url, struct slice text, struct err *err)
{
    struct slice scheme, rest, place, query, authority, path, host = {0};

    if (text.len > LIMIT_URL_BYTES || !slice_is_visible(text))
        return err_set(err, "it is too long, or has blanks or other bytes that a URL cannot have");
    slice_cut(text, ':', &scheme, &rest);
    bool is_unix = slice_eq(scheme, SLICE("redis+unix"));
    url->tls = slice_eq(scheme, SLICE("rediss"));
    if (!slice_starts(rest, SLICE("//")))
        return err_set(err, "the scheme is not followed by //");
    slice_cut(slice_from_at(rest, 2), '?', &place, &query);
    slice_cut(place, '/', &authority, &path);
    host = authority;
    for (size_t i = authority.len; i > 0; i--) { /* the last @: a password may have others */
        if (authority.data[i - 1] != '@')
            continue;
        if (!read_user(url, slice_first(authority, i - 1), err))
            return false;
        host = slice_from_at(authority, i);
        break;
    }
    if (is_unix && host.len > 0)
        return err_set(err, "a unix socket has a path and no host (redis+unix:///path)");
    return (is_unix || read_host(url, host, err)) && read_path(url, path, is_unix, err) &&
           read_query(url, query, err);
}

static char *place_of(const struct redis_url *url)
{
    struct buf place = BUF_INIT(2 * LIMIT_URL_BYTES);
    bool brackets = url->port && strchr(url->host, ':');

    buf_appendf(&place, brackets ? "[%s]" : "%s", url->host);
    if (url->port)
        buf_appendf(&place, ":%s", url->port);
    return place.data;
}

bool redis_url_init(struct redis_url *url, struct slice text, struct err *err)
{
    struct redis_url parts = {0};

    if (!read_parts(&parts, text, err)) {
        redis_url_release(&parts);
        return err_wrap(err, "the store's URL");
    }
    parts.place = place_of(&parts);
    *url = parts;
    return true;
}

static char *copy(const char *text)
{
    return text ? mem_text(slice_from(text)) : NULL;
}

struct redis_url redis_url_copy(const struct redis_url *url)
{
    return (struct redis_url){
        .host = copy(url->host),
        .port = copy(url->port),
        .user = copy(url->user),
        .password = copy(url->password),
        .ca_file = copy(url->ca_file),
        .place = copy(url->place),
        .db = url->db,
        .tls = url->tls,
    };
}

void redis_url_release(struct redis_url *url)
{
    if (url->password)
        explicit_bzero(url->password, strlen(url->password));
    free(url->password);
    free(url->host);
    free(url->port);
    free(url->user);
    free(url->ca_file);
    free(url->place);
    *url = (struct redis_url){0};
}
