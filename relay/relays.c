/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/relays.h"

#include <stdio.h>
#include <string.h>

#include "gateway/core/clock.h"
#include "gateway/core/codec.h"
#include "gateway/core/digest.h"
#include "gateway/core/log.h"
#include "gateway/core/metrics.h"

void relays_open(struct relays *relays, const struct world *world, unsigned limit)
{
    unsigned char random[(sizeof(relays->process) - 1) / 2];

    *relays = (struct relays){.world = world, .limit = limit};
    random_bytes(random, sizeof(random));
    hex_encode(random, sizeof(random), relays->process);
}

bool relays_have_room(const struct relays *relays, size_t more)
{
    return relays->count + more <= relays->limit;
}

/* FNV-1a. Keys come from genuine wakes only, so no stranger can choose collisions. */
static struct relay **bucket_of(struct relays *relays, const char *key)
{
    uint32_t hash = 2166136261u;

    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * 16777619u;
    return &relays->buckets[hash % RELAYS_BUCKETS];
}

static void set_count(struct relays *relays, unsigned count)
{
    relays->count = count;
    *metrics_value(METRIC_IN_FLIGHT, NULL, NULL, NULL) = count;
}

static struct relay *relay_new(struct relays *relays, struct destination *to,
                               struct shared_wake *wake, const char *key)
{
    struct relay *relay = mem_new(sizeof(*relay));
    struct relay **bucket = bucket_of(relays, key);

    relay->relays = relays;
    relay->to = destination_hold(to);
    relay->wake = shared_wake_hold(wake);
    memcpy(relay->key, key, strlen(key) + 1);
    snprintf(relay->owner, sizeof(relay->owner), "%s-%llx", relays->process,
             (unsigned long long)++relays->serial);
    relay->bucket_next = *bucket;
    *bucket = relay;
    relay->next = relays->all;
    relay->link = &relays->all;
    if (relay->next)
        relay->next->link = &relay->next;
    relays->all = relay;
    set_count(relays, relays->count + 1);
    return relay;
}

static void make_key(const struct destination *to, const struct shared_wake *wake,
                     char key[static RELAY_KEY_SIZE])
{
    snprintf(key, RELAY_KEY_SIZE, "%s/%s/%.*s", to->route, to->id,
             SLICE_ARG(wake->wake.delivery_id));
}

static struct relay *find(struct relays *relays, const char *key)
{
    struct relay *relay = *bucket_of(relays, key);

    while (relay && strcmp(relay->key, key) != 0)
        relay = relay->bucket_next;
    return relay;
}

static void start(struct relay *relay, uint64_t until_ms, struct waiter *waiter)
{
    relay->until_ms = until_ms;
    relay->waiters = waiter;
    waiter->next = NULL;
    relay_start(relay);
}

void relays_begin(struct relays *relays, struct destination *to, struct shared_wake *wake,
                  uint64_t until_ms, struct waiter *waiter)
{
    char key[RELAY_KEY_SIZE];

    make_key(to, wake, key);
    struct relay *running = find(relays, key);
    if (running)
        relay_join(running, until_ms, waiter);
    else
        start(relay_new(relays, to, wake, key), until_ms, waiter);
}

void relays_begin_again(struct relays *relays, struct destination *to, struct shared_wake *wake,
                        bool force, uint64_t until_ms, struct waiter *waiter)
{
    char key[RELAY_KEY_SIZE];

    make_key(to, wake, key);
    if (!force && find(relays, key)) {
        waiter->told(waiter, &(struct outcome){.code = OUTCOME_IN_FLIGHT, .target = to->id});
        return;
    }
    struct relay *relay = relay_new(relays, to, wake, key);
    relay->again = true;
    relay->force = force;
    start(relay, until_ms, waiter);
}

void relays_remove(struct relay *relay)
{
    struct relays *relays = relay->relays;
    struct relay **at = bucket_of(relays, relay->key);

    while (*at != relay)
        at = &(*at)->bucket_next;
    *at = relay->bucket_next;
    *relay->link = relay->next;
    if (relay->next)
        relay->next->link = relay->link;
    set_count(relays, relays->count - 1);
    if (relays->draining && relays->count == 0 && relays->emptied)
        relays->emptied(relays);
}

void relays_drain(struct relays *relays)
{
    relays->draining = true;
    for (struct relay *next, *relay = relays->all; relay; relay = next) {
        next = relay->next;
        relay_drain(relay);
    }
    if (relays->count == 0 && relays->emptied)
        relays->emptied(relays);
}

void relays_cut_short(struct relays *relays)
{
    for (struct relay *next, *relay = relays->all; relay; relay = next) {
        next = relay->next;
        relay_cut_short(relay);
    }
}

void relays_log(const struct relays *relays)
{
    uint64_t now = clock_steady_us() / 1000;

    for (const struct relay *relay = relays->all; relay; relay = relay->next) {
        log_begin(LOG_INFO, "relay_in_flight");
        log_text("route", relay->to->route);
        log_text("target", relay->to->leaves[relay->leaf].target->id);
        log_str("delivery_id", relay->wake->wake.delivery_id);
        log_text("state", relay_state_name(relay->state));
        log_num("ms", (int64_t)(now - relay->began_ms));
        log_end();
    }
    log_begin(LOG_INFO, "relays_in_flight");
    log_num("count", relays->count);
    log_end();
}
