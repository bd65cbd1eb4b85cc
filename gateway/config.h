/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config: the config file and the WAKEGATE_... variables, read into structs.
 *
 * Two steps, since routes can only be opened in a world that the first step describes: config_read
 * reads everything but the routes, config_open_routes the routes. Both put every mistake into the
 * report and go on, so that after both the report is complete; with a mistake in it the config must
 * not be used, only freed. deploy/wakegate.schema.json describes the file.
 */
#ifndef WAKEGATE_GATEWAY_CONFIG_H
#define WAKEGATE_GATEWAY_CONFIG_H

#include "gateway/admin_settings.h"
#include "gateway/core/log.h"
#include "gateway/net/front.h"
#include "gateway/route.h"
#include "relay/room/rooms_settings.h"
#include "relay/texts.h"

struct config {
    json_t *root; /* owned, with the variables laid over it; the slices below point into it */
    struct front_settings front;
    struct slice admin;      /* a listen address of its own for operators; empty: the main one */
    struct slice public_url; /* where AgentChat reaches it, see public_url.h; may be empty */
    char *store;             /* its URL, which may hold a password; never NULL */
    const char *ca_file;     /* for outgoing TLS; NULL: the system's */
    int64_t window_ms;       /* how long a relayed id is remembered after it was last seen */
    int64_t budget_ms;       /* from a request's head to its answer */
    int64_t drain_ms;        /* ready is false for so long before anything stops */
    int64_t grace_ms;        /* then relays that were sent may finish for so long */
    bool watch;              /* reload when one of its files changes */
    size_t max_body;
    unsigned max_in_flight;
    enum log_level log_level;
    struct texts_settings texts;
    struct admin_settings admin_api;
    struct rooms_settings *rooms; /* NULL: none */
    struct route **routes;        /* sorted by name */
    size_t route_count;
};

/* The file to read where the command line names none: WAKEGATE_CONFIG, else "wakegate.json". */
const char *config_path(void);

/* Reads the report's file and the variables of `environment` (as environ). NULL, after a mistake,
 * only when the file is no JSON object. */
struct config *config_read(struct settings_report *report, char *const *environment);

/* Opens the routes. `world` NULL: a check, in which nothing is opened that talks. */
void config_open_routes(struct config *config, const struct world *world,
                        struct settings_report *report);

void config_free(struct config *config); /* NULL is fine; routes in use live on until dropped */

struct route *config_route(const struct config *config, struct slice name); /* NULL: none */

/* After a reload: the keys whose new values only a restart brings into force, as "listen, store";
 * false when there is none. */
bool config_needs_restart(const struct config *running, const struct config *fresh,
                          struct buf *keys);

#endif
