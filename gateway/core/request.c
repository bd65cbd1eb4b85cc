/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/core/request.h"

enum header_found request_header(const struct request *request, struct slice name,
                                 struct slice *value)
{
    const struct header *found = NULL;

    for (size_t i = 0; i < request->header_count; i++) {
        const struct header *header = &request->headers[i];
        if (!slice_eq_nocase(header->name, name))
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
