/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bucket lets `burst` wakes through at once and `per_hour` in the long run, so at most the sum of
 * both in any hour. Where a runtime counts by the hour or the minute, the two are chosen so that
 * the sum is what it allows.
 */
#include "relay/preset.h"

enum { PRESETS = 6 };

const struct preset presets[PRESETS + 1] = {
    /* 30 fires an hour of one routine */
    {.name = "claude-code", .dialect = "claude-code", .pace = {.per_hour = 27, .burst = 3}},
    /* a run is admitted within 15 s */
    {.name = "openclaw", .dialect = "openclaw", .timeout_ms = 20000},
    /* 30 requests a minute of one route: 10 at once and 20 a minute */
    {.name = "hermes", .dialect = "hermes", .pace = {.per_hour = 1200, .burst = 10}},
    {.name = "poke", .dialect = "poke"},
    /* 30 s apart */
    {.name = "grok-bot", .dialect = "bearer-json", .pace = {.per_hour = 120, .burst = 1}},
    {.name = "grok-automations", .dialect = "standard-webhooks"},
    {.name = NULL},
};

const struct preset *preset_read(struct settings *settings)
{
    const char *names[PRESETS + 1] = {NULL};

    if (!settings_has(settings, "runtime"))
        return NULL;
    for (size_t i = 0; i < PRESETS; i++)
        names[i] = presets[i].name;
    size_t chosen = settings_choice(settings, "runtime", names, PRESETS);
    return chosen < PRESETS ? &presets[chosen] : NULL;
}

const struct dialect *preset_dialect(const struct preset *preset, struct settings *settings)
{
    bool named = settings_has(settings, "dialect");

    if (named || !settings_has(settings, "runtime"))
        return dialect_read(settings);
    return preset ? dialect_by_name(slice_from(preset->dialect)) : NULL; /* reported already */
}
