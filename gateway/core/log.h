/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log: one line of JSON an event, on standard error.
 *
 *   log_begin(LOG_INFO, "wake"); log_str("route", name); log_num("status", 200); log_end();
 *
 * Lines are collected and written at the end of the turn, so that a wake costs no write of its own.
 * A reader that does not keep up never blocks the loop: lines that do not fit are dropped, counted,
 * and reported in a line (event log_dropped) once there is room. A value is cut at 512 bytes, a
 * field with which the line would pass PIPE_BUF is left out, so lines of processes that share one
 * pipe never mix. Keys and events are the program's own words and not escaped. Only for the loop's
 * thread. No secret, no signature and no body may be given to it; whoever calls it holds that
 * rule, and a test looks for canaries.
 */
#ifndef WAKEGATE_CORE_LOG_H
#define WAKEGATE_CORE_LOG_H

#include "gateway/core/op.h"
#include "gateway/core/slice.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

extern const char *const log_levels[]; /* names, NULL-terminated */

/* Before log_open, and where `turn` is NULL, each line is written at once, and dropped when the
 * reader takes nothing for a second. */
void log_open(enum log_level level, struct turn *turn);
void log_set_level(enum log_level level);
/* Writes what is left, waiting for the reader in the same way; from then on lines are written at
 * once. */
void log_close(void);

/* Every log_begin is followed by its log_end before the next one. */
void log_begin(enum log_level level, const char *event);
void log_str(const char *key, struct slice value); /* escaped; left out when empty */
void log_text(const char *key, const char *value);
void log_num(const char *key, int64_t value);
void log_end(void);

/* A line with just an event and a "text". */
void log_note(enum log_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
