/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakegate verify: says of a captured request what the gateway would say: which rule of the proof
 * failed, or what wake it carries. One JSON object on standard output; never a secret, never a
 * digest, whether the captured one or the one that would have been right.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "dialects/dialect.h"
#include "gateway/cli/capture.h"
#include "gateway/cli/cli.h"
#include "gateway/cli/wake_json.h"
#include "gateway/core/clock.h"

enum { DEFAULT_TOLERANCE_S = 300, WELL = 0, NOT_WELL = 1, WRONG_USAGE = 2 };

static const char usage[] =
    "usage: wakegate verify --dialect NAME --secret-file FILE [--secret-file FILE ...]\n"
    "                       [--tolerance SECONDS] [--now UNIX-SECONDS] [REQUEST]\n"
    "REQUEST is a file with a captured HTTP request; without it, or as -, standard input.\n"
    "Exit status: 0 it is genuine and a wake, 1 it is not, 2 wrong usage.\n";

struct options {
    const struct dialect *dialect;
    const char *secret_files[LIMIT_SECRETS];
    size_t secret_count;
    int64_t tolerance_s;
    int64_t now_ms;
    const char *request; /* NULL: standard input */
    bool help;
};

static bool read_number(const char *text, uint64_t most, int64_t *number, struct err *err)
{
    uint64_t value;

    if (!slice_number(slice_from(text), &value) || value > most)
        return err_set(err, "\"%s\" is not a number of seconds", text);
    *number = (int64_t)value;
    return true;
}

static bool read_dialect(struct options *options, const char *name, struct err *err)
{
    options->dialect = dialect_by_name(slice_from(name));
    if (options->dialect)
        return true;
    err_set(err, "there is no dialect \"%.40s\"; there are", name);
    for (size_t i = 0; dialects[i]; i++) {
        struct err so_far = *err;
        err_set(err, "%s%s %s", so_far.text, i > 0 ? "," : "", dialects[i]->name);
    }
    return false;
}

static bool read_option(struct options *options, int letter, struct err *err)
{
    int64_t now_s;

    switch (letter) {
    case 'd':
        return read_dialect(options, optarg, err);
    case 's':
        if (options->secret_count == LIMIT_SECRETS)
            return err_set(err, "more than %d secrets", LIMIT_SECRETS);
        options->secret_files[options->secret_count++] = optarg;
        return true;
    case 't':
        return read_number(optarg, UINT32_MAX, &options->tolerance_s, err);
    case 'n':
        if (!read_number(optarg, INT64_MAX / 1000, &now_s, err))
            return false;
        options->now_ms = now_s * 1000;
        return true;
    case 'h':
        options->help = true;
        return true;
    default:
        return err_set(err, "unknown option, or one without its value");
    }
}

static bool read_options(struct options *options, int argc, char **argv, struct err *err)
{
    static const struct option names[] = {
        {"dialect", required_argument, NULL, 'd'},
        {"secret-file", required_argument, NULL, 's'},
        {"tolerance", required_argument, NULL, 't'},
        {"now", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int letter;

    optind = 1;
    opterr = 0;
    for (;;) {
        letter = getopt_long(argc, argv, "h", names, NULL);
        if (letter == -1)
            break;
        if (!read_option(options, letter, err))
            return false;
    }
    if (options->help)
        return true;
    if (argc - optind > 1)
        return err_set(err, "more than one request");
    options->request = argv[optind];
    if (!options->dialect)
        return err_set(err, "--dialect is missing");
    return options->secret_count > 0 || err_set(err, "--secret-file is missing");
}

/* One trailing newline is the file's, not the secret's. */
static bool read_secret(const struct dialect *dialect, const char *path, struct secret *secret,
                        struct err *err)
{
    struct buf text = BUF_INIT(LIMIT_SECRET_BYTES + 2);
    bool fine = capture_read(path, &text, err);

    if (fine) {
        struct slice value = buf_slice(&text);
        if (slice_ends(value, SLICE("\n")))
            value.len--;
        if (slice_ends(value, SLICE("\r")))
            value.len--;
        fine = (secret_init(secret, value, err) && dialect->secret_fits(secret, err)) ||
               err_wrap(err, "%s", path);
    }
    if (text.data)
        digest_wipe(text.data, text.len);
    buf_release(&text);
    return fine;
}

static bool read_keyring(const struct options *options, struct keyring *keyring, struct err *err)
{
    keyring->secrets = mem_new(options->secret_count * sizeof(struct secret));
    keyring->schemes = ~0u;
    keyring->tolerance_s = options->tolerance_s;
    for (size_t i = 0; i < options->secret_count; i++) {
        keyring->count = i + 1;
        if (!read_secret(options->dialect, options->secret_files[i], &keyring->secrets[i], err))
            return false;
    }
    return true;
}

static void release_keyring(struct keyring *keyring)
{
    for (size_t i = 0; i < keyring->count; i++)
        secret_release(&keyring->secrets[i]);
    free(keyring->secrets);
}

static void put(json_t *object, const char *name, struct slice text)
{
    if (text.len > 0)
        json_object_set_new(object, name, json_stringn(text.data, text.len));
}

static bool report_wake(const struct dialect *dialect, const struct request *request,
                        json_t *report)
{
    struct err err = {.text = ""};
    struct wake wake = {0};

    bool decoded = dialect->decode(request, &wake, &err);
    if (decoded)
        json_object_set_new(report, "wake", wake_json(&wake));
    else
        json_object_set_new(report, "error", json_string(err.text));
    wake_release(&wake);
    return decoded;
}

static bool report_request(const struct options *options, const struct keyring *keyring,
                           const struct request *request, json_t *report)
{
    const struct dialect *dialect = options->dialect;
    struct proven proven = {.secret = 0};
    struct err err = {.text = ""};
    json_t *verify = json_object();

    enum proof proof = dialect->verify(request, keyring, options->now_ms, &proven, &err);
    json_object_set_new(report, "verify", verify);
    put(verify, "result", slice_from(proof_name(proof)));
    if (proof != PROOF_OK) {
        put(verify, "rule", slice_from(err.text));
        return false;
    }
    put(verify, "scheme", slice_from(dialect->schemes[proven.scheme]));
    json_object_set_new(verify, "secret", json_integer(proven.secret));
    json_object_set_new(verify, "replayable", json_boolean(proven.replayable));
    return report_wake(dialect, request, report);
}

static bool verify_capture(const struct options *options, const struct keyring *keyring,
                           struct slice bytes, struct err *err)
{
    struct capture capture;

    if (!capture_parse(&capture, bytes, err))
        return err_wrap(err, "%s", options->request ? options->request : "standard input");
    json_t *report = json_object();
    bool well = report_request(options, keyring, &capture.request, report);
    json_dumpf(report, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(report);
    capture_release(&capture);
    return well;
}

int cli_verify(int argc, char **argv)
{
    struct options options = {.tolerance_s = DEFAULT_TOLERANCE_S, .now_ms = clock_wall_ms()};
    struct buf bytes = BUF_INIT(CAPTURE_BYTES);
    struct keyring keyring = {.count = 0};
    struct err err = {.text = ""};

    if (!read_options(&options, argc, argv, &err)) {
        fprintf(stderr, "wakegate verify: %s\n%s", err.text, usage);
        return WRONG_USAGE;
    }
    if (options.help) {
        fputs(usage, stdout);
        return WELL;
    }
    bool well = read_keyring(&options, &keyring, &err) &&
                capture_read(options.request, &bytes, &err) &&
                verify_capture(&options, &keyring, buf_slice(&bytes), &err);
    if (err.text[0])
        fprintf(stderr, "wakegate verify: %s\n", err.text);
    release_keyring(&keyring);
    buf_release(&bytes);
    return well ? WELL : NOT_WELL;
}
