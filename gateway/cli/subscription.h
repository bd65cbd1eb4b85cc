/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscription: what `wakegate subscription` works on: a route of the config, and the wake webhook
 * at AgentChat that brings its wakes (contract v1, section 3.5). One file for each verb.
 */
#ifndef WAKEGATE_CLI_SUBSCRIPTION_H
#define WAKEGATE_CLI_SUBSCRIPTION_H

#include "gateway/cli/api.h"
#include "gateway/config.h"

#define WEBHOOK_PATH "/v1/agents/me/wake-webhook"

enum { SUBSCRIPTION_GATEWAYS = 32 };

struct subscription {
    struct settings_report report; /* of the config; its file's name is borrowed */
    struct config *config;
    const struct route *route;
    const json_t *settings; /* the route's, in the config */
    struct buf url;         /* the webhook's */
    struct secret key;
    struct api api;
    struct fetch_from from; /* for the gateways */
    const char *gateways[SUBSCRIPTION_GATEWAYS];
    size_t gateway_count;
    int64_t wait_ms;   /* for gateways */
    int64_t linger_ms; /* how long an old secret stays after AgentChat was given the new one */
};

/* Registers the webhook with this secret: a PUT, with everything that the config wants. */
bool subscription_put(struct subscription *subscription, const struct secret *secret);

/* Waits until every gateway knows the secret, or `known` false: knows it no more. false after a
 * complaint, which names those that are not so far. */
bool subscription_await(const struct subscription *subscription, const struct secret *secret,
                        const char *what, bool known);

/* The verbs. Each gives the exit status. */
int subscription_show(struct subscription *subscription);
int subscription_try(struct subscription *subscription);
int subscription_rotate(struct subscription *subscription);

#endif
