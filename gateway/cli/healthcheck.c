/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakegate healthcheck: asks a gateway whether it is ready, for images that have no curl. An alarm
 * ends it when that takes too long.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "gateway/cli/ask.h"
#include "gateway/cli/cli.h"
#include "gateway/cli/options.h"
#include "gateway/config.h"
#include "gateway/net/address.h"

enum { TIMEOUT_S = 5, ANSWER_BYTES = 65536 };

static bool is_well(const struct ask_place *place, struct slice path, struct err *err)
{
    struct buf body = BUF_INIT(ANSWER_BYTES);
    const struct ask_question question = {.method = "GET", .target = path};
    unsigned status = 0;

    bool answered = ask(place, &question, 0, &status, &body, err);
    buf_release(&body);
    if (!answered)
        return false;
    return status == 200 || err_set(err, "answered %u", status);
}

static void on_alarm(int number)
{
    static const char text[] = "no answer in time\n";

    (void)number;
    if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
        _exit(CLI_FAILED);
    _exit(CLI_FAILED);
}

/* Where the config says that a gateway on this machine listens; without one, where it does by
 * default. What else may be wrong with the config is not asked here. */
static void find_gateway(char url[static ADDRESS_URL_SIZE])
{
    struct settings_report report;
    union address address = {.any.sa_family = AF_UNIX};
    struct err err;

    snprintf(url, ADDRESS_URL_SIZE, "http://127.0.0.1:8080");
    settings_report_init(&report, config_path());
    struct config *config = config_read(&report, environ);
    for (size_t i = 0; config && i < config->front.listen_count; i++)
        if (address.any.sa_family == AF_UNIX)
            address_parse(config->front.listen[i], &address, &err);
    if (address.any.sa_family != AF_UNIX)
        address_url(&address, json_object_get(config->root, "tls") ? "https" : "http", url);
    config_free(config);
    settings_report_release(&report);
}

int cli_healthcheck(int argc, char **argv)
{
    char own[ADDRESS_URL_SIZE];
    const char *url = NULL;
    const struct option_row rows[] = {{.name = NULL, .values = &url}};
    struct ask_place place;
    struct err err = {""};

    if (!options_read(argc, argv, rows, 1))
        return CLI_USAGE;
    if (!url)
        find_gateway(own);
    url = url ? url : own;
    signal(SIGALRM, on_alarm);
    alarm(TIMEOUT_S);
    if (!ask_read_url(url, &place, &err)) {
        printf("%s: %s\n", url, err.text);
        return CLI_FAILED;
    }
    struct slice path = place.path.len > 1 ? place.path : SLICE("/readyz");
    bool good = is_well(&place, path, &err);
    const char *meaning = slice_eq(path, SLICE("/readyz")) ? "ready" : "answered 200";
    if (place.socket.len > 0)
        printf("%s: %s\n", url, good ? meaning : err.text);
    else
        printf("%s://%.*s%.*s: %s\n", place.https ? "https" : "http", SLICE_ARG(place.authority),
               SLICE_ARG(path), good ? meaning : err.text);
    return good ? CLI_OK : CLI_FAILED;
}
