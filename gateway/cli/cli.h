/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: the subcommands. Each gets its own argv (argv[0] is its name) and gives the exit status;
 * after CLI_USAGE the caller prints the usage, which stands in main.c's table beside the function.
 */
#ifndef WAKEGATE_GATEWAY_CLI_CLI_H
#define WAKEGATE_GATEWAY_CLI_CLI_H

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

int cli_serve(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_send(int argc, char **argv);
int cli_verify(int argc, char **argv);
int cli_sink(int argc, char **argv);
int cli_deliveries(int argc, char **argv);
int cli_redeliver(int argc, char **argv);
int cli_subscription(int argc, char **argv);
int cli_secret(int argc, char **argv);
int cli_healthcheck(int argc, char **argv);
int cli_version(int argc, char **argv);

#endif
