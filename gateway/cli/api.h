/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api: AgentChat's REST API, as far as a subscription needs it (contract v1, sections 3.5 and 7).
 *
 * What goes wrong is told on standard error in the API's own words with what they mean; so is what
 * AgentChat says of a path that will be switched off. A limit (429) is waited for when it says for
 * how long. Neither the key nor a secret is ever printed, also where an answer repeats it.
 */
#ifndef WAKEGATE_CLI_API_H
#define WAKEGATE_CLI_API_H

#include <jansson.h>

#include "gateway/cli/fetch.h"
#include "gateway/core/secret.h"

struct api {
    const char *base;         /* its URL, without a slash at the end */
    const struct secret *key; /* the agent's */
    struct fetch_from from;
    int64_t patience_ms; /* how long a limit may be waited for in all */
};

struct api_request {
    const char *method, *path;
    const json_t *body;          /* NULL: none */
    const struct secret *secret; /* one that stands in the body; NULL: none */
};

/* https, or plain http to a loopback address where `private_too` says so. */
bool api_check_base(const char *base, bool private_too, struct err *err);

/* true: 2xx, and `*answer` is its JSON, the caller's, NULL where it is none. */
bool api_ask(struct api *api, const struct api_request *request, json_t **answer);

/* What is printable of `text`, without the key and the secret. */
void api_conceal(const struct api *api, const struct secret *secret, const char *text, size_t len,
                 char *shown, size_t size);

#endif
