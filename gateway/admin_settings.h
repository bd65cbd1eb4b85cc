/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admin_settings: who may use the admin API, and what of the past there is to see: the keys
 * `admin_token` and `journal`.
 */
#ifndef WAKEGATE_GATEWAY_ADMIN_SETTINGS_H
#define WAKEGATE_GATEWAY_ADMIN_SETTINGS_H

#include "gateway/core/settings.h"
#include "gateway/store/journal.h"

struct admin_settings {
    struct keyring tokens; /* none: the API is served only where no token is needed */
    struct journal_settings journal;
};

void admin_settings_read(struct settings *settings, struct admin_settings *admin);
void admin_settings_release(struct admin_settings *admin);

#endif
