/* SPDX-License-Identifier: Apache-2.0 */
/*
 * destination: where one claim leads: one target, or a `first` chain of them. A route has one
 * destination, or several in an `all`; each is claimed and answered for itself.
 *
 * Counted: the route holds one reference and every running relay another, so that a reload waits
 * for nobody.
 */
#ifndef WAKEGATE_RELAY_DESTINATION_H
#define WAKEGATE_RELAY_DESTINATION_H

#include "gateway/core/limits.h"
#include "relay/gathering.h"
#include "relay/target.h"

struct leaf { /* one target of the chain */
    struct target *target;
    char *gate;                /* the gate's key in the store, "" where the target needs none */
    struct histogram *seconds; /* of its deliveries */
    uint64_t *accepted;        /* how many it took, once it took one */
};

struct destination {
    unsigned references;
    char *route;      /* the route's name */
    char *id;         /* the target's, or the chain's: part of the claim's key */
    int64_t again_ms; /* after an acceptance, the same id is relayed again; 0: never */
    struct gathering gathering;
    struct leaf leaves[LIMIT_CHILDREN];
    size_t leaf_count;
};

struct destinations { /* all that one wake of the route goes to */
    struct destination *child[LIMIT_CHILDREN];
    size_t count;
};

/* Reads `target` of a route: one target, {"first": [...]} or {"all": [...]}. Mistakes go to the
 * report; the waits of a chain are checked against the budget. `world` as in target_open. */
void destinations_open(struct settings *route_settings, const struct route_facts *route,
                       const struct world *world, struct destinations *destinations);
void destinations_release(struct destinations *destinations);

struct destination *destination_hold(struct destination *destination);
void destination_drop(struct destination *destination);

#endif
