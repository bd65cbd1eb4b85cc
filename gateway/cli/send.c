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
#include "gateway/cli/volley.h"
#include "gateway/core/clock.h"
#include "gateway/core/settings.h"

static const char usage[] =
    "usage: wakegate send --dialect NAME --secret-file FILE --url URL [options]\n"
    "  --reason WORD         messages, reminder, invite, unanswered or test (messages)\n"
    "  --handle @NAME        whom the wake is for (@example-relay)\n"
    "  --summary TEXT        its one line\n"
    "  --delivery-id ID      the same for all; without it each wake has a fresh one\n"
    "  --repeat              one fresh id for all\n"
    "  --payload FILE        send this payload, byte for byte\n"
    "  --variant NAME        which of the runtime's triggers\n"
    "  --scheme NAME         which of the dialect's proofs\n"
    "  --count N             so many wakes (1)\n"
    "  --concurrency N       so many at once (1)\n"
    "  --timeout SECONDS     for each answer (20)\n"
    "  --ca-file FILE        certificates to trust, instead of the system's\n"
    "Prints a line of JSON for each answer. Exit 0: every answer was 2xx.\n";

enum { MOST_CONCURRENCY = 1000, MOST_COUNT = 100000000, MOST_TIMEOUT_S = 600, VARIANTS = 8 };

struct send_options {
    const char *dialect, *secret_file, *url, *reason, *handle, *summary, *delivery_id, *payload;
    const char *variant, *scheme, *count, *concurrency, *timeout, *ca_file;
    bool repeat, help;
};

static bool complain(const char *what, const char *why)
{
    fprintf(stderr, "wakegate send: %s: %s\n", what, why);
    return false;
}

/* The place of an option's value; NULL: there is no such option. */
static const char **option_place(struct send_options *options, struct slice name)
{
    const struct {
        const char *name;
        const char **value;
    } table[] = {
        {"--dialect", &options->dialect},
        {"--secret-file", &options->secret_file},
        {"--url", &options->url},
        {"--reason", &options->reason},
        {"--handle", &options->handle},
        {"--summary", &options->summary},
        {"--delivery-id", &options->delivery_id},
        {"--payload", &options->payload},
        {"--variant", &options->variant},
        {"--scheme", &options->scheme},
        {"--count", &options->count},
        {"--concurrency", &options->concurrency},
        {"--timeout", &options->timeout},
        {"--ca-file", &options->ca_file},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (slice_eq(name, slice_from(table[i].name)))
            return table[i].value;
    return NULL;
}

/* "--name value" and "--name=value". */
static bool read_options(int argc, char **argv, struct send_options *options)
{
    for (int i = 1; i < argc; i++) {
        struct slice name, value;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            options->help = true;
            return true;
        }
        if (strcmp(argv[i], "--repeat") == 0) {
            options->repeat = true;
            continue;
        }
        bool joined = slice_cut(slice_from(argv[i]), '=', &name, &value);
        const char **place = option_place(options, name);
        if (!place)
            return complain(argv[i], "no such option");
        if (!joined && i + 1 == argc)
            return complain(argv[i], "needs a value");
        *place = joined ? argv[i] + name.len + 1 : argv[++i];
    }
    if (!options->dialect || !options->secret_file || !options->url)
        return complain("--dialect, --secret-file, --url", "are needed");
    if (options->payload && (options->delivery_id || options->repeat))
        return complain("--payload", "brings its own delivery_id");
    return true;
}

static bool read_number(const char *option, const char *text, unsigned most, unsigned fallback,
                        unsigned *number)
{
    uint64_t value = fallback;

    if (text && (!slice_number(slice_from(text), &value) || value == 0 || value > most)) {
        fprintf(stderr, "wakegate send: %s: must be a number from 1 to %u\n", option, most);
        return false;
    }
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

    volley->dialect = dialect_by_name(slice_from(options->dialect));
    if (!volley->dialect) {
        fprintf(stderr, "wakegate send: --dialect: must be one of");
        for (size_t i = 0; dialects[i]; i++)
            fprintf(stderr, " %s", dialects[i]->name);
        fprintf(stderr, "\n");
        return false;
    }
    for (size_t i = 0; i < volley->dialect->variant_count && i < VARIANTS; i++)
        names[i] = volley->dialect->variants[i].name;
    return read_choice("--variant", options->variant, names, &volley->speech.variant) &&
           read_choice("--scheme", options->scheme, volley->dialect->schemes,
                       &volley->speech.scheme);
}

/* As the config reads one, so that the same file serves both. */
static bool read_secret(const char *path, const struct dialect *dialect, struct secret *secret)
{
    struct settings_report report;
    struct err err;
    json_t *value = json_pack("{s:s}", "file", path);

    settings_report_init(&report, "wakegate send");
    bool ok = settings_secret_value(&report, "--secret-file", value, secret);
    if (!ok)
        fputs(buf_text(&report.mistakes), stderr);
    else if (!dialect->secret_fits(secret, &err))
        ok = complain("--secret-file", err.text);
    settings_report_release(&report);
    json_decref(value);
    return ok;
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
        !read_secret(options->secret_file, volley->dialect, secret))
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
    int status = 2;

    if (!read_options(argc, argv, &options)) {
        fputs(usage, stderr);
        return 2;
    }
    if (options.help) {
        fputs(usage, stdout);
        return 0;
    }
    if (read_volley(&options, &secret, ts, &volley))
        status = volley_run(&volley) ? 0 : 1;
    if (volley.wake.memory)
        wake_release(&volley.wake);
    secret_release(&secret);
    return status;
}
