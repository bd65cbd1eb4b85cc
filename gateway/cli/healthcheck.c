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

int cli_healthcheck(int argc, char **argv)
{
    const char *url = "http://127.0.0.1:8080";
    const struct option_row rows[] = {{.name = NULL, .values = &url}};
    struct ask_place place;
    struct err err = {""};

    if (!options_read(argc, argv, rows, 1))
        return CLI_USAGE;
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
        printf("http://%.*s%.*s: %s\n", SLICE_ARG(place.authority), SLICE_ARG(path),
               good ? meaning : err.text);
    return good ? CLI_OK : CLI_FAILED;
}
