/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volley: the same wake sent so many times, so many at once, each answer a line of JSON on standard
 * output. It runs an event loop of its own to the end.
 */
#ifndef WAKEGATE_CLI_VOLLEY_H
#define WAKEGATE_CLI_VOLLEY_H

#include "dialects/dialect.h"

struct volley {
    const struct dialect *dialect;
    struct trigger_speech speech;
    const char *url;
    const char *ca_file; /* NULL: the system's certificates */
    int64_t timeout_ms;
    struct wake wake; /* its delivery_id empty: a fresh one each time */
    bool repeat;      /* one fresh delivery_id for all of them */
    unsigned count, concurrency;
};

/* true: every answer was 2xx. */
bool volley_run(const struct volley *volley);

#endif
