/* SPDX-License-Identifier: Apache-2.0 */
/* wake_json: a wake as the subcommands show it, each field under its name in the contract. */
#ifndef WAKEGATE_CLI_WAKE_JSON_H
#define WAKEGATE_CLI_WAKE_JSON_H

#include "gateway/core/wake.h"

/* What the dialect did not carry is left out. The caller drops the reference. */
json_t *wake_json(const struct wake *wake);

#endif
