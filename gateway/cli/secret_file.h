/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_file: puts another secret into a file that holds one. Whoever reads it meanwhile finds the
 * old one or the new one, whole. Owner and mode stay, so that the gateway can still read it.
 */
#ifndef WAKEGATE_CLI_SECRET_FILE_H
#define WAKEGATE_CLI_SECRET_FILE_H

#include "gateway/core/err.h"
#include "gateway/core/slice.h"

/* `err` says why not and names the file; then nothing was changed. */
bool secret_file_write(const char *path, struct slice text, struct err *err);

#endif
