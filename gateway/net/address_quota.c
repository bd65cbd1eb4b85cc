/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/address_quota.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"

enum { BUCKETS = 4096 }; /* connections are bounded, so chains stay short */

struct tally {
    struct tally *next; /* in its bucket */
    struct address_key key;
    unsigned count;
};

struct address_quota {
    struct tally *buckets[BUCKETS];
    unsigned most;
    size_t exempt_count;
    struct address_block exempt[];
};

struct address_quota *address_quota_new(unsigned most, const struct address_block *exempt,
                                        size_t exempt_count)
{
    size_t size = exempt_count * sizeof(*exempt);
    struct address_quota *quota = mem_new(sizeof(*quota) + size);

    quota->most = most;
    quota->exempt_count = exempt_count;
    if (size > 0)
        memcpy(quota->exempt, exempt, size);
    return quota;
}

static struct tally **bucket_of(struct address_quota *quota, const struct address_key *key)
{
    uint64_t hash = 14695981039346656037U; /* FNV-1a */

    for (size_t i = 0; i < sizeof(key->bytes); i++)
        hash = (hash ^ key->bytes[i]) * 1099511628211U;
    return &quota->buckets[(hash ^ hash >> 32) % BUCKETS];
}

static bool is_exempt(const struct address_quota *quota, const struct address_key *key)
{
    for (size_t i = 0; i < quota->exempt_count; i++)
        if (address_block_has(&quota->exempt[i], key))
            return true;
    return false;
}

static void widen(struct address_key *key)
{
    static const struct address_block four = {.key = {.bytes = {[10] = 0xff, [11] = 0xff}},
                                              .bits = 96};

    if (!address_block_has(&four, key))
        memset(key->bytes + 8, 0, 8);
}

bool address_quota_enter(struct address_quota *quota, const struct sockaddr *peer,
                         struct tally **tally)
{
    struct address_key key;

    *tally = NULL;
    if (!address_key(peer, &key) || is_exempt(quota, &key))
        return true;
    widen(&key);
    struct tally **bucket = bucket_of(quota, &key), *found = *bucket;
    while (found && memcmp(&found->key, &key, sizeof(key)) != 0)
        found = found->next;
    if (!found) {
        found = mem_new(sizeof(*found));
        *found = (struct tally){.next = *bucket, .key = key};
        *bucket = found;
    }
    if (found->count >= quota->most)
        return false;
    found->count++;
    *tally = found;
    return true;
}

void address_quota_leave(struct address_quota *quota, struct tally *tally)
{
    if (!tally)
        return;
    tally->count--;
    if (tally->count > 0)
        return;
    struct tally **at = bucket_of(quota, &tally->key);
    while (*at != tally)
        at = &(*at)->next;
    *at = tally->next;
    free(tally);
}

void address_quota_free(struct address_quota *quota)
{
    free(quota); /* every connection left before */
}
