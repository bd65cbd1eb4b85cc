/* SPDX-License-Identifier: Apache-2.0 */
/* check: cmocka with the headers that it wants before it. */
#ifndef WAKEGATE_TESTS_CHECK_H
#define WAKEGATE_TESTS_CHECK_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#endif
