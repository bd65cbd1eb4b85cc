/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regular_file: opens what is read at the start and again at each reload. Only a regular file will
 * do: a pipe could keep its reader waiting, and that is the loop.
 */
#ifndef WAKEGATE_CORE_REGULAR_FILE_H
#define WAKEGATE_CORE_REGULAR_FILE_H

#include <stdio.h>

/* Never waits. NULL with errno where there is none; what is no regular file is EISDIR or ENOTSUP.
 */
FILE *regular_file_open(const char *name);

/* What errno says of a file, in words. */
const char *regular_file_why(int code);

#endif
