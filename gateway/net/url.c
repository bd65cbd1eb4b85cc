/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/url.h"

#include "gateway/net/address.h"

enum { MOST_PORT = 65535 };

/* `[host]` or `[host]:port`, with the brackets in `*host`. */
static bool split_brackets(struct slice text, struct slice *host, struct slice *port,
                           struct err *err)
{
    struct slice address, rest;

    if (!slice_cut(slice_from_at(text, 1), ']', &address, &rest) || !address_is_ipv6(address))
        return err_set(err, "has no IPv6 address in its brackets");
    if (rest.len > 0 && rest.data[0] != ':')
        return err_set(err, "has neither a port nor a path after its brackets");
    *host = slice_first(text, address.len + 2);
    *port = slice_from_at(rest, 1);
    return true;
}

/* libcurl decodes what is escaped in a host, so that it could name an address in disguise. */
static bool is_host_name(struct slice host)
{
    for (size_t i = 0; i < host.len; i++) {
        const char c = host.data[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '.' && c != '-' && c != '_')
            return false;
    }
    return host.len > 0;
}

static bool split_authority(struct slice authority, struct url_parts *parts, struct err *err)
{
    const bool brackets = slice_starts(authority, SLICE("["));
    uint64_t number = 1;

    parts->port = (struct slice){0};
    if (brackets && !split_brackets(authority, &parts->host, &parts->port, err))
        return false;
    if (!brackets)
        slice_cut(authority, ':', &parts->host, &parts->port);
    if (parts->host.len == 0)
        return err_set(err, "names no host");
    if (!brackets && !is_host_name(parts->host))
        return err_set(err, "has a host that is no name and no address");
    if (parts->port.len > 0 &&
        (!slice_number(parts->port, &number) || number == 0 || number > MOST_PORT))
        return err_set(err, "has a port that is not a number from 1 to %d", MOST_PORT);
    return true;
}

bool url_split(struct slice url, struct url_parts *parts, struct err *err)
{
    const struct slice plain = SLICE("http://"), tls = SLICE("https://");
    struct slice authority, before, rest;

    parts->tls = slice_starts_nocase(url, tls);
    if (!parts->tls && !slice_starts_nocase(url, plain))
        return err_set(err, "does not begin with https://");
    if (slice_cut(url, '#', &before, &rest))
        return err_set(err, "has a fragment; leave out the '#' and what follows");
    const struct slice after = slice_from_at(url, parts->tls ? tls.len : plain.len);
    slice_cut(after, '/', &authority, &rest);
    slice_cut(authority, '?', &authority, &rest);
    if (slice_cut(authority, '@', &before, &rest))
        return err_set(err, "has a user name or password; leave them out");
    parts->path = slice_from_at(after, authority.len);
    return split_authority(authority, parts, err);
}
