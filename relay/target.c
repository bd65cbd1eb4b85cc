/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kinds, the settings that every kind has, and the dispatch to one. */
#include "relay/target.h"

#include <stdlib.h>

#include "gateway/core/limits.h"

enum {
    DEFAULT_HOLD_MS = 4 * 60 * 1000, /* past the sender's 1-minute retry, before its 5-minute one */
    LEAST_HOLD_MS = 1000,
    MOST_HOLD_MS = 60 * 60 * 1000,
    LEAST_WAIT_MS = 100,
    MOST_WAIT_MS = 60 * 1000,
    DEFAULT_TIMEOUT_MS = 20 * 1000, /* OpenClaw takes up to 15 s to admit a run */
    LEAST_TIMEOUT_MS = 100,
    MOST_TIMEOUT_MS = 2 * 60 * 1000,
    MOST_PER_HOUR = 100000
};

static const struct target_kind *const kinds[] = {&target_trigger, &target_room};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* The kind that the object names with one of its keys. The keys that are none are reported where
 * the cursor ends. */
static const struct target_kind *read_kind(struct settings *settings)
{
    const struct target_kind *found = NULL;

    for (size_t i = 0; i < KINDS; i++) {
        if (!settings_has(settings, kinds[i]->name))
            continue;
        if (found)
            settings_mistake(settings, kinds[i]->name, "stands beside \"%s\"; name one kind",
                             found->name);
        found = kinds[i];
    }
    if (settings->object && json_object_size(settings->object) == 0)
        settings_mistake(settings, NULL, "is empty; name a kind of target, as {\"%s\": {...}}",
                         kinds[0]->name);
    return found;
}

static struct pace read_pace(struct settings *settings)
{
    char path[SETTINGS_PATH_SIZE];
    struct settings inner;
    json_t *object = settings_object(settings, "pace");

    if (!object)
        return (struct pace){0};
    settings_path(settings, "pace", path);
    settings_begin(&inner, settings->report, path, object);
    struct pace pace = {
        .per_hour = settings_number(&inner, "per_hour", 0, 1, MOST_PER_HOUR),
        .burst = settings_number(&inner, "burst", 1, 1, MOST_PER_HOUR),
    };
    if (!settings_has(&inner, "per_hour"))
        settings_mistake(&inner, "per_hour", "is missing; say how many wakes an hour may bring");
    settings_end(&inner);
    return pace;
}

/* What every kind has; the id is empty where none is given. */
static struct slice read_common(struct settings *settings, struct target *common)
{
    common->wait_ms = settings_duration(settings, "wait", 0, LEAST_WAIT_MS, MOST_WAIT_MS);
    common->hold_ms =
        settings_duration(settings, "hold", DEFAULT_HOLD_MS, LEAST_HOLD_MS, MOST_HOLD_MS);
    common->timeout_ms = settings_duration(settings, "timeout", DEFAULT_TIMEOUT_MS,
                                           LEAST_TIMEOUT_MS, MOST_TIMEOUT_MS);
    common->pace = read_pace(settings);
    if (!settings_has(settings, "id"))
        return (struct slice){0};
    return settings_name(settings, "id");
}

static struct target *open_kind(const struct target_kind *kind, struct settings *settings,
                                const struct route_facts *route, const struct world *world)
{
    struct target common = {0};
    struct slice id = read_common(settings, &common);
    struct target *target = kind->open(settings, route, world);

    if (!target)
        return NULL;
    target->kind = kind;
    target->wait_ms = common.wait_ms;
    if (settings_has(settings, "hold") || target->hold_ms == 0)
        target->hold_ms = common.hold_ms;
    if (settings_has(settings, "timeout") || target->timeout_ms == 0)
        target->timeout_ms = common.timeout_ms;
    if (settings_has(settings, "pace"))
        target->pace = common.pace;
    if (id.len > 0) {
        free(target->id);
        target->id = mem_text(id);
    }
    return target;
}

struct target *target_open(struct settings *settings, const struct route_facts *route,
                           const struct world *world)
{
    const struct target_kind *kind = read_kind(settings);
    char path[SETTINGS_PATH_SIZE];
    struct settings inner;

    if (!kind)
        return NULL;
    json_t *object = settings_object(settings, kind->name);
    if (!object)
        return NULL;
    unsigned mistakes = settings->report->mistake_count;
    settings_path(settings, kind->name, path);
    settings_begin(&inner, settings->report, path, object);
    struct target *target = open_kind(kind, &inner, route, world);
    settings_end(&inner);
    if (settings->report->mistake_count == mistakes)
        return target;
    target_close(target);
    return NULL;
}

void target_close(struct target *target)
{
    if (!target)
        return;
    free(target->id);
    target->kind->close(target);
}

void target_deliver(struct target *target, struct delivery *delivery, const struct wake *wake,
                    struct slice key, void (*done)(struct op *op))
{
    delivery->wake = wake;
    delivery->key = key;
    delivery->outcome = (struct outcome){0};
    delivery->work = NULL;
    op_begin(&delivery->op, done);
    target->kind->deliver(target, delivery);
}

void target_cancel(struct target *target, struct delivery *delivery)
{
    target->kind->cancel(target, delivery);
}

bool target_is_unsent(const struct target *target, const struct delivery *delivery)
{
    return target->kind->is_unsent && target->kind->is_unsent(delivery);
}
