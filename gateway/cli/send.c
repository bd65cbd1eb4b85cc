/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakegate send: signs and posts wakes as AgentChat would, in any dialect. For trying a route, or a
 * runtime, by hand and in tests.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialects/payload.h"
#include "gateway/cli/cli.h"
#include "gateway/cli/options.h"
#include "gateway/cli/proof_options.h"
#include "gateway/cli/volley.h"
#include "gateway/core/clock.h"

enum { MOST_CONCURRENCY = 1000, MOST_COUNT = 100000000, MOST_TIMEOUT_S = 600, VARIANTS = 8 };

struct send_options {
    const char *dialect, *secret_file, *url, *reason, *handle, *summary, *delivery_id, *payload;
    const char *variant, *scheme, *count, *concurrency, *timeout, *ca_file;
    bool repeat;
};

static bool complain(const char *what, const char *why)
{
    fprintf(stderr, "wakegate send: %s: %s\n", what, why);
    return false;
}

static bool read_options(int argc, char **argv, struct send_options *options)
{
    const struct option_row rows[] = {
        {.name = "--dialect", .values = &options->dialect, .required = true},
        {.name = "--secret-file", .values = &options->secret_file, .required = true},
        {.name = "--url", .values = &options->url, .required = true},
        {.name = "--reason", .values = &options->reason},
        {.name = "--handle", .values = &options->handle},
        {.name = "--summary", .values = &options->summary},
        {.name = "--delivery-id", .values = &options->delivery_id},
        {.name = "--payload", .values = &options->payload},
        {.name = "--variant", .values = &options->variant},
        {.name = "--scheme", .values = &options->scheme},
        {.name = "--count", .values = &options->count},
        {.name = "--concurrency", .values = &options->concurrency},
        {.name = "--timeout", .values = &options->timeout},
        {.name = "--ca-file", .values = &options->ca_file},
        {.name = "--repeat", .flag = &options->repeat},
    };

    if (!options_read(argc, argv, rows, sizeof(rows) / sizeof(rows[0])))
        return false;
    if (options->payload && (options->delivery_id || options->repeat))
        return complain("--payload", "brings its own delivery_id");
    return true;
}

static bool read_number(const char *option, const char *text, unsigned most, unsigned fallback,
                        unsigned *number)
{
    long long value;

    if (!options_number("send", option, text, fallback, 1, most, &value))
        return false;
    *number = (unsigned)value;
    return true;
}

/* The place of `name` in a list; absent: the first. */
static bool read_choice(const char *option, const char *name, const char *const *names,
                        unsigned *choice)
{
    *choice = 0;
    if (!name)
        return true;
    for (unsigned i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0) {
            *choice = i;
            return true;
        }
    fprintf(stderr, "wakegate send: %s: \"%s\" is none of", option, name);
    for (unsigned i = 0; names[i]; i++)
        fprintf(stderr, " %s", names[i]);
    fprintf(stderr, "\n");
    return false;
}

static bool read_speech(const struct send_options *options, struct volley *volley)
{
    const char *names[VARIANTS + 1] = {NULL};

    volley->dialect = proof_option_dialect("send", options->dialect);
    if (!volley->dialect)
        return false;
    for (size_t i = 0; i < volley->dialect->variant_count && i < VARIANTS; i++)
        names[i] = volley->dialect->variants[i].name;
    if (options->variant && !names[0])
        return complain("--variant", "the dialect has no variants; leave it out");
    return read_choice("--variant", options->variant, names, &volley->speech.variant) &&
           read_choice("--scheme", options->scheme, volley->dialect->schemes,
                       &volley->speech.scheme);
}

static bool read_file(const char *path, struct buf *bytes)
{
    FILE *file = fopen(path, "rb");
    size_t count = 1;

    if (!file)
        return complain(path, "cannot be read");
    while (count > 0 && !bytes->overflow) {
        char *room = buf_reserve(bytes, 4096);
        count = room ? fread(room, 1, 4096, file) : 0;
        bytes->len += count;
    }
    bool ok = !bytes->overflow && !ferror(file);
    fclose(file);
    return ok || complain(path, "cannot be read, or is too long");
}

static bool read_payload(const char *path, struct wake *wake)
{
    struct buf bytes = BUF_INIT(LIMIT_OUT_BODY_BYTES);
    struct request request = {0};
    struct err err;

    bool ok = read_file(path, &bytes);
    request.body = buf_slice(&bytes);
    if (ok && !payload_decode(&request, wake, &err))
        ok = complain(path, err.text);
    buf_release(&bytes);
    return ok;
}

/* The wake from the options; its slices point into them and into `ts`. */
static void make_wake(const struct send_options *options, char ts[static CLOCK_ISO_SIZE],
                      struct wake *wake)
{
    static struct conversation conversation = {
        .id = SLICE("conv_example"), .unread = 1, .latest_sender = SLICE("@example-friend")};
    const char *reason = options->reason ? options->reason : "messages";
    bool unread = strcmp(reason, "invite") != 0 && strcmp(reason, "test") != 0;

    wake->ts_ms = clock_wall_ms();
    clock_format_iso(wake->ts_ms, ts);
    wake->version = 1;
    wake->reason = slice_from(reason);
    wake->step = strcmp(reason, "unanswered") == 0 ? 1 : 0;
    wake->handle = slice_from(options->handle ? options->handle : "@example-relay");
    wake->summary = slice_from(options->summary ? options->summary : "AgentChat wake.");
    wake->delivery_id = slice_from(options->delivery_id);
    wake->ts = slice_from(ts);
    wake->test = strcmp(reason, "test") == 0;
    wake->conversations = unread ? &conversation : NULL;
    wake->conversation_count = unread ? 1 : 0;
}

static bool read_volley(const struct send_options *options, struct secret *secret,
                        char ts[static CLOCK_ISO_SIZE], struct volley *volley)
{
    unsigned timeout_s;

    volley->url = options->url;
    volley->ca_file = options->ca_file;
    volley->repeat = options->repeat;
    volley->speech.secret = secret;
    if (!read_number("--count", options->count, MOST_COUNT, 1, &volley->count) ||
        !read_number("--concurrency", options->concurrency, MOST_CONCURRENCY, 1,
                     &volley->concurrency) ||
        !read_number("--timeout", options->timeout, MOST_TIMEOUT_S, 20, &timeout_s))
        return false;
    volley->timeout_ms = (int64_t)timeout_s * 1000;
    if (options->delivery_id && !wake_is_delivery_id(slice_from(options->delivery_id)))
        return complain("--delivery-id", "must be letters, digits, '-' and '_'");
    if (!read_speech(options, volley) ||
        !proof_option_secret("send", options->secret_file, volley->dialect, secret))
        return false;
    if (options->payload)
        return read_payload(options->payload, &volley->wake);
    make_wake(options, ts, &volley->wake);
    return true;
}

int cli_send(int argc, char **argv)
{
    struct send_options options = {0};
    struct volley volley = {0};
    struct secret secret = {0};
    char ts[CLOCK_ISO_SIZE];
    int status = CLI_USAGE;

    if (!read_options(argc, argv, &options))
        return CLI_USAGE;
    if (read_volley(&options, &secret, ts, &volley))
        status = volley_run(&volley) ? CLI_OK : CLI_FAILED;
    if (volley.wake.memory)
        wake_release(&volley.wake);
    secret_release(&secret);
    return status;
}
