/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regular_file: opens what is read at the start and again at each reload, and tells whether it has
 * changed since. Only a regular file will do: a pipe could keep its reader waiting, and that is the
 * loop.
 */
#ifndef WAKEGATE_CORE_REGULAR_FILE_H
#define WAKEGATE_CORE_REGULAR_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Never waits. NULL with errno where there is none; what is no regular file is EISDIR or ENOTSUP.
 */
FILE *regular_file_open(const char *name);

/* Which file it is, and which version of it; all zero: there is none. */
struct file_version {
    uint64_t device, inode;
    int64_t size, changed_ns;
};

struct file_version regular_file_version(FILE *stream); /* of an open one; NULL: there is none */
struct file_version regular_file_version_now(const char *name);
bool file_version_eq(const struct file_version *one, const struct file_version *other);

/* What errno says of a file, in words. */
const char *regular_file_why(int code);

#endif
