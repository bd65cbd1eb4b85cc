/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakegate check: reads the config as `serve` would, opens nothing, and tells everything that is
 * wrong with it in one run. Warnings do not make it fail.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gateway/cli/cli.h"
#include "gateway/config.h"

static const char usage[] = "usage: wakegate check [--config FILE]\n"
                            "Without it: the file that WAKEGATE_CONFIG names, or wakegate.json.\n";

/* false: the command line is wrong. A NULL path: help is wanted. */
static bool read_options(int argc, char **argv, const char **path)
{
    static const char option[] = "--config=";

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            *path = NULL;
        else if (strcmp(argv[i], "--config") == 0 && i + 1 < argc)
            *path = argv[++i];
        else if (strncmp(argv[i], option, strlen(option)) == 0)
            *path = argv[i] + strlen(option);
        else
            return false;
        if (!*path)
            return true;
    }
    return true;
}

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
    struct settings_report report;

    if (!read_options(argc, argv, &path)) {
        fputs(usage, stderr);
        return 2;
    }
    if (!path) {
        fputs(usage, stdout);
        return 0;
    }
    settings_report_init(&report, path);
    struct config *config = config_read(&report, environ);
    if (config)
        config_open_routes(config, NULL, &report);
    print_lines("mistake", buf_slice(&report.mistakes));
    print_lines("warning", buf_slice(&report.warnings));
    print_summary(&report, config);
    fflush(stdout);
    int status = report.mistake_count > 0 ? 1 : 0;
    config_free(config);
    settings_report_release(&report);
    return status;
}
