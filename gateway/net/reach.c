/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two tables, one for each family; the first row that covers an address decides. A row of the
 * second table may say where an IPv4 address stands inside: then the worse of the row's own reach
 * and that address's counts.
 *
 * The public ranges are what is left, so a range that is missing here is allowed: each row has its
 * RFC or its owner beside it.
 */
#include "gateway/net/reach.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "gateway/core/limits.h"

enum { IPV4_BYTES = 4, IPV6_BYTES = 16 };

struct range {
    unsigned char prefix[IPV6_BYTES];
    unsigned bits;
    enum reach reach;
    unsigned ipv4_at; /* the offset of an IPv4 address inside; 0: none */
};

static const struct range ipv4_ranges[] = {
    {.prefix = {0}, .bits = 8, .reach = REACH_FORBIDDEN}, /* "this network", RFC 791 */
    {.prefix = {10}, .bits = 8, .reach = REACH_PRIVATE},  /* RFC 1918 */
    {.prefix = {100, 100, 100, 200}, .bits = 32, .reach = REACH_FORBIDDEN}, /* Alibaba metadata */
    {.prefix = {100, 64}, .bits = 10, .reach = REACH_PRIVATE},              /* RFC 6598 */
    {.prefix = {127}, .bits = 8, .reach = REACH_PRIVATE},                   /* loopback */
    {.prefix = {168, 63, 129, 16}, .bits = 32, .reach = REACH_FORBIDDEN},   /* Azure's host */
    {.prefix = {169, 254}, .bits = 16, .reach = REACH_FORBIDDEN},    /* link-local, RFC 3927 */
    {.prefix = {172, 16}, .bits = 12, .reach = REACH_PRIVATE},       /* RFC 1918 */
    {.prefix = {192, 0, 0}, .bits = 24, .reach = REACH_FORBIDDEN},   /* protocols, RFC 6890 */
    {.prefix = {192, 0, 2}, .bits = 24, .reach = REACH_PRIVATE},     /* examples, RFC 5737 */
    {.prefix = {192, 88, 99}, .bits = 24, .reach = REACH_FORBIDDEN}, /* 6to4 relays, RFC 7526 */
    {.prefix = {192, 168}, .bits = 16, .reach = REACH_PRIVATE},      /* RFC 1918 */
    {.prefix = {198, 18}, .bits = 15, .reach = REACH_PRIVATE},       /* benchmarks, RFC 2544 */
    {.prefix = {198, 51, 100}, .bits = 24, .reach = REACH_PRIVATE},  /* examples, RFC 5737 */
    {.prefix = {203, 0, 113}, .bits = 24, .reach = REACH_PRIVATE},   /* examples, RFC 5737 */
    {.prefix = {224}, .bits = 4, .reach = REACH_FORBIDDEN},          /* multicast */
    {.prefix = {240}, .bits = 4, .reach = REACH_FORBIDDEN},          /* reserved, broadcast */
};

static const struct range ipv6_ranges[] = {
    {.prefix = {0}, .bits = 128, .reach = REACH_FORBIDDEN},       /* unspecified */
    {.prefix = {[15] = 1}, .bits = 128, .reach = REACH_PRIVATE},  /* loopback */
    {.prefix = {0}, .bits = 96, .ipv4_at = 12},                   /* compatible, RFC 4291 */
    {.prefix = {[10] = 0xff, 0xff}, .bits = 96, .ipv4_at = 12},   /* mapped, RFC 4291 */
    {.prefix = {[8] = 0xff, 0xff}, .bits = 96, .ipv4_at = 12},    /* translated, RFC 2765 */
    {.prefix = {0, 0x64, 0xff, 0x9b}, .bits = 96, .ipv4_at = 12}, /* NAT64, RFC 6052 */
    {.prefix = {0, 0x64, 0xff, 0x9b, 0, 1},
     .bits = 48, /* local NAT64, RFC 8215 */
     .reach = REACH_PRIVATE,
     .ipv4_at = 12},
    {.prefix = {0x01}, .bits = 64, .reach = REACH_FORBIDDEN},             /* discard, RFC 6666 */
    {.prefix = {0x20, 0x01, 0, 0}, .bits = 32, .reach = REACH_FORBIDDEN}, /* Teredo, RFC 4380 */
    {.prefix = {0x20, 0x01}, .bits = 23, .reach = REACH_PRIVATE},         /* protocols, RFC 2928 */
    {.prefix = {0x20, 0x01, 0x0d, 0xb8}, .bits = 32, .reach = REACH_PRIVATE}, /* RFC 3849 */
    {.prefix = {0x20, 0x02}, .bits = 16, .ipv4_at = 2},                       /* 6to4, RFC 3056 */
    {.prefix = {0x3f, 0xff}, .bits = 20, .reach = REACH_PRIVATE}, /* examples, RFC 9637 */
    {.prefix = {0x5f}, .bits = 16, .reach = REACH_PRIVATE},       /* segments, RFC 9602 */
    {.prefix = {0xfd, 0, 0x0e, 0xc2}, .bits = 32, .reach = REACH_FORBIDDEN}, /* Amazon's services */
    {.prefix = {0xfd, 0, 0, 0xc1, [12] = 0xa9, 0xfe, 0xa9, 0xfe},
     .bits = 128, /* Oracle metadata */
     .reach = REACH_FORBIDDEN},
    {.prefix = {0xfd, 0, 0, 0x42, [15] = 0x42},
     .bits = 128, /* Scaleway metadata */
     .reach = REACH_FORBIDDEN},
    {.prefix = {0xfd, 0, 0xa9, 0xfe, 0xa9, 0xfe, [15] = 1},
     .bits = 128, /* Linode metadata */
     .reach = REACH_FORBIDDEN},
    {.prefix = {0xfd, 0, 1, 0, [12] = 1, 0, 2, 0},
     .bits = 128, /* Alibaba metadata */
     .reach = REACH_FORBIDDEN},
    {.prefix = {0xfd, 0x20, 0, 0xce, [14] = 2, 0x54},
     .bits = 128, /* Google metadata */
     .reach = REACH_FORBIDDEN},
    {.prefix = {0xfc}, .bits = 7, .reach = REACH_PRIVATE},          /* unique local, RFC 4193 */
    {.prefix = {0xfe, 0x80}, .bits = 10, .reach = REACH_FORBIDDEN}, /* link-local */
    {.prefix = {0xfe, 0xc0}, .bits = 10, .reach = REACH_PRIVATE},   /* site-local, RFC 3879 */
    {.prefix = {0xff}, .bits = 8, .reach = REACH_FORBIDDEN},        /* multicast */
};

static bool covers(const struct range *range, const unsigned char *bytes)
{
    unsigned whole = range->bits / 8, rest = range->bits % 8;

    if (memcmp(range->prefix, bytes, whole) != 0)
        return false;
    return rest == 0 || (range->prefix[whole] ^ bytes[whole]) >> (8 - rest) == 0;
}

static enum reach ipv4_class(const unsigned char *bytes)
{
    for (size_t i = 0; i < sizeof(ipv4_ranges) / sizeof(ipv4_ranges[0]); i++)
        if (covers(&ipv4_ranges[i], bytes))
            return ipv4_ranges[i].reach;
    return REACH_PUBLIC;
}

static enum reach ipv6_class(const unsigned char *bytes)
{
    for (size_t i = 0; i < sizeof(ipv6_ranges) / sizeof(ipv6_ranges[0]); i++) {
        const struct range *range = &ipv6_ranges[i];
        if (!covers(range, bytes))
            continue;
        if (range->ipv4_at == 0)
            return range->reach;
        enum reach inside = ipv4_class(bytes + range->ipv4_at);
        return inside > range->reach ? inside : range->reach;
    }
    return REACH_PUBLIC;
}

/* The bytes of an IP address, NULL for any other family. */
static const unsigned char *address_bytes(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return (const unsigned char *)&((const struct sockaddr_in *)(const void *)address)
            ->sin_addr;
    if (address->sa_family == AF_INET6)
        return ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr;
    return NULL;
}

enum reach reach_of(const struct sockaddr *address)
{
    const unsigned char *bytes = address_bytes(address);

    if (!bytes)
        return REACH_FORBIDDEN;
    return address->sa_family == AF_INET ? ipv4_class(bytes) : ipv6_class(bytes);
}

static bool is_localhost(struct slice host)
{
    struct slice name = SLICE("localhost");

    if (slice_ends(host, SLICE("."))) /* the root, spelled out */
        host.len--;
    if (host.len > name.len && host.data[host.len - name.len - 1] == '.')
        host = slice_from_at(host, host.len - name.len);
    return slice_eq_nocase(host, name);
}

bool reach_of_host(struct slice host, enum reach *reach)
{
    char text[LIMIT_URL_BYTES + 1]; /* the old spellings take any number of zeros */
    unsigned char bytes[IPV6_BYTES];
    struct in_addr old;

    if (is_localhost(host)) {
        *reach = REACH_PRIVATE;
        return true;
    }
    if (slice_starts(host, SLICE("[")) && slice_ends(host, SLICE("]")))
        host = slice_first(slice_from_at(host, 1), host.len - 2);
    if (host.len == 0 || host.len >= sizeof(text))
        return false;
    memcpy(text, host.data, host.len);
    text[host.len] = '\0';
    text[strcspn(text, "%")] = '\0'; /* a zone */
    if (inet_pton(AF_INET6, text, bytes) == 1) {
        *reach = ipv6_class(bytes);
        return true;
    }
    if (!inet_aton(text, &old))
        return false;
    memcpy(bytes, &old, IPV4_BYTES);
    *reach = ipv4_class(bytes);
    return true;
}
