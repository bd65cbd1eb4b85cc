/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/trigger_url.h"

#include "gateway/net/address.h"

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

bool trigger_url_split(struct slice url, struct trigger_url *parts, struct err *err)
{
    const struct slice plain = SLICE("http://"), tls = SLICE("https://");
    struct slice host, port = {0}, rest;

    parts->tls = slice_starts_nocase(url, tls);
    if (!parts->tls && !slice_starts_nocase(url, plain))
        return err_set(err, "does not begin with https://");
    if (slice_cut(url, '#', &host, &rest))
        return err_set(err, "has a fragment; leave out the '#' and what follows");
    slice_cut(slice_from_at(host, parts->tls ? tls.len : plain.len), '/', &host, &rest);
    slice_cut(host, '?', &host, &rest);
    if (slice_cut(host, '@', &rest, &port))
        return err_set(err, "has a user name or password; the dialect has a place for the secret");
    const bool brackets = slice_starts(host, SLICE("["));
    if (brackets && !split_brackets(host, &host, &port, err))
        return false;
    if (!brackets)
        slice_cut(host, ':', &host, &port);
    if (host.len == 0)
        return err_set(err, "names no host");
    if (!brackets && !is_host_name(host))
        return err_set(err, "has a host that is no name and no address");
    parts->host = host;
    parts->port = port;
    return true;
}
