/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_secrets: warns of routes that have a secret in common: whoever may wake one of them may
 * wake the others.
 */
#ifndef WAKEGATE_GATEWAY_SHARED_SECRETS_H
#define WAKEGATE_GATEWAY_SHARED_SECRETS_H

#include "gateway/route.h"

/* One line for each secret that several routes have. That a route has one twice is no matter: so it
 * stands between two rotations. */
void warn_of_shared_secrets(struct route *const *routes, size_t count,
                            struct settings_report *report);

#endif
