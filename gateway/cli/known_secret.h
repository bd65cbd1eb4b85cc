/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_secret: does a running gateway take wakes that are signed with this secret?
 *
 * It is asked the way a wake comes: a request to the route, proved with the secret, which carries
 * no wake that can be read. A gateway that knows the secret says invalid_wake, one that does not
 * says unauthorized; nothing is relayed and nothing remembered. So no page has to tell anything
 * about secrets.
 */
#ifndef WAKEGATE_CLI_KNOWN_SECRET_H
#define WAKEGATE_CLI_KNOWN_SECRET_H

#include "gateway/cli/fetch.h"
#include "gateway/route.h"

enum knows { KNOWS_IT, KNOWS_NOT, KNOWS_UNCLEAR };

/* `gateway` is its base URL. `err` says what is unclear. */
enum knows known_secret(const struct fetch_from *from, const char *gateway,
                        const struct route *route, const struct secret *secret, struct err *err);

#endif
