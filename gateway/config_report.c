/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/config_report.h"

#include "gateway/core/log.h"

static void log_lines(enum log_level level, const char *event, struct slice lines)
{
    struct slice line;

    while (lines.len > 0) {
        slice_cut(lines, '\n', &line, &lines);
        log_begin(level, event);
        log_str("text", line);
        log_end();
    }
}

void config_report_log(const struct settings_report *report)
{
    log_lines(LOG_WARN, "config_warning", buf_slice(&report->warnings));
    log_lines(LOG_ERROR, "config_mistake", buf_slice(&report->mistakes));
}
