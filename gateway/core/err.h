/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err: why something failed, written once where it is known and wrapped on the way up.
 *
 * Both functions return false, so that a failing function ends in `return err_set(err, ...)`.
 * `err` may be NULL when the caller does not want the text. Never put a secret into it.
 */
#ifndef WAKEGATE_CORE_ERR_H
#define WAKEGATE_CORE_ERR_H

#include <stdbool.h>

struct err {
    char text[256];
};

bool err_set(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "<what>: " before the text that is there. */
bool err_wrap(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
