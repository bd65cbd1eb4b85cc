/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static bool is_mapped(const struct sockaddr *address)
{
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;

    return IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);
}

bool address_key(const struct sockaddr *address, struct address_key *key)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

    if (address->sa_family == AF_INET) {
        memcpy(key->bytes, mapped, sizeof(mapped));
        memcpy(key->bytes + 12, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
        return true;
    }
    if (address->sa_family != AF_INET6)
        return false;
    memcpy(key->bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
    return true;
}

void address_text(const struct sockaddr *address, char text[static ADDRESS_TEXT_SIZE])
{
    struct address_key key;

    snprintf(text, ADDRESS_TEXT_SIZE, "unix");
    if (!address_key(address, &key))
        return;
    if (address->sa_family == AF_INET || is_mapped(address))
        inet_ntop(AF_INET, key.bytes + 12, text, ADDRESS_TEXT_SIZE);
    else
        inet_ntop(AF_INET6, key.bytes, text, ADDRESS_TEXT_SIZE);
}

socklen_t address_len(const union address *address)
{
    if (address->any.sa_family == AF_INET)
        return sizeof(address->four);
    return address->any.sa_family == AF_INET6 ? sizeof(address->six) : sizeof(address->local);
}

static in_port_t port_of(const union address *address)
{
    return address->any.sa_family == AF_INET ? address->four.sin_port : address->six.sin6_port;
}

static bool is_any(const union address *address)
{
    if (address->any.sa_family == AF_INET)
        return address->four.sin_addr.s_addr == htonl(INADDR_ANY);
    return IN6_IS_ADDR_UNSPECIFIED(&address->six.sin6_addr);
}

/* "[::]" takes IPv4 too. */
bool address_clash(const union address *a, const union address *b)
{
    sa_family_t family = a->any.sa_family, other = b->any.sa_family;
    struct address_key left, right;

    if (family == AF_UNIX || other == AF_UNIX)
        return family == other && strcmp(a->local.sun_path, b->local.sun_path) == 0;
    if (port_of(a) != port_of(b) || port_of(a) == 0)
        return false;
    if (is_any(a) && (family == AF_INET6 || other == AF_INET))
        return true;
    if (is_any(b) && (other == AF_INET6 || family == AF_INET))
        return true;
    return address_key(&a->any, &left) && address_key(&b->any, &right) &&
           memcmp(&left, &right, sizeof(left)) == 0;
}

void address_url(const union address *address, const char *scheme,
                 char url[static ADDRESS_URL_SIZE])
{
    char host[INET6_ADDRSTRLEN] = "127.0.0.1"; /* for the addresses that mean all of them */

    if (address->any.sa_family == AF_UNIX) {
        snprintf(url, ADDRESS_URL_SIZE, "unix:%s", address->local.sun_path);
    } else if (address->any.sa_family == AF_INET) {
        if (address->four.sin_addr.s_addr != htonl(INADDR_ANY))
            inet_ntop(AF_INET, &address->four.sin_addr, host, sizeof(host));
        snprintf(url, ADDRESS_URL_SIZE, "%s://%s:%u", scheme, host, ntohs(address->four.sin_port));
    } else if (IN6_IS_ADDR_UNSPECIFIED(&address->six.sin6_addr)) {
        snprintf(url, ADDRESS_URL_SIZE, "%s://%s:%u", scheme, host, ntohs(address->six.sin6_port));
    } else {
        inet_ntop(AF_INET6, &address->six.sin6_addr, host, sizeof(host));
        snprintf(url, ADDRESS_URL_SIZE, "%s://[%s]:%u", scheme, host,
                 ntohs(address->six.sin6_port));
    }
}

static bool parse_path(struct slice path, union address *address, struct err *err)
{
    const bool cut = path.len > 0 && memchr(path.data, '\0', path.len);

    if (path.len == 0 || cut || path.len >= sizeof(address->local.sun_path))
        return err_set(err, "the path of a unix socket has 1 to %zu bytes",
                       sizeof(address->local.sun_path) - 1);
    *address = (union address){.local = {.sun_family = AF_UNIX}};
    memcpy(address->local.sun_path, path.data, path.len);
    return true;
}

/* inet_pton wants a NUL after the text. */
static bool parse_host(int family, struct slice text, void *bytes)
{
    char host[INET6_ADDRSTRLEN];

    if (text.len == 0 || text.len >= sizeof(host) || memchr(text.data, '\0', text.len))
        return false;
    memcpy(host, text.data, text.len);
    host[text.len] = '\0';
    return inet_pton(family, host, bytes) == 1;
}

bool address_is_ipv6(struct slice text)
{
    struct slice host, zone;
    struct in6_addr bytes;

    slice_cut(text, '%', &host, &zone);
    return parse_host(AF_INET6, host, &bytes);
}

static bool refuse(struct err *err, const char *why)
{
    return err_set(err,
                   "%s; write for example \"[::]:8080\", \"127.0.0.1:8080\" or "
                   "\"unix:/run/wakegate.sock\"",
                   why);
}

bool address_parse(struct slice text, union address *address, struct err *err)
{
    struct slice host, rest = text;
    uint64_t port;
    union address found = {.any = {.sa_family = AF_INET}};

    if (slice_starts(text, SLICE("unix:")))
        return parse_path(slice_from_at(text, 5), address, err);
    bool six = slice_cut(text, ']', &host, &rest) && slice_starts(host, SLICE("["));
    if (six && slice_starts(rest, SLICE(":")))
        rest = slice_from_at(rest, 1);
    else if (six || !slice_cut(text, ':', &host, &rest))
        return refuse(err, "not an address and a port");
    if (six)
        found.any.sa_family = AF_INET6;
    bool read = six ? parse_host(AF_INET6, slice_from_at(host, 1), &found.six.sin6_addr)
                    : parse_host(AF_INET, host, &found.four.sin_addr);
    if (!read)
        return refuse(err, "not a numeric address and a port");
    if (!slice_number(rest, &port) || port > UINT16_MAX)
        return refuse(err, "the port is not a number from 0 to 65535");
    if (six)
        found.six.sin6_port = htons((uint16_t)port);
    else
        found.four.sin_port = htons((uint16_t)port);
    *address = found;
    return true;
}

bool address_block_parse(struct slice text, struct address_block *block, struct err *err)
{
    struct slice host, rest;
    union address address = {.any = {.sa_family = AF_INET}};
    bool has_bits = slice_cut(text, '/', &host, &rest);

    if (!parse_host(AF_INET, host, &address.four.sin_addr)) {
        address = (union address){.any = {.sa_family = AF_INET6}};
        if (!parse_host(AF_INET6, host, &address.six.sin6_addr))
            return err_set(err, "not an address, and not a block like 10.0.0.0/8 or fd00::/8");
    }
    uint64_t most = address.any.sa_family == AF_INET ? 32 : 128, bits = most;
    if (has_bits && (!slice_number(rest, &bits) || bits > most))
        return err_set(err, "the number after / is not one from 0 to %u", (unsigned)most);
    block->bits = (unsigned)(128 - most + bits);
    return address_key(&address.any, &block->key);
}

bool address_block_has(const struct address_block *block, const struct address_key *key)
{
    unsigned whole = block->bits / 8, left = block->bits % 8;

    if (memcmp(block->key.bytes, key->bytes, whole) != 0)
        return false;
    if (left == 0)
        return true;
    unsigned mask = 0xffU << (8 - left) & 0xffU;
    return (block->key.bytes[whole] & mask) == (key->bytes[whole] & mask);
}
