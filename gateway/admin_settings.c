/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/admin_settings.h"

#include <stdlib.h>

#include "dialects/bearer.h"
#include "gateway/core/limits.h"

#define DAY_MS INT64_C(86400000)

enum { TOKEN_LEAST = 16, KEPT = 10000, KEPT_LEAST = 100, KEPT_MOST = 100000 };

static void read_token(struct settings *settings, const char *key, json_t *value,
                       struct keyring *tokens)
{
    char path[SETTINGS_PATH_SIZE];
    struct secret token;
    struct err err;

    settings_path(settings, key, path);
    if (!settings_secret_value(settings->report, path, value, &token))
        return;
    tokens->secrets[tokens->count++] = token;
    if (!bearer_secret_fits(&token, &err))
        settings_report_mistake(settings->report, path, "%s; give another one", err.text);
    else if (token.text.len < TOKEN_LEAST)
        settings_report_mistake(settings->report, path,
                                "has less than %d characters; make one with openssl rand -hex 32",
                                TOKEN_LEAST);
}

/* One secret, or an array of them. */
static void read_tokens(struct settings *settings, struct keyring *tokens)
{
    char key[48];

    if (!settings_has(settings, "admin_token"))
        return;
    json_t *value = json_object_get(settings->object, "admin_token");
    tokens->secrets = mem_new(LIMIT_SECRETS * sizeof(struct secret));
    if (!json_is_array(value)) {
        read_token(settings, "admin_token", value, tokens);
        return;
    }
    if (json_array_size(value) == 0 || json_array_size(value) > LIMIT_SECRETS) {
        settings_mistake(settings, "admin_token", "must have 1 to %d tokens", LIMIT_SECRETS);
        return;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        snprintf(key, sizeof(key), "admin_token[%zu]", i);
        read_token(settings, key, json_array_get(value, i), tokens);
    }
}

/* true, false, or an object with its bounds. */
static void read_journal(struct settings *settings, struct journal_settings *journal)
{
    char path[SETTINGS_PATH_SIZE];
    struct settings bounds = {0};
    json_t *value = NULL;

    if (settings_has(settings, "journal"))
        value = json_object_get(settings->object, "journal");
    settings_path(settings, "journal", path);
    if (value && !json_is_object(value))
        journal->on = settings_bool(settings, "journal", true);
    else
        journal->on = true;
    if (json_is_object(value))
        settings_begin(&bounds, settings->report, path, value);
    journal->kept = (unsigned)settings_number(&bounds, "kept", KEPT, KEPT_LEAST, KEPT_MOST);
    journal->kept_ms = settings_duration(&bounds, "kept_for", 7 * DAY_MS, 60000, 366 * DAY_MS);
    settings_end(&bounds);
}

void admin_settings_read(struct settings *settings, struct admin_settings *admin)
{
    read_tokens(settings, &admin->tokens);
    read_journal(settings, &admin->journal);
}

void admin_settings_release(struct admin_settings *admin)
{
    for (size_t i = 0; i < admin->tokens.count; i++)
        secret_release(&admin->tokens.secrets[i]);
    free(admin->tokens.secrets);
    admin->tokens = (struct keyring){0};
}
