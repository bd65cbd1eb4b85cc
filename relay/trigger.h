/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trigger: a target that is a runtime's HTTP trigger: one POST in the runtime's dialect.
 *
 * trigger_settings.c reads one, trigger.c uses it.
 */
#ifndef WAKEGATE_RELAY_TRIGGER_H
#define WAKEGATE_RELAY_TRIGGER_H

#include "dialects/dialect.h"
#include "relay/target.h"

struct trigger {
    struct target target;
    const struct dialect *dialect;
    char *url;          /* owned */
    bool url_is_secret; /* the config says only where it is */
    bool private_too;
    struct secret secret;
    struct trigger_speech speech; /* its slices and its fields are ours */
    size_t texts_runtime;         /* whose texts speak where there is no prompt */
    struct texts *texts;          /* NULL: none do */
    struct http_client *client;
    struct turn *turn;
};

/* NULL after a mistake. The target's id is made from the dialect and the URL. */
struct trigger *trigger_read(struct settings *settings, const struct route_facts *route);
void trigger_free(struct trigger *trigger); /* all but the target's id */

#endif
