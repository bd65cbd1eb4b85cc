/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakegate check: reads the config as `serve` would, opens nothing, and tells everything that is
 * wrong with it in one run. Warnings do not make it fail.
 */
#include <stdio.h>
#include <unistd.h>

#include "gateway/cli/cli.h"
#include "gateway/cli/options.h"
#include "gateway/config.h"

static void print_lines(const char *kind, struct slice lines)
{
    struct slice line;

    while (slice_cut(lines, '\n', &line, &lines))
        printf("%s: %.*s\n", kind, SLICE_ARG(line));
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void print_summary(const struct settings_report *report, const struct config *config)
{
    struct slice scheme, rest;

    if (!config || report->mistake_count > 0) {
        printf("%s: %u mistake%s, %u warning%s\n", report->file, report->mistake_count,
               plural(report->mistake_count), report->warning_count, plural(report->warning_count));
        return;
    }
    slice_cut(slice_from(config->store), ':', &scheme, &rest);
    printf("%s is fine: %zu route%s, store %.*s", report->file, config->route_count,
           plural(config->route_count), SLICE_ARG(scheme));
    if (report->warning_count > 0)
        printf(", %u warning%s", report->warning_count, plural(report->warning_count));
    printf("\n");
}

int cli_check(int argc, char **argv)
{
    const char *path = config_path();
    const struct option_row rows[] = {{.name = "--config", .values = &path}};
    struct settings_report report;

    if (!options_read(argc, argv, rows, 1))
        return CLI_USAGE;
    settings_report_init(&report, path);
    struct config *config = config_read(&report, environ);
    if (config)
        config_open_routes(config, NULL, &report);
    print_lines("mistake", buf_slice(&report.mistakes));
    print_lines("warning", buf_slice(&report.warnings));
    print_summary(&report, config);
    fflush(stdout);
    int status = report.mistake_count > 0 ? CLI_FAILED : CLI_OK;
    config_free(config);
    settings_report_release(&report);
    return status;
}
