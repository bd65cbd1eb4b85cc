/* SPDX-License-Identifier: Apache-2.0 */
/* The check of what the config's own reading warned of, and of variables that other programs heed:
 * wakegate takes no proxy from them, and trusts no certificates that they name. */
#include <stdlib.h>
#include <string.h>

#include "gateway/doctor/checks.h"

void check_config(struct doctor *doctor)
{
    struct slice lines = buf_slice(&doctor->report->warnings), line;

    findings_add(&doctor->findings, LEVEL_OK, CHECK_CONFIG, doctor->report->file,
                 "%zu route%s, no mistakes", doctor->config->route_count,
                 doctor->config->route_count == 1 ? "" : "s");
    while (slice_cut(lines, '\n', &line, &lines)) {
        size_t name = strlen(doctor->report->file) + 2; /* "<file>: " */
        line = slice_from_at(line, line.len > name ? name : 0);
        findings_add(&doctor->findings, LEVEL_WARNING, CHECK_CONFIG, doctor->report->file, "%.*s",
                     SLICE_ARG(line));
    }
}

/* In both spellings, as curl has them. */
static const char *const proxies[] = {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY",
                                      "http_proxy",  "ALL_PROXY",   "all_proxy"};

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && value[0];
}

void check_environment(struct doctor *doctor)
{
    struct findings *findings = &doctor->findings;
    size_t found = findings->count;

    for (size_t i = 0; i < sizeof(proxies) / sizeof(proxies[0]); i++)
        if (is_set(proxies[i]))
            findings_add(findings, LEVEL_WARNING, CHECK_ENVIRONMENT, proxies[i],
                         "is set, and no proxy is ever used; see that targets are reached "
                         "directly");
    if (is_set("SSL_CERT_FILE") || is_set("SSL_CERT_DIR"))
        findings_add(findings, LEVEL_WARNING, CHECK_ENVIRONMENT,
                     is_set("SSL_CERT_FILE") ? "SSL_CERT_FILE" : "SSL_CERT_DIR",
                     "is set, and requests to targets trust no certificates that it names, though "
                     "this check does; name them as \"ca_file\"");
    if (findings->count == found)
        findings_add(findings, LEVEL_OK, CHECK_ENVIRONMENT, "",
                     "no variable is set that other programs would heed and wakegate does not");
}
