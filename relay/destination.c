/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/destination.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/metrics.h"
#include "relay/relay_audit.h"

enum { LEAST_LAST_WAIT_MS = 1000 }; /* what the waits of a chain must leave for its last target */

static char *gate_of(const struct route_facts *route, const struct target *target)
{
    struct buf gate = BUF_INIT(2 * LIMIT_NAME_BYTES + 2);

    if (!target->idempotent || target->pace.per_hour > 0)
        buf_appendf(&gate, "%.*s/%s", SLICE_ARG(route->name), target->id);
    char *text = mem_text(buf_slice(&gate));
    buf_release(&gate);
    return text;
}

static void add_leaf(struct destination *destination, const struct route_facts *route,
                     struct target *target)
{
    destination->leaves[destination->leaf_count++] = (struct leaf){
        .target = target,
        .gate = gate_of(route, target),
        .seconds = metrics_histogram(METRIC_TARGET_SECONDS, destination->route, target->id),
    };
}

static struct destination *destination_new(const struct route_facts *route, struct slice id)
{
    struct destination *destination = mem_new(sizeof(*destination));

    destination->references = 1;
    destination->route = mem_text(route->name);
    destination->id = mem_text(id);
    relay_audit_route(destination->route);
    destination->again_ms = route->again_ms;
    destination->gathering.quiet_ms = route->quiet_ms;
    return destination;
}

/* The waits of all targets but the last must leave that one some time. */
static void check_waits(struct settings *chain, const struct destination *destination,
                        int64_t budget_ms)
{
    int64_t waits = 0;

    for (size_t i = 0; i + 1 < destination->leaf_count; i++)
        waits += destination->leaves[i].target->wait_ms;
    if (waits + LEAST_LAST_WAIT_MS > budget_ms)
        settings_mistake(
            chain, "first",
            "the waits add up to %lld ms of the %lld ms that there are; leave the last "
            "target at least %d ms",
            (long long)waits, (long long)budget_ms, LEAST_LAST_WAIT_MS);
}

/* A chain's id: given, "first" for a route's only chain, or made from its first target's id. */
static struct slice chain_id(struct settings *chain, bool alone, const struct target *first,
                             char *made, size_t size)
{
    if (settings_has(chain, "id"))
        return settings_name(chain, "id");
    if (alone)
        return SLICE("first");
    snprintf(made, size, "first-%.*s", LIMIT_NAME_BYTES - 6, first->id);
    return slice_from(made);
}

static struct destination *open_chain(struct settings *chain, const struct route_facts *route,
                                      bool alone, const struct world *world)
{
    char path[SETTINGS_PATH_SIZE], made[LIMIT_NAME_BYTES + 1];
    json_t *list = settings_array(chain, "first");
    struct target *targets[LIMIT_CHILDREN];
    size_t count = 0;

    if (json_array_size(list) == 0 || json_array_size(list) > LIMIT_CHILDREN) {
        settings_mistake(chain, "first", "must be an array of 1 to %d targets", LIMIT_CHILDREN);
        return NULL;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct settings settings;
        snprintf(path, sizeof(path), "%.480s.first[%zu]", chain->path, i);
        settings_begin(&settings, chain->report, path, json_array_get(list, i));
        struct target *target = target_open(&settings, route, world);
        settings_end(&settings);
        if (target)
            targets[count++] = target;
    }
    if (count == 0)
        return NULL;
    struct destination *destination =
        destination_new(route, chain_id(chain, alone, targets[0], made, sizeof(made)));
    for (size_t i = 0; i < count; i++)
        add_leaf(destination, route, targets[i]);
    check_waits(chain, destination, route->budget_ms - route->quiet_ms);
    return destination;
}

/* Only the others of a `first` have a use for what a wait leaves. */
static void check_no_wait(const struct settings *settings, const struct target *target)
{
    char path[SETTINGS_PATH_SIZE];

    snprintf(path, sizeof(path), "%.480s.%s.wait", settings->path, target->kind->name);
    if (target->wait_ms > 0)
        settings_report_mistake(settings->report, path,
                                "means nothing outside a \"first\"; leave it out (\"timeout\" "
                                "limits one delivery)");
}

/* false, after a mistake: it is several things at once. */
static bool check_is_one(struct settings *settings)
{
    static const char *const forms[] = {"trigger", "room", "first", "all"};
    enum { FORMS = sizeof(forms) / sizeof(forms[0]) };
    size_t count = 0;

    for (size_t i = 0; i < FORMS; i++)
        count += json_object_get(settings->object, forms[i]) != NULL;
    if (count < 2)
        return true;
    for (size_t i = 0; i < FORMS; i++)
        settings_has(settings, forms[i]);
    settings_has(settings, "id");
    settings_mistake(
        settings, NULL,
        "is %zu things at once; write one of \"trigger\", \"room\", \"first\", \"all\"", count);
    return false;
}

/* One target, or one chain. */
static void open_child(struct destinations *destinations, struct settings *settings,
                       const struct route_facts *route, bool alone, const struct world *world)
{
    struct destination *destination = NULL;

    if (!check_is_one(settings))
        return;
    if (settings_has(settings, "first")) {
        destination = open_chain(settings, route, alone, world);
    } else {
        struct target *target = target_open(settings, route, world);
        if (target) {
            check_no_wait(settings, target);
            destination = destination_new(route, slice_from(target->id));
            add_leaf(destination, route, target);
        }
    }
    if (destination)
        destinations->child[destinations->count++] = destination;
}

static bool id_is_taken(const struct destinations *destinations, size_t child, size_t leaf)
{
    const char *id = destinations->child[child]->leaves[leaf].target->id;

    for (size_t i = 0; i <= child; i++) {
        const struct destination *destination = destinations->child[i];
        if (destination->leaf_count > 1 && strcmp(destination->id, id) == 0)
            return true;
        size_t end = i == child ? leaf : destination->leaf_count;
        for (size_t j = 0; j < end; j++)
            if (strcmp(destination->leaves[j].target->id, id) == 0)
                return true;
    }
    return false;
}

static void check_ids(struct settings *route_settings, const struct destinations *destinations)
{
    for (size_t i = 0; i < destinations->count; i++)
        for (size_t j = 0; j < destinations->child[i]->leaf_count; j++)
            if (id_is_taken(destinations, i, j))
                settings_mistake(route_settings, "target",
                                 "two targets have the id \"%s\"; give one of them another \"id\"",
                                 destinations->child[i]->leaves[j].target->id);
}

static void open_all(struct destinations *destinations, struct settings *all,
                     const struct route_facts *route, const struct world *world)
{
    char path[SETTINGS_PATH_SIZE];
    json_t *list = settings_array(all, "all");

    if (json_array_size(list) == 0 || json_array_size(list) > LIMIT_CHILDREN) {
        settings_mistake(all, "all", "must be an array of 1 to %d targets", LIMIT_CHILDREN);
        return;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct settings settings;
        snprintf(path, sizeof(path), "%.480s.all[%zu]", all->path, i);
        settings_begin(&settings, all->report, path, json_array_get(list, i));
        open_child(destinations, &settings, route, false, world);
        settings_end(&settings);
    }
}

void destinations_open(struct settings *route_settings, const struct route_facts *route,
                       const struct world *world, struct destinations *destinations)
{
    char path[SETTINGS_PATH_SIZE];
    struct settings settings;
    json_t *object = settings_object(route_settings, "target");

    *destinations = (struct destinations){0};
    if (!object) {
        if (!settings_has(route_settings, "target"))
            settings_mistake(route_settings, "target", "is missing; say where the wakes go");
        return;
    }
    snprintf(path, sizeof(path), "%.480s.target", route_settings->path);
    settings_begin(&settings, route_settings->report, path, object);
    if (!settings_has(&settings, "all"))
        open_child(destinations, &settings, route, true, world);
    else if (check_is_one(&settings))
        open_all(destinations, &settings, route, world);
    settings_end(&settings);
    check_ids(route_settings, destinations);
}

void destinations_release(struct destinations *destinations)
{
    for (size_t i = 0; i < destinations->count; i++)
        destination_drop(destinations->child[i]);
    *destinations = (struct destinations){0};
}

struct destination *destination_hold(struct destination *destination)
{
    destination->references++;
    return destination;
}

void destination_drop(struct destination *destination)
{
    if (--destination->references > 0)
        return;
    for (size_t i = 0; i < destination->leaf_count; i++) {
        target_close(destination->leaves[i].target);
        free(destination->leaves[i].gate);
    }
    free(destination->route);
    free(destination->id);
    free(destination);
}
