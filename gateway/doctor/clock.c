/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of the clock. A signed request that is older or newer than a route's tolerance is
 * refused, so a wrong clock refuses every wake; AgentChat's clock is the one that counts. The store
 * measures its leases with its own, so that one may differ, and only tells that one of the two is
 * wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "gateway/core/clock.h"
#include "gateway/doctor/checks.h"
#include "gateway/doctor/visit.h"
#include "gateway/net/url.h"

enum { UNSUSPICIOUS_MS = 10 * 1000 };

struct asking {
    struct visit visit;
    struct doctor *doctor;
    char *host, *port;
};

enum level clock_level(int64_t off_ms, int64_t tolerance_ms)
{
    int64_t size = off_ms < 0 ? -off_ms : off_ms;

    if (size >= tolerance_ms)
        return LEVEL_PROBLEM;
    return size > UNSUSPICIOUS_MS ? LEVEL_WARNING : LEVEL_OK;
}

bool clock_date(struct slice answer, int64_t *wall_ms)
{
    struct slice line, name, value;

    while (slice_cut(answer, '\n', &line, &answer) && line.len > 1) {
        if (!slice_cut(line, ':', &name, &value) || !slice_eq_nocase(name, SLICE("date")))
            continue;
        if (slice_ends(value, SLICE("\r")))
            value.len--;
        return clock_parse_http_date(slice_trim(value), wall_ms);
    }
    return false;
}

/* How much `there` is ahead of this clock, if anything: it was told between two moments, and is
 * not finer than `grain_ms`. */
static int64_t ahead(int64_t there_ms, int64_t grain_ms, int64_t before_ms, int64_t after_ms)
{
    if (there_ms > after_ms)
        return there_ms - after_ms;
    return there_ms + grain_ms < before_ms ? there_ms + grain_ms - before_ms : 0;
}

static int64_t tolerance_ms(const struct config *config)
{
    int64_t least = config->routes[0]->keyring.tolerance_s;

    for (size_t i = 1; i < config->route_count; i++)
        if (config->routes[i]->keyring.tolerance_s < least)
            least = config->routes[i]->keyring.tolerance_s;
    return least * 1000;
}

static void add_skew(struct doctor *doctor, const char *whose, enum level level, int64_t off_ms)
{
    long long seconds = (long long)(off_ms < 0 ? -off_ms : off_ms) / 1000;
    const char *which = off_ms < 0 ? "behind" : "ahead of";

    if (level != LEVEL_OK)
        findings_add(&doctor->findings, level, CHECK_CLOCK, whose,
                     "is %lld s %s this machine's clock%s; set both by NTP", seconds, which,
                     level == LEVEL_PROBLEM ? ", so that signed wakes are refused as stale" : "");
    else if (seconds > 0)
        findings_add(&doctor->findings, level, CHECK_CLOCK, whose,
                     "is %lld s %s this machine's clock, which does no harm", seconds, which);
    else
        findings_add(&doctor->findings, level, CHECK_CLOCK, whose, "agrees with this machine's");
}

void clock_of_store(struct doctor *doctor, int64_t store_ms, int64_t before_ms, int64_t after_ms)
{
    int64_t off = ahead(store_ms, 1, before_ms, after_ms);

    add_skew(doctor, "store", clock_level(off, INT64_MAX), off);
}

static void on_visited(struct visit *visit)
{
    struct asking *asking = visit->context;
    struct doctor *doctor = asking->doctor;
    int64_t date = 0;

    if (clock_date(buf_slice(&visit->answer), &date)) {
        int64_t off = ahead(date, 1000, visit->asked_ms, visit->answered_ms);
        add_skew(doctor, "AgentChat", clock_level(off, tolerance_ms(doctor->config)), off);
    } else {
        findings_add(&doctor->findings, LEVEL_WARNING, CHECK_CLOCK, "AgentChat",
                     "the clock could not be compared: %s; compare it by hand, or name another "
                     "server with --agentchat-url",
                     visit->opened && visit->answer.len > 0 ? "the answer has no Date"
                                                            : visit->why.text);
    }
    buf_release(&visit->answer);
    free(asking->host);
    free(asking->port);
    free(asking);
    doctor_end(doctor);
}

static struct slice without_brackets(struct slice host)
{
    return slice_starts(host, SLICE("[")) ? slice_first(slice_from_at(host, 1), host.len - 2)
                                          : host;
}

void check_clock(struct doctor *doctor)
{
    struct url_parts parts;
    struct err err;

    if (!url_split(slice_from(doctor->agentchat_url), &parts, &err)) {
        findings_add(&doctor->findings, LEVEL_WARNING, CHECK_CLOCK, "AgentChat",
                     "the address %s; write for example https://api.agentchat.me", err.text);
        return;
    }
    struct asking *asking = mem_new(sizeof(*asking));
    asking->doctor = doctor;
    asking->host = mem_text(without_brackets(parts.host));
    asking->port = parts.port.len > 0 ? mem_text(parts.port)
                                      : mem_text(parts.tls ? SLICE("443") : SLICE("80"));
    asking->visit = (struct visit){
        .to = {.host = asking->host,
               .port = asking->port,
               .tls = parts.tls,
               .files = {.ca_file = doctor->config->ca_file}},
        .ask = "/",
        .done = on_visited,
        .context = asking,
    };
    doctor_begin(doctor);
    visit_start(&doctor->loop, &asking->visit);
}
