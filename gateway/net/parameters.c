/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/parameters.h"

#include <string.h>

enum { TAKEN_MAX = 16, SHOWN_BYTES = 40 };

enum header_found exchange_parameter(const struct exchange *exchange, struct slice name,
                                     struct slice *value)
{
    struct request query;

    exchange_query(exchange, &query);
    return request_parameter(&query, name, value);
}

struct reading {
    const struct parameter *taken;
    size_t count;
    bool seen[TAKEN_MAX], failed;
    struct err *err;
};

static void fail(struct reading *reading, const char *what, struct slice name)
{
    if (reading->failed)
        return;
    reading->failed = true;
    if (slice_is_visible(name))
        err_set(reading->err, "%s \"%.*s\"", what, SLICE_ARG(slice_first(name, SHOWN_BYTES)));
    else
        err_set(reading->err, "%s that is not printable", what);
}

static void take(struct reading *reading, struct slice name, struct slice value)
{
    for (size_t i = 0; i < reading->count && i < TAKEN_MAX; i++) {
        if (!slice_eq(name, slice_from(reading->taken[i].name)))
            continue;
        if (reading->seen[i])
            fail(reading, "there are two of the parameter", name);
        else if (memchr(value.data ? value.data : "", '%', value.len))
            fail(reading, "there is a percent sign in the parameter", name);
        reading->seen[i] = true;
        *reading->taken[i].value = value;
        return;
    }
    fail(reading, "there is no parameter", name);
}

bool parameters_read(const struct exchange *exchange, const struct parameter *taken, size_t count,
                     struct err *err)
{
    struct reading reading = {.taken = taken, .count = count, .err = err};

    struct request query;

    exchange_query(exchange, &query);
    for (size_t i = 0; i < query.header_count; i++)
        take(&reading, query.headers[i].name, query.headers[i].value);
    return !reading.failed;
}
