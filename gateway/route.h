/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route: one subscription's entrance: a path, a dialect, secrets, the expected handle, and where
 * its wakes go. Counted: the config holds one reference, every wake under way another.
 */
#ifndef WAKEGATE_GATEWAY_ROUTE_H
#define WAKEGATE_GATEWAY_ROUTE_H

#include "dialects/dialect.h"
#include "gateway/answer.h"
#include "relay/destination.h"

enum on_test { ON_TEST_RELAY, ON_TEST_ANSWER };

struct route_counts { /* series of the metrics, each once it was used */
    uint64_t *proofs[PROOF_WRONG + 1];
    uint64_t *secrets[LIMIT_SECRETS];
    uint64_t *wakes[ANSWER_COUNT];
};

struct route {
    unsigned references;
    char *name;
    const struct dialect *dialect;
    struct keyring keyring;
    char *handle; /* "" where none is expected */
    enum on_test on_test;
    bool rewake; /* AgentChat is to wake again for what is unanswered; for `subscription` */
    struct destinations destinations;
    struct route_counts *counts;
};

struct route_place { /* what a route is told of the rest of the config */
    struct slice name;
    int64_t budget_ms;
    bool rooms; /* there are some */
};

/* Reads `routes.<name>`. Never NULL; after a mistake, which stands in the report, it is not whole
 * and only good for route_drop. */
struct route *route_open(struct settings *settings, const struct route_place *place,
                         const struct world *world);
struct route *route_hold(struct route *route);
void route_drop(struct route *route);

#endif
