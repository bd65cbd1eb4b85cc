/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakegate verify: says of a captured request what the gateway would say: which rule of the proof
 * failed, or what wake it carries. One JSON object on standard output; never a secret, never a
 * digest, whether the captured one or the one that would have been right.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "dialects/dialect.h"
#include "gateway/cli/capture.h"
#include "gateway/cli/cli.h"
#include "gateway/cli/options.h"
#include "gateway/cli/proof_options.h"
#include "gateway/cli/wake_json.h"
#include "gateway/core/clock.h"

enum { DEFAULT_TOLERANCE_S = 300 };

static const long long most_seconds = INT64_MAX / 1000;

struct verify_options {
    const struct dialect *dialect;
    const char *secret_files[LIMIT_SECRETS];
    size_t secret_count;
    int64_t tolerance_s;
    int64_t now_ms;
    const char *request; /* NULL: standard input */
};

static bool read_options(int argc, char **argv, struct verify_options *options)
{
    const char *dialect = NULL, *tolerance = NULL, *now = NULL;
    long long tolerance_s, now_s;
    const struct option_row rows[] = {
        {.name = "--dialect", .values = &dialect, .required = true},
        {.name = "--secret-file",
         .values = options->secret_files,
         .max = LIMIT_SECRETS,
         .count = &options->secret_count,
         .required = true},
        {.name = "--tolerance", .values = &tolerance},
        {.name = "--now", .values = &now},
        {.values = &options->request},
    };

    if (!options_read(argc, argv, rows, sizeof(rows) / sizeof(rows[0])))
        return false;
    options->dialect = proof_option_dialect("verify", dialect);
    if (!options->dialect ||
        !options_number("verify", "--tolerance", tolerance, DEFAULT_TOLERANCE_S, 0, UINT32_MAX,
                        &tolerance_s) ||
        !options_number("verify", "--now", now, clock_wall_ms() / 1000, 0, most_seconds, &now_s))
        return false;
    options->tolerance_s = tolerance_s;
    options->now_ms = now_s * 1000;
    return true;
}

static bool read_keyring(const struct verify_options *options, struct keyring *keyring)
{
    keyring->secrets = mem_new(options->secret_count * sizeof(struct secret));
    keyring->schemes = ~0u;
    keyring->tolerance_s = options->tolerance_s;
    for (size_t i = 0; i < options->secret_count; i++) {
        keyring->count = i + 1;
        if (!proof_option_secret("verify", options->secret_files[i], options->dialect,
                                 &keyring->secrets[i]))
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

static bool report_request(const struct verify_options *options, const struct keyring *keyring,
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

static bool verify_capture(const struct verify_options *options, const struct keyring *keyring,
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
    struct verify_options options = {0};
    struct buf bytes = BUF_INIT(CAPTURE_BYTES);
    struct keyring keyring = {0};
    struct err err = {0};

    if (!read_options(argc, argv, &options))
        return CLI_USAGE;
    bool well = read_keyring(&options, &keyring) && capture_read(options.request, &bytes, &err) &&
                verify_capture(&options, &keyring, buf_slice(&bytes), &err);
    if (err.text[0])
        fprintf(stderr, "wakegate verify: %s\n", err.text);
    release_keyring(&keyring);
    buf_release(&bytes);
    return well ? CLI_OK : CLI_FAILED;
}
