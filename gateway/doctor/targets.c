/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of the targets: each host and port once, however many triggers go there. Its name is
 * looked up, every address is judged as the gateway judges it, and each that is allowed gets a
 * connection and a TLS handshake, and nothing more: no request, so no run.
 *
 * Where a URL is itself a secret, neither its host nor its addresses are told.
 */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/clock.h"
#include "gateway/core/limits.h"
#include "gateway/doctor/checks.h"
#include "gateway/doctor/visit.h"
#include "gateway/net/url.h"
#include "relay/http_guard.h"
#include "relay/trigger.h"

enum { AT_ONCE = 64, ADDRESSES = 8, SOON_DAYS = 14 };

#define DAY_MS (INT64_C(24) * 3600 * 1000)

struct place { /* one host and port */
    struct survey *survey;
    char *about, *host, *port;
    unsigned more; /* further triggers that go there */
    bool tls, private_too, hidden;
    uv_getaddrinfo_t lookup;
    struct deadline deadline;
    bool late; /* the look-up was given up */
    struct addrinfo *addresses;
    struct http_guard guard;
    struct visit visits[ADDRESSES];
    char texts[ADDRESSES][ADDRESS_TEXT_SIZE];
    size_t visit_count, visiting;
};

struct survey {
    struct doctor *doctor;
    struct place **places;
    size_t count, started, ended;
};

enum level certificate_level(int64_t end_ms, int64_t now_ms)
{
    if (end_ms <= now_ms)
        return LEVEL_PROBLEM;
    return end_ms - now_ms < SOON_DAYS * DAY_MS ? LEVEL_WARNING : LEVEL_OK;
}

/* --- what came of it --- */

static void add(const struct place *place, enum level level, const char *text)
{
    char about[256];

    if (place->more > 0)
        snprintf(about, sizeof(about), "%s and %u more", place->about, place->more);
    else
        snprintf(about, sizeof(about), "%s", place->about);
    if (place->hidden)
        findings_add(&place->survey->doctor->findings, level, CHECK_TARGET, about, "%s", text);
    else
        findings_add(&place->survey->doctor->findings, level, CHECK_TARGET, about, "%s:%s %s",
                     place->host, place->port, text);
}

static const char *advice_for(const struct err *why)
{
    if (strstr(why->text, "certificate"))
        return "renew or correct its certificate, name its authority in \"ca_file\", or correct "
               "the host in \"url\"";
    if (strncmp(why->text, "TLS", 3) == 0)
        return "see that https is spoken on this port";
    return "see that it runs, that the port is right, and that no firewall stands between";
}

static void tell_certificate(const struct place *place, const struct visit *visit)
{
    char text[128], end[CLOCK_ISO_SIZE];

    if (!visit->to.tls || !visit->opened)
        return;
    clock_format_iso(visit->certificate_end_ms, end);
    enum level level = certificate_level(visit->certificate_end_ms, clock_wall_ms());
    if (level == LEVEL_OK)
        return;
    snprintf(text, sizeof(text), "has a certificate that ends on %.10s; renew it", end);
    add(place, level, text);
}

/* The first visit that ended so; NULL: none. */
static const struct visit *first(const struct place *place, bool opened)
{
    for (size_t i = 0; i < place->visit_count; i++)
        if (place->visits[i].opened == opened)
            return &place->visits[i];
    return NULL;
}

/* A machine without IPv6 reaches no such address, and needs none where another answers. */
static bool is_no_way(const struct visit *visit)
{
    return strcmp(visit->why.text, uv_strerror(UV_ENETUNREACH)) == 0 ||
           strcmp(visit->why.text, uv_strerror(UV_EADDRNOTAVAIL)) == 0;
}

static void tell_failure(const struct place *place, const struct visit *visit, bool others)
{
    const char *advice = advice_for(&visit->why);
    char text[FINDING_BYTES];

    if (others && is_no_way(visit))
        return;
    if (others)
        snprintf(text, sizeof(text), "has an address%s%s that does not work: %s; %s",
                 place->hidden ? "" : " ", place->hidden ? "" : visit->to.host, visit->why.text,
                 advice);
    else
        snprintf(text, sizeof(text), "cannot be reached: %s; %s", visit->why.text, advice);
    add(place, others ? LEVEL_WARNING : LEVEL_PROBLEM, text);
}

static void tell_success(const struct place *place, const struct visit *visit)
{
    char text[FINDING_BYTES], end[CLOCK_ISO_SIZE];

    clock_format_iso(visit->certificate_end_ms, end);
    snprintf(text, sizeof(text), "answers%s%s%s%.10s", place->hidden ? "" : " at ",
             place->hidden ? "" : visit->to.host,
             place->tls ? ", with a certificate that is good until " : "", place->tls ? end : "");
    add(place, LEVEL_OK, text);
}

static void tell_refused(const struct place *place, bool others)
{
    bool is_private = place->guard.refused == REACH_PRIVATE;
    char text[FINDING_BYTES];

    if (place->guard.refused == REACH_PUBLIC)
        return;
    snprintf(text, sizeof(text), "has %s address%s%s that is %s and is not used; %s",
             others ? "an" : "no other", place->hidden ? "" : " ",
             place->hidden ? "" : place->guard.address,
             is_private ? "private" : "link-local, reserved or a metadata service",
             is_private ? "set \"private\": true if that is meant"
                        : "correct the name's addresses");
    add(place, others ? LEVEL_WARNING : LEVEL_PROBLEM, text);
}

static void judge(const struct place *place)
{
    const struct visit *good = first(place, true);

    tell_refused(place, place->visit_count > 0);
    if (good) {
        tell_success(place, good);
        tell_certificate(place, good);
    }
    if (first(place, false))
        tell_failure(place, first(place, false), good != NULL);
}

/* --- one place --- */

static void start_next(struct survey *survey);

static void leave(struct place *place)
{
    struct survey *survey = place->survey;

    survey->ended++;
    if (survey->ended == survey->count)
        doctor_end(survey->doctor);
    else
        start_next(survey);
}

static void on_visited(struct visit *visit)
{
    struct place *place = visit->context;

    buf_release(&visit->answer);
    if (--place->visiting > 0)
        return;
    judge(place);
    leave(place);
}

static void begin_visit(struct place *place, const struct addrinfo *address)
{
    size_t index = place->visit_count++;
    struct visit *visit = &place->visits[index];

    address_text(address->ai_addr, place->texts[index]);
    *visit = (struct visit){
        .to = {.host = place->texts[index],
               .port = place->port,
               .name = place->host,
               .tls = place->tls,
               .files = {.ca_file = place->survey->doctor->config->ca_file}},
        .done = on_visited,
        .context = place,
    };
    place->visiting++;
    visit_start(&place->survey->doctor->loop, visit);
}

static void on_deadline_closed(struct deadline *deadline)
{
    struct place *place = CONTAINER_OF(deadline, struct place, deadline);

    for (const struct addrinfo *address = place->addresses;
         address && place->visit_count < ADDRESSES; address = address->ai_next)
        if (http_guard_allows(&place->guard, address->ai_addr))
            begin_visit(place, address);
    uv_freeaddrinfo(place->addresses);
    place->addresses = NULL;
    if (place->visiting > 0)
        return;
    judge(place);
    leave(place);
}

static void on_late(struct deadline *deadline)
{
    struct place *place = CONTAINER_OF(deadline, struct place, deadline);

    place->late = true;
    add(place, LEVEL_PROBLEM, "has a name that is not resolved in time; see that DNS works here");
    deadline_close(deadline, on_deadline_closed);
}

static void tell_unknown(const struct place *place, int status)
{
    char text[FINDING_BYTES];

    snprintf(text, sizeof(text),
             "has a name that does not resolve: %s; correct the host in \"url\", or see that DNS "
             "works here",
             uv_strerror(status));
    add(place, LEVEL_PROBLEM, text);
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *addresses)
{
    struct place *place = CONTAINER_OF(request, struct place, lookup);

    if (place->late) {
        uv_freeaddrinfo(addresses);
        return;
    }
    place->addresses = addresses;
    if (status < 0)
        tell_unknown(place, status);
    deadline_close(&place->deadline, on_deadline_closed);
}

static void start(struct place *place)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    uv_loop_t *loop = &place->survey->doctor->loop;

    place->guard = (struct http_guard){.private_too = place->private_too};
    deadline_open(&place->deadline, loop, on_late);
    deadline_set(&place->deadline, DOCTOR_CONNECT_MS);
    int status =
        uv_getaddrinfo(loop, &place->lookup, on_resolved, place->host, place->port, &hints);
    if (status == 0)
        return;
    tell_unknown(place, status);
    deadline_close(&place->deadline, on_deadline_closed);
}

static void start_next(struct survey *survey)
{
    if (survey->started < survey->count)
        start(survey->places[survey->started++]);
}

/* --- all places --- */

static struct place *same_place(const struct survey *survey, const struct place *place)
{
    for (size_t i = 0; i < survey->count; i++) {
        struct place *other = survey->places[i];
        if (strcmp(other->host, place->host) == 0 && strcmp(other->port, place->port) == 0 &&
            other->tls == place->tls && other->private_too == place->private_too &&
            other->hidden == place->hidden)
            return other;
    }
    return NULL;
}

static void place_free(struct place *place)
{
    free(place->about);
    free(place->host);
    free(place->port);
    free(place);
}

static void gather(struct survey *survey, const struct route *route, const struct trigger *trigger)
{
    struct url_parts url;
    char about[2 * LIMIT_NAME_BYTES + 2];

    if (!url_split(slice_from(trigger->url), &url, NULL))
        return; /* a mistake of the config */
    struct place *place = mem_new(sizeof(*place));
    snprintf(about, sizeof(about), "%s/%s", route->name, trigger->target.id);
    if (slice_starts(url.host, SLICE("[")))
        url.host = slice_first(slice_from_at(url.host, 1), url.host.len - 2);
    if (url.port.len == 0)
        url.port = url.tls ? SLICE("443") : SLICE("80");
    *place = (struct place){.survey = survey,
                            .about = mem_text(slice_from(about)),
                            .host = mem_text(url.host),
                            .port = mem_text(url.port),
                            .tls = url.tls,
                            .private_too = trigger->private_too,
                            .hidden = trigger->url_is_secret};
    struct place *same = same_place(survey, place);
    if (same) {
        same->more++;
        place_free(place);
        return;
    }
    survey->places = mem_grow(survey->places, (survey->count + 1) * sizeof(struct place *));
    survey->places[survey->count++] = place;
}

static void gather_route(struct survey *survey, const struct route *route)
{
    for (size_t i = 0; i < route->destinations.count; i++) {
        const struct destination *destination = route->destinations.child[i];
        for (size_t j = 0; j < destination->leaf_count; j++) {
            const struct target *target = destination->leaves[j].target;
            if (target->kind == &target_trigger)
                gather(survey, route, (const struct trigger *)(const void *)target);
        }
    }
}

void check_targets(struct doctor *doctor)
{
    struct survey *survey = mem_new(sizeof(*survey));

    survey->doctor = doctor;
    doctor->survey = survey;
    for (size_t i = 0; i < doctor->config->route_count; i++)
        gather_route(survey, doctor->config->routes[i]);
    if (survey->count == 0)
        return;
    doctor_begin(doctor);
    for (size_t i = 0; i < AT_ONCE; i++)
        start_next(survey);
}

void check_targets_free(struct doctor *doctor)
{
    struct survey *survey = doctor->survey;

    for (size_t i = 0; i < survey->count; i++)
        place_free(survey->places[i]);
    free(survey->places);
    free(survey);
}
