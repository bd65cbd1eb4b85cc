/* SPDX-License-Identifier: Apache-2.0 */
/* proof_options: --dialect and --secret-file, which several subcommands take. Secrets come from
 * files only: a command line can be read by everybody on the machine. */
#ifndef WAKEGATE_GATEWAY_CLI_PROOF_OPTIONS_H
#define WAKEGATE_GATEWAY_CLI_PROOF_OPTIONS_H

#include "dialects/dialect.h"

/* NULL after a complaint on standard error, which lists the names. */
const struct dialect *proof_option_dialect(const char *command, const char *name);

/* Reads the file as the config does, so that one file serves both. false after a complaint. The
 * caller releases the secret. */
bool proof_option_secret(const char *command, const char *path, const struct dialect *dialect,
                         struct secret *secret);

#endif
