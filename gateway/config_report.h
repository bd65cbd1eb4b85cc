/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_report: what a reading of the config found, as lines of the log: one for each warning, one
 * for each mistake.
 */
#ifndef WAKEGATE_GATEWAY_CONFIG_REPORT_H
#define WAKEGATE_GATEWAY_CONFIG_REPORT_H

#include "gateway/core/settings.h"

void config_report_log(const struct settings_report *report);

#endif
