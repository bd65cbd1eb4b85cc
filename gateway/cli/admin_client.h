/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admin_client: where the gateway's admin API is, the token for it, and one question to it. Without
 * --url both come from the config that the gateway itself reads. With --url the config is not
 * looked at, so that its token goes nowhere but to its own gateway.
 */
#ifndef WAKEGATE_GATEWAY_CLI_ADMIN_CLIENT_H
#define WAKEGATE_GATEWAY_CLI_ADMIN_CLIENT_H

#include <jansson.h>

#include "gateway/cli/ask.h"
#include "gateway/net/address.h"

struct admin_client {
    const char *command;                               /* for complaints */
    const char *config, *url, *token_file, *token_env; /* the options; NULL: not given */

    struct ask_place place;
    char address[ADDRESS_URL_SIZE]; /* of the config's listener */
    char *token;                    /* owned; NULL: none */
};

/* false after a complaint. */
bool admin_client_open(struct admin_client *client);
void admin_client_close(struct admin_client *client);

/* Puts "&name=value" to a query that begins with '?'; nothing where `value` is NULL. false after a
 * complaint: `value` is no name. */
bool admin_client_add(const struct admin_client *client, struct buf *target, const char *name,
                      const char *value);

/* The answer as JSON, and its status; the caller drops it. NULL: `err` says why there is none. */
json_t *admin_client_ask(const struct admin_client *client, const char *method, struct slice target,
                         unsigned *status, struct err *err);

/* Tells what an answer that is no success says. */
void admin_client_complain(const struct admin_client *client, unsigned status,
                           const json_t *answer);

#endif
