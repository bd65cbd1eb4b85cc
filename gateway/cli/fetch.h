/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch: one request and its answer, for subcommands that ask one thing after another. It runs an
 * event loop of its own until the answer is there.
 */
#ifndef WAKEGATE_CLI_FETCH_H
#define WAKEGATE_CLI_FETCH_H

#include "relay/http_client.h"

struct fetch_from { /* what is trusted and reached */
    bool private_too;
    const char *ca_file; /* NULL: the system's certificates */
};

/* Sends the call (a GET for the method "GET") and waits for its end. The caller releases what the
 * call then holds. */
void fetch(const struct fetch_from *from, struct http_call *call);

#endif
