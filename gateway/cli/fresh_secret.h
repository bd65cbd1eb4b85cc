/* SPDX-License-Identifier: Apache-2.0 */
/* fresh_secret: a new secret for a route, of 32 random bytes, as its dialect writes them. */
#ifndef WAKEGATE_CLI_FRESH_SECRET_H
#define WAKEGATE_CLI_FRESH_SECRET_H

#include "dialects/dialect.h"

enum { FRESH_SECRET_SIZE = 72 };

/* "whsec_" and base64 where the dialect reads base64, else hex. `dialect` NULL: hex. */
void fresh_secret(const struct dialect *dialect, char text[static FRESH_SECRET_SIZE]);

#endif
