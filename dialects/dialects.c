/* SPDX-License-Identifier: Apache-2.0 */
/* The table of dialects, and the names of what they say. */
#include "dialects/dialect.h"

extern const struct dialect dialect_agentchat, dialect_claude_code, dialect_openclaw,
    dialect_hermes, dialect_poke, dialect_standard_webhooks, dialect_bearer_json;

const struct dialect *const dialects[] = {
    &dialect_agentchat, &dialect_claude_code,       &dialect_openclaw,    &dialect_hermes,
    &dialect_poke,      &dialect_standard_webhooks, &dialect_bearer_json, NULL,
};

const struct dialect *dialect_by_name(struct slice name)
{
    for (size_t i = 0; dialects[i]; i++)
        if (slice_eq(slice_from(dialects[i]->name), name))
            return dialects[i];
    return NULL;
}

const char *dialect_secret_doubt(const struct dialect *dialect, const struct secret *secret)
{
    if (!dialect->reads_base64 || secret->prefixed || !secret->decoded)
        return NULL;
    return "the secret is read as base64, though it could be meant as text; write whsec_ before it "
           "to be sure";
}

const char *proof_name(enum proof proof)
{
    static const char *const names[] = {
        [PROOF_OK] = "ok",       [PROOF_MISSING] = "missing", [PROOF_MALFORMED] = "malformed",
        [PROOF_STALE] = "stale", [PROOF_WRONG] = "wrong",
    };

    return names[proof];
}

const struct dialect *dialect_read(struct settings *settings)
{
    enum { COUNT = sizeof(dialects) / sizeof(dialects[0]) - 1 };
    const char *names[COUNT + 1] = {NULL};

    for (size_t i = 0; i < COUNT; i++)
        names[i] = dialects[i]->name;
    size_t chosen = settings_required_choice(settings, "dialect", names);
    return chosen < COUNT ? dialects[chosen] : NULL;
}
