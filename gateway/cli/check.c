/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakegate check: reads the config as `serve` would, opens nothing, and tells everything that is
 * wrong with it in one run. Warnings do not make it fail. With --live, where there is no mistake,
 * the doctor then goes and looks.
 */
#include <stdio.h>
#include <unistd.h>

#include "gateway/cli/cli.h"
#include "gateway/cli/options.h"
#include "gateway/config.h"
#include "gateway/core/metrics.h"
#include "gateway/doctor/doctor.h"

static void print_lines(const char *kind, struct slice lines)
{
    struct slice line;

    while (slice_cut(lines, '\n', &line, &lines))
        printf("%s: %.*s\n", kind, SLICE_ARG(line));
}

static json_t *lines_json(struct slice lines)
{
    json_t *list = json_array();
    struct slice line;

    while (slice_cut(lines, '\n', &line, &lines))
        json_array_append_new(list, json_stringn(line.data, line.len));
    return list;
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

static void print_json(json_t *value)
{
    json_dumpf(value, stdout, JSON_COMPACT);
    printf("\n");
    json_decref(value);
}

static void print_findings(const struct findings *findings, bool json)
{
    if (json) {
        print_json(findings_json(findings, doctor_checks));
        return;
    }
    findings_print(findings, doctor_checks);
    printf("%u problem%s, %u warning%s\n", findings->counts[LEVEL_PROBLEM],
           plural(findings->counts[LEVEL_PROBLEM]), findings->counts[LEVEL_WARNING],
           plural(findings->counts[LEVEL_WARNING]));
}

static int look(const struct config *config, const struct settings_report *report,
                const char *agentchat_url, bool json)
{
    static struct doctor doctor; /* look-ups that hang still know it when the process ends */

    log_set_level(LOG_ERROR);
    doctor_run(&doctor, config, report, agentchat_url ? agentchat_url : config->texts.url.data);
    print_findings(&doctor.findings, json);
    fflush(stdout);
    int status = doctor.findings.counts[LEVEL_PROBLEM] > 0 ? CLI_FAILED : CLI_OK;
    if (doctor.hanging)
        _exit(status);
    findings_release(&doctor.findings);
    metrics_free();
    return status;
}

/* What there is to say where nobody goes and looks. */
static int tell(const struct config *config, const struct settings_report *report, bool json)
{
    if (json) {
        json_t *mistakes = lines_json(buf_slice(&report->mistakes));
        json_t *warnings = lines_json(buf_slice(&report->warnings));
        print_json(json_pack("{s:o, s:o}", "mistakes", mistakes, "warnings", warnings));
    } else {
        print_lines("mistake", buf_slice(&report->mistakes));
        print_lines("warning", buf_slice(&report->warnings));
        print_summary(report, config);
    }
    fflush(stdout);
    return report->mistake_count > 0 ? CLI_FAILED : CLI_OK;
}

int cli_check(int argc, char **argv)
{
    const char *path = config_path(), *agentchat_url = NULL;
    bool live = false, json = false;
    const struct option_row rows[] = {{.name = "--config", .values = &path},
                                      {.name = "--live", .flag = &live},
                                      {.name = "--json", .flag = &json},
                                      {.name = "--agentchat-url", .values = &agentchat_url}};
    struct settings_report report;

    if (!options_read(argc, argv, rows, sizeof(rows) / sizeof(rows[0])))
        return CLI_USAGE;
    settings_report_init(&report, path);
    struct config *config = config_read(&report, environ);
    if (config)
        config_open_routes(config, NULL, &report);
    bool whole = config && report.mistake_count == 0;
    int status =
        live && whole ? look(config, &report, agentchat_url, json) : tell(config, &report, json);
    config_free(config);
    settings_report_release(&report);
    return status;
}
