/* SPDX-License-Identifier: Apache-2.0 */
/*
 * variables: WAKEGATE_LISTEN and its like, laid over the config file. A variable wins; an empty one
 * is as good as unset.
 */
#ifndef WAKEGATE_GATEWAY_VARIABLES_H
#define WAKEGATE_GATEWAY_VARIABLES_H

#include "gateway/core/settings.h"

/* Sets the keys of `root` that `environment` (as environ) names, and `listen` from PORT where
 * nothing else says it. Warns about unknown WAKEGATE_ names, except those that the config takes
 * secrets from. Gives an object from each key that was set to the variable's name; the caller drops
 * it. */
json_t *variables_apply(json_t *root, char *const *environment, struct settings_report *report);

#endif
