/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses: to listen on, blocks of proxies, hosts of URLs. One that was read is written as one
 * that reads the same; a host that the C library takes for a number is judged by that number.
 */
#include "tests/fuzz/fuzz.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>

#include "gateway/core/limits.h"
#include "gateway/net/address.h"
#include "gateway/net/reach.h"

static void check_listen(struct slice text)
{
    struct err err = {.text = ""};
    char shown[ADDRESS_TEXT_SIZE], written[ADDRESS_TEXT_SIZE + 16], url[ADDRESS_URL_SIZE];
    union address address, again;

    if (!address_parse(text, &address, &err)) {
        assert(err.text[0]);
        return;
    }
    assert(address_len(&address) > 0);
    address_url(&address, "http", url);
    if (address.any.sa_family == AF_UNIX) {
        assert(slice_eq(slice_from(address.local.sun_path), slice_from_at(text, 5)));
        return;
    }
    const bool six = address.any.sa_family == AF_INET6;
    const void *host = six ? (const void *)&address.six.sin6_addr : &address.four.sin_addr;
    inet_ntop(address.any.sa_family, host, shown, sizeof(shown));
    snprintf(written, sizeof(written), six ? "[%s]:%u" : "%s:%u", shown,
             ntohs(six ? address.six.sin6_port : address.four.sin_port));
    assert(address_parse(slice_from(written), &again, &err));
    assert(memcmp(&again, &address, address_len(&address)) == 0);
    assert(address_clash(&again, &address) == (again.four.sin_port != 0));
}

static void check_block(struct slice text)
{
    struct address_block block, again;
    char shown[INET6_ADDRSTRLEN], written[INET6_ADDRSTRLEN + 8];

    if (!address_block_parse(text, &block, NULL))
        return;
    assert(block.bits <= 128 && address_block_has(&block, &block.key));
    inet_ntop(AF_INET6, block.key.bytes, shown, sizeof(shown));
    snprintf(written, sizeof(written), "%s/%u", shown, block.bits);
    assert(address_block_parse(slice_from(written), &again, NULL));
    assert(memcmp(&again, &block, sizeof(block)) == 0);
    if (block.bits == 0)
        return;
    struct address_key other = block.key; /* the last bit that counts is another */
    other.bytes[(block.bits - 1) / 8] ^= (unsigned char)(0x80 >> (block.bits - 1) % 8);
    assert(!address_block_has(&block, &other));
}

/* The C library reads what a resolver would connect to without asking anybody. */
static void check_host(struct slice host)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    enum reach reach = REACH_PUBLIC;
    const bool judged = reach_of_host(host, &reach);

    if (host.len == 0 || host.len > LIMIT_URL_BYTES || memchr(host.data, '\0', host.len))
        return;
    char *text = mem_text(host);
    if (getaddrinfo(text, NULL, &hints, &found) == 0) {
        assert(judged && reach == reach_of(found->ai_addr));
        freeaddrinfo(found);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = fuzz_copy(fuzz_slice(data, size));
    const struct slice input = {.data = copy, .len = size};

    check_listen(input);
    check_block(input);
    check_host(input);
    free(copy);
    return 0;
}
