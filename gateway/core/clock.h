/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock: the two clocks, and the time formats of the protocols.
 *
 * Only code at the edge (serve, the front, the command line) reads a clock; code that decides takes
 * the time as an argument. Wall times are milliseconds since 1970, UTC.
 */
#ifndef WAKEGATE_CORE_CLOCK_H
#define WAKEGATE_CORE_CLOCK_H

#include "gateway/core/slice.h"

int64_t clock_wall_ms(void);
uint64_t clock_steady_us(void);

/* RFC 3339 ("2026-11-12T09:00:00.000Z", offsets too). false: not such a time. */
bool clock_parse_iso(struct slice text, int64_t *wall_ms);

/* HTTP-date, all three forms (RFC 9110, section 5.6.7). */
bool clock_parse_http_date(struct slice text, int64_t *wall_ms);

/* "2026-11-12T09:00:00.000Z" and a NUL. */
enum { CLOCK_ISO_SIZE = 25 };
void clock_format_iso(int64_t wall_ms, char text[static CLOCK_ISO_SIZE]);

#endif
