/* SPDX-License-Identifier: Apache-2.0 */
/* parameters: the query of a request, by name. Values are as sent, but with `+` as a blank. */
#ifndef WAKEGATE_NET_PARAMETERS_H
#define WAKEGATE_NET_PARAMETERS_H

#include "gateway/core/err.h"
#include "gateway/net/http_server.h"

/* One parameter, found as a header is. */
enum header_found exchange_parameter(const struct exchange *exchange, struct slice name,
                                     struct slice *value);

struct parameter { /* one that a page takes */
    const char *name;
    struct slice *value; /* stays as it is where the parameter is absent */
};

/* Reads them all. false, with a reason for the client: another one stands there, one twice, or one
 * with a percent sign, since no value of these pages needs any. */
bool parameters_read(const struct exchange *exchange, const struct parameter *taken, size_t count,
                     struct err *err);

#endif
