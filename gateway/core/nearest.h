/* SPDX-License-Identifier: Apache-2.0 */
/* nearest: which known name a mistyped one most likely meant, for "did you mean". */
#ifndef WAKEGATE_CORE_NEAREST_H
#define WAKEGATE_CORE_NEAREST_H

#include "gateway/core/slice.h"

/* The one of `names` that is fewest edits away from `text`, whatever the case of the letters, and
 * the first of equals; NULL when none is near: 2 edits, or 1 for a name of 4 bytes or less. */
const char *nearest(struct slice text, const char *const *names, size_t count);

#endif
