/* SPDX-License-Identifier: Apache-2.0 */
/* route: read from its part of the config, counted from then on. */
#include "gateway/route.h"

#include <stdlib.h>

#include "gateway/core/limits.h"

enum { TOLERANCE_MS = 300 * 1000, MOST_TOLERANCE_MS = 3600 * 1000 };
enum { LEAST_AGAIN_MS = 60 * 1000, MOST_AGAIN_MS = 24 * 3600 * 1000 }; /* a cycle lives a day */

static const char *const on_test_names[] = {"relay", "answer", NULL};

/* "@name"; text dialects carry no handle, so only the others miss one. */
static struct slice read_handle(struct settings *settings, const struct dialect *dialect)
{
    struct slice handle = settings_string(settings, "handle", "");
    bool good = slice_starts(handle, SLICE("@")) && handle.len <= LIMIT_NAME_BYTES + 1 &&
                slice_is_visible(handle) && !slice_starts(slice_from_at(handle, 1), SLICE("@"));

    if (settings_has(settings, "handle") && (!good || handle.len < 2))
        settings_mistake(settings, "handle",
                         "is not a handle; write for example \"@example-agent\"");
    else if (!settings_has(settings, "handle") && dialect && !dialect->carries_text)
        settings_warning(settings, NULL,
                         "has no handle, so a wake for any agent passes; add for example "
                         "\"handle\": \"@example-agent\"");
    return handle;
}

static void read_secret(struct settings *settings, const struct dialect *dialect, size_t index,
                        json_t *value, struct keyring *keyring)
{
    char key[32], path[SETTINGS_PATH_SIZE];
    struct secret secret;
    struct err err;

    snprintf(key, sizeof(key), "secrets[%zu]", index);
    settings_path(settings, key, path);
    if (!settings_secret_value(settings->report, path, value, &secret))
        return;
    keyring->secrets[keyring->count++] = secret;
    if (!dialect)
        return;
    const char *doubt = dialect_secret_doubt(dialect, &secret);
    if (!dialect->secret_fits(&secret, &err))
        settings_report_mistake(settings->report, path, "%s; give one that fits the dialect %s",
                                err.text, dialect->name);
    else if (doubt)
        settings_report_warning(settings->report, path, "%s", doubt);
}

static void read_secrets(struct settings *settings, const struct dialect *dialect,
                         struct keyring *keyring)
{
    json_t *array = settings_array(settings, "secrets");
    size_t count = json_array_size(array);

    keyring->secrets = mem_new(LIMIT_SECRETS * sizeof(struct secret));
    if (!settings_has(settings, "secrets"))
        settings_mistake(settings, "secrets",
                         "is missing; write for example [{\"env\": \"NAME\"}]");
    else if (array && count == 0)
        settings_mistake(settings, "secrets", "is empty; write for example [{\"env\": \"NAME\"}]");
    if (count > LIMIT_SECRETS)
        settings_mistake(settings, "secrets", "has %zu secrets; write at most %d", count,
                         LIMIT_SECRETS);
    for (size_t i = 0; i < count && i < LIMIT_SECRETS; i++)
        read_secret(settings, dialect, i, json_array_get(array, i), keyring);
}

static unsigned scheme_bit(struct settings *settings, const char *const *schemes,
                           const json_t *value)
{
    struct slice name = {.data = json_string_value(value), .len = json_string_length(value)};
    size_t count = 0;

    if (!json_is_string(value)) {
        settings_mistake(settings, "schemes",
                         "must hold strings alone; write each in double quotes");
        return 0;
    }
    for (; schemes[count]; count++)
        if (slice_eq(name, slice_from(schemes[count])))
            return 1U << count;
    settings_not_one_of(settings, "schemes", "has", name, schemes);
    return 0;
}

static unsigned read_schemes(struct settings *settings, const struct dialect *dialect)
{
    const json_t *array = settings_array(settings, "schemes");
    const json_t *value;
    size_t index;
    unsigned bits = 0;

    if (!array || !dialect)
        return ~0U;
    if (json_array_size(array) == 0)
        settings_mistake(settings, "schemes", "is empty; name a scheme, or leave it out for all");
    json_array_foreach (array, index, value)
        bits |= scheme_bit(settings, dialect->schemes, value);
    return bits;
}

static struct slice read_prompt(struct settings *settings)
{
    struct slice prompt = settings_string(settings, "prompt", "");

    if (prompt.len > LIMIT_PROMPT_BYTES)
        settings_mistake(settings, "prompt", "has %zu bytes; write at most %d", prompt.len,
                         LIMIT_PROMPT_BYTES);
    return prompt;
}

/* A wake that waits for others must have time for its own way afterwards. */
static int64_t read_quiet(struct settings *settings, int64_t budget_ms)
{
    return settings_duration(settings, "quiet", 0, 0, budget_ms / 2);
}

static int64_t read_again(struct settings *settings)
{
    int64_t again_ms = settings_duration(settings, "again_after", 0, 0, MOST_AGAIN_MS);

    if (again_ms > 0 && again_ms < LEAST_AGAIN_MS)
        settings_mistake(settings, "again_after",
                         "is under a minute, so a retry would start a second run; write for "
                         "example \"30m\", or 0 for never");
    return again_ms;
}

/* What only the payload's fields can tell, which need not stand beside a text. */
static void warn_of_text(struct settings *settings, const struct dialect *dialect)
{
    if (!dialect || !dialect->carries_text)
        return;
    if (settings_has(settings, "handle"))
        settings_warning(settings, "handle",
                         "a wake of the dialect %s names no agent, unless the payload's fields "
                         "stand beside its text, so any may pass; give the route a secret of its "
                         "own",
                         dialect->name);
    if (settings_has(settings, "on_test"))
        settings_warning(settings, "on_test",
                         "a wake of the dialect %s does not say that it is a test, unless the "
                         "payload's fields stand beside its text; expect that tests are relayed",
                         dialect->name);
}

struct route *route_open(struct settings *settings, const struct route_place *place,
                         const struct world *world)
{
    struct route *route = mem_new(sizeof(*route));

    route->references = 1;
    route->counts = mem_new(sizeof(*route->counts));
    route->name = mem_text(place->name);
    route->dialect = dialect_read(settings);
    route->handle = mem_text(read_handle(settings, route->dialect));
    read_secrets(settings, route->dialect, &route->keyring);
    route->keyring.schemes = read_schemes(settings, route->dialect);
    route->keyring.tolerance_s =
        settings_duration(settings, "tolerance", TOLERANCE_MS, 1000, MOST_TOLERANCE_MS) / 1000;
    route->on_test =
        (enum on_test)settings_choice(settings, "on_test", on_test_names, ON_TEST_RELAY);
    route->rewake = settings_bool(settings, "rewake", true);
    warn_of_text(settings, route->dialect);
    const struct route_facts facts = {.name = place->name,
                                      .handle = slice_from(route->handle),
                                      .prompt = read_prompt(settings),
                                      .budget_ms = place->budget_ms,
                                      .quiet_ms = read_quiet(settings, place->budget_ms),
                                      .again_ms = read_again(settings),
                                      .rooms = place->rooms};
    destinations_open(settings, &facts, world, &route->destinations);
    settings_end(settings);
    return route;
}

struct route *route_hold(struct route *route)
{
    route->references++;
    return route;
}

void route_drop(struct route *route)
{
    if (!route || --route->references > 0)
        return;
    for (size_t i = 0; i < route->keyring.count; i++)
        secret_release(&route->keyring.secrets[i]);
    free(route->keyring.secrets);
    destinations_release(&route->destinations);
    free(route->handle);
    free(route->counts);
    free(route->name);
    free(route);
}
