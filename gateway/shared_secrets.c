/* SPDX-License-Identifier: Apache-2.0 */
/* The digests of all secrets are sorted, so that equal ones stand together. */
#include "gateway/shared_secrets.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/digest.h"
#include "gateway/core/limits.h"

enum { NAMES_SHOWN = 8, NAMES_BYTES = (NAMES_SHOWN + 1) * (LIMIT_NAME_BYTES + 4) };

struct seen { /* one secret of one route */
    unsigned char digest[DIGEST_BYTES];
    size_t route; /* its place among the routes */
};

static int by_digest(const void *a, const void *b)
{
    const struct seen *left = a, *right = b;
    int order = memcmp(left->digest, right->digest, DIGEST_BYTES); /* only brings equals together */

    if (order != 0)
        return order;
    return left->route < right->route ? -1 : left->route > right->route;
}

static void add_name(struct buf *names, size_t place, const char *name)
{
    if (place < NAMES_SHOWN)
        buf_appendf(names, "%s%s", place > 0 ? ", " : "", name);
}

/* `seen` to `end` have one secret. */
static void warn_of_group(struct route *const *routes, const struct seen *seen,
                          const struct seen *end, struct settings_report *report)
{
    struct buf names = BUF_INIT(NAMES_BYTES);
    size_t count = 1;

    add_name(&names, 0, routes[seen->route]->name);
    for (const struct seen *one = seen + 1; one < end; one++)
        if (one->route != one[-1].route)
            add_name(&names, count++, routes[one->route]->name);
    if (count > NAMES_SHOWN)
        buf_appendf(&names, " and %zu more", count - NAMES_SHOWN);
    if (count > 1)
        settings_report_warning(report, "routes", "%s share a secret; give each route its own",
                                buf_text(&names));
    buf_release(&names);
}

void warn_of_shared_secrets(struct route *const *routes, size_t count,
                            struct settings_report *report)
{
    struct seen *seen = mem_new((count * LIMIT_SECRETS + 1) * sizeof(*seen));
    size_t all = 0;

    for (size_t i = 0; i < count; i++) {
        const struct keyring *keyring = &routes[i]->keyring;
        for (size_t j = 0; j < keyring->count; j++) {
            seen[all].route = i;
            sha256(keyring->secrets[j].text, seen[all++].digest);
        }
    }
    qsort(seen, all, sizeof(*seen), by_digest);
    for (size_t begin = 0, end; begin < all; begin = end) {
        end = begin + 1;
        while (end < all && digest_equal(seen[begin].digest, seen[end].digest, DIGEST_BYTES))
            end++;
        warn_of_group(routes, seen + begin, seen + end, report);
    }
    digest_wipe(seen, all * sizeof(*seen));
    free(seen);
}
