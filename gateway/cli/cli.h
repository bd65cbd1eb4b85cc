/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: the subcommands. Each is called with its own name as argv[0], writes what it found to
 * standard output and what keeps it from working to standard error, and gives the exit status: 0
 * all is well, 1 it is not, 2 the command line was wrong.
 */
#ifndef WAKEGATE_CLI_CLI_H
#define WAKEGATE_CLI_CLI_H

int cli_check(int argc, char **argv);
int cli_send(int argc, char **argv);
int cli_verify(int argc, char **argv);

#endif
