/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/store/redis_info.h"

enum { OLDEST_MAJOR = 6, SHOWN_BYTES = 40 };

struct slice redis_info_field(struct slice info, const char *name)
{
    struct slice line, found, value;

    while (info.len > 0) {
        slice_cut(info, '\n', &line, &info);
        slice_cut(line, ':', &found, &value);
        if (slice_eq(found, slice_from(name)))
            return slice_ends(value, SLICE("\r")) ? slice_first(value, value.len - 1) : value;
    }
    return (struct slice){0};
}

/* For texts. A value that is not visible is as good as none. */
static struct slice shown(struct slice value)
{
    return slice_is_visible(value) ? slice_first(value, SHOWN_BYTES) : SLICE("?");
}

bool redis_info_fits(struct slice info, struct err *why)
{
    struct slice version = redis_info_field(info, "redis_version"), major, rest;
    uint64_t number = 0;

    if (slice_eq(redis_info_field(info, "redis_mode"), SLICE("sentinel")))
        return err_set(why, "this is a Sentinel; its URL is redis+sentinel://host:port/master");
    if (slice_eq(redis_info_field(info, "cluster_enabled"), SLICE("1")))
        return err_set(why, "Redis Cluster is not supported; name a server without cluster mode");
    slice_cut(version, '.', &major, &rest);
    /* 0 is what unofficial builds say. */
    if (slice_number(major, &number) && number > 0 && number < OLDEST_MAJOR)
        return err_set(why, "it is version %.*s; Redis %d or later is needed",
                       SLICE_ARG(shown(version)), OLDEST_MAJOR);
    return true;
}

struct err redis_info_warning(struct slice info)
{
    struct slice policy = redis_info_field(info, "maxmemory_policy");
    struct err warning = {0};

    if (policy.len == 0)
        err_set(&warning, "the store does not tell its maxmemory-policy; make sure that it is "
                          "noeviction, or it may forget what was relayed");
    else if (!slice_eq(policy, SLICE("noeviction")))
        err_set(&warning,
                "the store has maxmemory-policy %.*s and may forget what was relayed; "
                "set it to noeviction",
                SLICE_ARG(shown(policy)));
    return warning;
}
