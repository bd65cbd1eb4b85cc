/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/cli/proof_options.h"

#include <stdio.h>

#include "gateway/core/settings.h"

const struct dialect *proof_option_dialect(const char *command, const char *name)
{
    const struct dialect *dialect = dialect_by_name(slice_from(name));

    if (dialect)
        return dialect;
    fprintf(stderr, "wakegate %s: --dialect must be one of", command);
    for (size_t i = 0; dialects[i]; i++)
        fprintf(stderr, " %s", dialects[i]->name);
    fprintf(stderr, "\n");
    return NULL;
}

bool proof_option_secret(const char *command, const char *path, const struct dialect *dialect,
                         struct secret *secret)
{
    struct settings_report report;
    struct err err;
    char who[32];
    json_t *value = json_pack("{s:s}", "file", path);

    snprintf(who, sizeof(who), "wakegate %s", command);
    settings_report_init(&report, who);
    bool ok = settings_secret_value(&report, "--secret-file", value, secret);
    if (!ok) {
        fputs(buf_text(&report.mistakes), stderr);
    } else if (!dialect->secret_fits(secret, &err)) {
        fprintf(stderr, "%s: --secret-file: %s\n", who, err.text);
        ok = false;
    }
    settings_report_release(&report);
    json_decref(value);
    return ok;
}
