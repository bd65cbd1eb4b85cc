/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_guard: which addresses a request connects to, and what is said of the worst that it did not.
 */
#ifndef WAKEGATE_RELAY_HTTP_GUARD_H
#define WAKEGATE_RELAY_HTTP_GUARD_H

#include "gateway/core/err.h"
#include "gateway/net/address.h"
#include "gateway/net/reach.h"

struct http_guard {
    bool private_too;
    enum reach refused; /* the worst so far; REACH_PUBLIC: none */
    char address[ADDRESS_TEXT_SIZE];
};

bool http_guard_allows(struct http_guard *guard, const struct sockaddr *address);

/* false: no address was refused, and `err` is left alone. */
bool http_guard_explain(const struct http_guard *guard, struct err *err);

#endif
