/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/public_url.h"

#include "gateway/core/limits.h"
#include "gateway/net/reach.h"
#include "gateway/net/url.h"

#define WAKE "/wake/"

bool public_url_check(struct slice url, struct err *err)
{
    struct url_parts parts;
    enum reach reach = REACH_PUBLIC;

    if (url.len > PUBLIC_URL_BYTES)
        return err_set(err, "has more than the %d characters that AgentChat takes",
                       PUBLIC_URL_BYTES);
    if (!slice_is_visible(url))
        return err_set(err, "has blanks, control characters or letters beyond ASCII in it; write "
                            "them percent-encoded");
    if (!url_split(url, &parts, err))
        return false;
    if (!parts.tls)
        return err_set(err, "is plain http; AgentChat sends wakes to https:// alone");
    if (reach_of_host(parts.host, &reach) && reach != REACH_PUBLIC)
        return err_set(err, "names an address that AgentChat cannot reach; write the public one");
    return true;
}

bool public_url_check_base(struct slice url, struct err *err)
{
    struct slice path, query;

    if (!public_url_check(url, err))
        return false;
    if (slice_cut(url, '?', &path, &query))
        return err_set(err, "has a query; leave out the '?' and what follows");
    if (url.len > PUBLIC_URL_BYTES - sizeof(WAKE) - LIMIT_NAME_BYTES)
        return err_set(err, "leaves no room for " WAKE "<route> in %d characters",
                       PUBLIC_URL_BYTES);
    return true;
}

void public_url_of(struct slice base, struct slice route, struct buf *url)
{
    while (slice_ends(base, SLICE("/")))
        base.len--;
    buf_append(url, base);
    buf_append(url, SLICE(WAKE));
    buf_append(url, route);
}
