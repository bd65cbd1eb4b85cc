/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole config file, read as `wakegate check` does it. Either it can be used, and reads the same
 * a second time, or each mistake is one line that names the file or the variable, without a control
 * character and without a secret.
 *
 * Lines that begin with `WAKEGATE_` are variables; the file begins with the first that does not.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gateway/config.h"

enum { VARIABLES = 4, VARIABLE_BYTES = 256 };

#define CANARY "canary-4b1d9e07"

struct input {
    char variables[VARIABLES][VARIABLE_BYTES];
    char *environment[VARIABLES + 1];
    char path[64];
    int fd;
    bool tells; /* the secret stands in the input itself, which may be shown */
};

static void open_input(struct slice text, struct input *input)
{
    input->tells = text.len > 0 && memmem(text.data, text.len, CANARY, strlen(CANARY));
    for (size_t i = 0; i < VARIABLES && slice_starts(text, SLICE("WAKEGATE_")); i++) {
        const struct slice line = fuzz_line(&text);
        snprintf(input->variables[i], VARIABLE_BYTES, "%.*s", SLICE_ARG(line));
        input->environment[i] = input->variables[i];
    }
    input->fd = memfd_create("config", MFD_CLOEXEC);
    assert(input->fd >= 0);
    assert(write(input->fd, text.data, text.len) == (ssize_t)text.len);
    snprintf(input->path, sizeof(input->path), "/proc/self/fd/%d", input->fd);
}

static unsigned check_lines(struct slice lines, const char *file)
{
    unsigned count = 0;

    while (lines.len > 0) {
        struct slice line;
        assert(slice_cut(lines, '\n', &line, &lines)); /* each has its end */
        assert(slice_starts(line, slice_from(file)) || slice_starts(line, SLICE("environment: ")));
        for (size_t i = 0; i < line.len; i++)
            assert((unsigned char)line.data[i] >= 0x20 && line.data[i] != 0x7f);
        count++;
    }
    return count;
}

static struct config *read_config(const struct input *input, struct settings_report *report)
{
    settings_report_init(report, input->path);
    assert(lseek(input->fd, 0, SEEK_SET) == 0);
    struct config *config = config_read(report, input->environment);
    if (config)
        config_open_routes(config, NULL, report);
    assert(report->mistakes.overflow || report->warnings.overflow ||
           (check_lines(buf_slice(&report->mistakes), input->path) == report->mistake_count &&
            check_lines(buf_slice(&report->warnings), input->path) == report->warning_count));
    assert(input->tells || !strstr(buf_text(&report->mistakes), CANARY));
    assert(input->tells || !strstr(buf_text(&report->warnings), CANARY));
    assert(config || report->mistake_count > 0);
    return config;
}

static void check_usable(const struct config *config)
{
    assert(config->route_count > 0 && config->front.listen_count > 0 && config->store);
    for (size_t i = 0; i < config->route_count; i++) {
        const struct route *route = config->routes[i];
        assert(route->dialect && route->keyring.count > 0 && route->destinations.count > 0);
        assert(settings_is_name(slice_from(route->name)));
        assert(config_route(config, slice_from(route->name)) == route);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.fd = -1};
    struct settings_report report, again;
    struct buf keys = BUF_INIT(1024);

    setenv("CANARY", CANARY, 1);
    open_input(fuzz_slice(data, size), &input);
    struct config *config = read_config(&input, &report);
    if (report.mistake_count == 0) {
        check_usable(config);
        struct config *same = read_config(&input, &again);
        assert(same && again.mistake_count == 0 && again.warning_count == report.warning_count);
        assert(!config_needs_restart(config, same, &keys));
        config_free(same);
        settings_report_release(&again);
    }
    config_free(config);
    settings_report_release(&report);
    buf_release(&keys);
    close(input.fd);
    return 0;
}
