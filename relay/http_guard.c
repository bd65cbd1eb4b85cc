/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/http_guard.h"

bool http_guard_allows(struct http_guard *guard, const struct sockaddr *address)
{
    enum reach reach = reach_of(address);

    if (reach == REACH_PUBLIC || (reach == REACH_PRIVATE && guard->private_too))
        return true;
    if (reach > guard->refused) {
        guard->refused = reach;
        address_text(address, guard->address);
    }
    return false;
}

bool http_guard_explain(const struct http_guard *guard, struct err *err)
{
    if (guard->refused == REACH_PRIVATE)
        err_set(err, "its address %s is private: set \"private\": true", guard->address);
    else if (guard->refused == REACH_FORBIDDEN)
        err_set(err, "its address %s is link-local, reserved or a metadata service",
                guard->address);
    return guard->refused != REACH_PUBLIC;
}
