/* SPDX-License-Identifier: Apache-2.0 */
/* retry_after: the Retry-After header, read and written (RFC 9110, section 10.2.3). */
#ifndef WAKEGATE_CORE_RETRY_AFTER_H
#define WAKEGATE_CORE_RETRY_AFTER_H

#include "gateway/core/slice.h"

/* Seconds or an HTTP-date, as milliseconds from now: 0 for a time that has passed, a negative
 * number and what cannot be read; a fraction of a second is rounded up; never more than
 * LIMIT_RETRY_AFTER_S. */
int64_t retry_after_parse(struct slice value, int64_t now_ms);

/* Whole seconds for our own header: rounded up, at least 1, at most LIMIT_RETRY_AFTER_S. */
int64_t retry_after_seconds(int64_t ms);

#endif
