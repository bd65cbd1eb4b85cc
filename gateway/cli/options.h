/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options: the command line of a subcommand, read through a table: "--name value" and
 * "--name=value", flags without a value, and words that are no option.
 */
#ifndef WAKEGATE_GATEWAY_CLI_OPTIONS_H
#define WAKEGATE_GATEWAY_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct option_row {
    const char *name;    /* "--url"; NULL: words that are no option */
    const char **values; /* where its value goes; NULL: a flag */
    size_t max;          /* how often it may stand there; 0 counts as 1 */
    size_t *count;       /* how often it stood there; may be NULL */
    bool *flag;          /* set when it stood there; may be NULL */
    bool required;
};

/* Values are borrowed from argv. false after a complaint on standard error, which begins with
 * argv[0], the subcommand's name. */
bool options_read(int argc, char **argv, const struct option_row *rows, size_t row_count);

/* `text` as a number from `least` to `most`; `fallback` where it is NULL. The same complaint. */
bool options_number(const char *command, const char *name, const char *text, long long fallback,
                    long long least, long long most, long long *number);

#endif
