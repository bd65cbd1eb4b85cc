/* SPDX-License-Identifier: Apache-2.0 */
/* The check of the routes: what a wake on each would do, in words, for whoever wants to know before
 * the first one comes. */
#include <stdio.h>

#include "gateway/doctor/checks.h"
#include "gateway/net/url.h"
#include "relay/room/target_room.h"
#include "relay/trigger.h"

enum { TEXT_BYTES = FINDING_BYTES - 1 };

static void add_time(struct buf *text, const char *what, int64_t ms)
{
    if (ms <= 0)
        return;
    if (ms % 60000 == 0)
        buf_appendf(text, ", %s %lldm", what, (long long)(ms / 60000));
    else if (ms % 1000 == 0)
        buf_appendf(text, ", %s %llds", what, (long long)(ms / 1000));
    else
        buf_appendf(text, ", %s %lldms", what, (long long)ms);
}

static void add_trigger(struct buf *text, const struct trigger *trigger)
{
    struct url_parts url;

    const char *variant = trigger->dialect->variants[trigger->speech.variant].name;

    buf_appendf(text, "%s%s%s", trigger->dialect->name, variant ? " " : "", variant ? variant : "");
    if (trigger->url_is_secret || !url_split(slice_from(trigger->url), &url, NULL))
        return;
    buf_appendf(text, " at %.*s", SLICE_ARG(url.host));
    if (url.port.len > 0)
        buf_appendf(text, ":%.*s", SLICE_ARG(url.port));
}

/* Everybody who may take an offer; how many there are. */
static size_t add_takers(struct buf *text, const struct credentials *credentials,
                         const char *thread)
{
    size_t count = 0;

    for (size_t i = 0; i < credentials->count; i++) {
        const struct credential *credential = &credentials->list[i];
        if (!(credential->rights & RIGHT_ANSWER) ||
            !credential_allows(credential, slice_from(thread)))
            continue;
        buf_appendf(text, "%s%s", count > 0 ? ", " : " ", credential->client);
        count++;
    }
    return count;
}

static bool add_room(struct buf *text, const struct config *config, const struct target *target)
{
    bool stored = false;
    const char *thread = target_room_thread(target, &stored);

    buf_appendf(text, "room %s", thread);
    if (stored) {
        buf_appendf(text, ", left there as a message");
        return true;
    }
    buf_appendf(text, ", to be taken by");
    if (add_takers(text, &config->rooms->credentials, thread) > 0)
        return true;
    buf_appendf(text, " nobody");
    return false;
}

/* false: nobody can ever accept it. */
static bool add_target(struct buf *text, const struct config *config, const struct target *target)
{
    bool good = true;

    buf_appendf(text, "%s (", target->id);
    if (target->kind == &target_trigger)
        add_trigger(text, (const struct trigger *)(const void *)target);
    else
        good = add_room(text, config, target);
    add_time(text, "wait", target->wait_ms);
    add_time(text, "timeout", target->timeout_ms);
    if (!target->idempotent)
        add_time(text, "unclear is held", target->hold_ms);
    if (target->pace.per_hour > 0)
        buf_appendf(text, ", %lld an hour, burst %lld", (long long)target->pace.per_hour,
                    (long long)target->pace.burst);
    buf_appendf(text, ")");
    return good;
}

static bool add_destination(struct buf *text, const struct config *config,
                            const struct destination *destination)
{
    bool good = true;

    for (size_t i = 0; i < destination->leaf_count; i++) {
        buf_appendf(text, "%s", i > 0 ? ", else to " : "");
        good = add_target(text, config, destination->leaves[i].target) && good;
    }
    return good;
}

static void check_route(struct doctor *doctor, const struct route *route)
{
    struct buf text = BUF_INIT(TEXT_BYTES);
    bool good = true;

    buf_appendf(&text, "a wake in %s for %s%s goes to ", route->dialect->name,
                route->handle[0] ? route->handle : "any agent",
                route->on_test == ON_TEST_ANSWER ? " (tests are answered here)" : "");
    for (size_t i = 0; i < route->destinations.count; i++) {
        buf_appendf(&text, "%s", i > 0 ? ", and to " : "");
        good = add_destination(&text, doctor->config, route->destinations.child[i]) && good;
    }
    if (good)
        findings_add(&doctor->findings, LEVEL_OK, CHECK_ROUTE, route->name, "%s", buf_text(&text));
    else
        findings_add(&doctor->findings, LEVEL_WARNING, CHECK_ROUTE, route->name,
                     "%s; give a token or \"anonymous\" the right \"answer\" for that thread",
                     buf_text(&text));
    buf_release(&text);
}

void check_routes(struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->config->route_count; i++)
        check_route(doctor, doctor->config->routes[i]);
}
