/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config: the config file and the WAKEGATE_... variables, read once into structs.
 *
 * The top-level scalars can be set by variables too, for containers: WAKEGATE_LISTEN,
 * WAKEGATE_STORE and so on; a variable wins over the file. deploy/wakegate.schema.json describes
 * the file.
 */
#ifndef WAKEGATE_GATEWAY_CONFIG_H
#define WAKEGATE_GATEWAY_CONFIG_H

#include "gateway/core/log.h"
#include "gateway/net/front.h"
#include "gateway/route.h"

struct config {
    json_t *root; /* owned; the slices below point into it */
    struct front_settings front;
    struct slice admin; /* a listen address of its own for /metrics; empty: the main one */
    struct slice store;
    const char *ca_file; /* for outgoing TLS; NULL: the system's */
    int64_t window_ms;   /* how long a relayed id is remembered after it was last seen */
    int64_t budget_ms;   /* from a request's head to its answer */
    int64_t drain_ms;    /* ready is false for so long before anything stops */
    int64_t grace_ms;    /* then relays that were sent may finish for so long */
    size_t max_body;
    unsigned max_in_flight;
    enum log_level log_level;
    struct route **routes; /* sorted by name */
    size_t route_count;
};

/* Reads and checks everything; mistakes and warnings go to `report`. NULL when there was a mistake.
 * `environment` is like environ. `world` NULL: a check, in which nothing is opened that talks.
 * `path` NULL: everything from the variables and the defaults (that has no routes, which is a
 * mistake). */
struct config *config_load(const char *path, char **environment, const struct world *world,
                           struct settings_report *report);
void config_free(struct config *config);

struct route *config_route(const struct config *config, struct slice name); /* NULL: none */

/* The parts that are needed before a world exists: store, ca_file, log_level, window. The same file
 * read for the first time; routes are left out. */
struct config *config_load_process(const char *path, char **environment,
                                   struct settings_report *report);

#endif
