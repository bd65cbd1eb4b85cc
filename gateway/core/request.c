/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/core/request.h"

bool request_add_header(struct request *request, struct slice name, struct slice value)
{
    if (request->header_count == LIMIT_HEADERS)
        return false;
    request->headers[request->header_count++] =
        (struct header){.name = name, .value = slice_trim(value)};
    return true;
}

static enum header_found find(const struct request *request, struct slice name,
                              bool (*same)(struct slice, struct slice), struct slice *value)
{
    const struct header *found = NULL;

    for (size_t i = 0; i < request->header_count; i++) {
        const struct header *header = &request->headers[i];
        if (!same(header->name, name))
            continue;
        if (found)
            return HEADER_REPEATED;
        found = header;
    }
    if (!found)
        return HEADER_ABSENT;
    *value = found->value;
    return HEADER_FOUND;
}

enum header_found request_header(const struct request *request, struct slice name,
                                 struct slice *value)
{
    return find(request, name, slice_eq_nocase, value);
}

enum header_found request_parameter(const struct request *query, struct slice name,
                                    struct slice *value)
{
    return find(query, name, slice_eq, value);
}
