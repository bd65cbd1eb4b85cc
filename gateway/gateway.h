/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gateway: the whole running process: it opens what the config names, reloads it on SIGHUP, and
 * drains on SIGTERM or SIGINT.
 */
#ifndef WAKEGATE_GATEWAY_GATEWAY_H
#define WAKEGATE_GATEWAY_GATEWAY_H

/* Runs until a signal ends it. The exit status: 0 after a drain, 1 when it could not start; then
 * the reasons stand in the log. */
int gateway_run(const char *config_path);

#endif
