/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/socketio/engine_cors.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"

void cors_init(struct cors *cors, const char *const *origins)
{
    *cors = (struct cors){0};
    for (; origins && origins[cors->count]; cors->count++) {
        cors->origins = mem_grow(cors->origins, (cors->count + 1) * sizeof(*cors->origins));
        cors->origins[cors->count] = mem_text(slice_from(origins[cors->count]));
        cors->any = cors->any || strcmp(origins[cors->count], "*") == 0;
    }
}

void cors_release(struct cors *cors)
{
    for (size_t i = 0; i < cors->count; i++)
        free(cors->origins[i]);
    free(cors->origins);
}

static bool is_listed(const struct cors *cors, struct slice origin)
{
    for (size_t i = 0; i < cors->count; i++)
        if (slice_eq(origin, slice_from(cors->origins[i])))
            return true;
    return false;
}

static bool is_same(struct slice origin, const struct request *request)
{
    struct slice host, rest = slice_starts(origin, SLICE("https://"))
                                  ? slice_from_at(origin, strlen("https://"))
                                  : slice_from_at(origin, strlen("http://"));

    return request_header(request, SLICE("Host"), &host) == HEADER_FOUND && host.len > 0 &&
           slice_eq_nocase(rest, host);
}

bool cors_admits(const struct cors *cors, const struct request *request)
{
    struct slice origin;

    if (cors->count == 0 || cors->any)
        return true;
    enum header_found found = request_header(request, SLICE("Origin"), &origin);
    return found == HEADER_ABSENT ||
           (found == HEADER_FOUND && (is_listed(cors, origin) || is_same(origin, request)));
}

size_t cors_fields(const struct cors *cors, const struct request *request,
                   struct http_field fields[static CORS_FIELDS])
{
    struct slice origin = {0};
    size_t count = 0;

    if (cors->count == 0)
        return 0;
    bool has_origin = request_header(request, SLICE("Origin"), &origin) == HEADER_FOUND;
    if (cors->any) {
        fields[count++] = (struct http_field){"Access-Control-Allow-Origin", SLICE("*")};
        return count;
    }
    fields[count++] = (struct http_field){"Vary", SLICE("Origin")};
    if (has_origin && is_listed(cors, origin)) {
        fields[count++] = (struct http_field){"Access-Control-Allow-Origin", origin};
        fields[count++] = (struct http_field){"Access-Control-Allow-Credentials", SLICE("true")};
    }
    return count;
}

bool cors_preflight(const struct cors *cors, const struct request *request,
                    struct http_field fields[static CORS_FIELDS], size_t *count)
{
    struct slice origin, wanted;

    if (request_header(request, SLICE("Origin"), &origin) != HEADER_FOUND ||
        !(cors->any || is_listed(cors, origin)))
        return false;
    size_t all = cors_fields(cors, request, fields);
    fields[all++] = (struct http_field){"Access-Control-Allow-Methods", SLICE("GET, POST")};
    if (request_header(request, SLICE("Access-Control-Request-Headers"), &wanted) == HEADER_FOUND)
        fields[all++] = (struct http_field){"Access-Control-Allow-Headers", wanted};
    *count = all;
    return true;
}
