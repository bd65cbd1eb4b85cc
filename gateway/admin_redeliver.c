/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search -> begin -> told. The journal is read from its beginning, since only that way is there;
 * what may be the line is found by the id's bytes before any JSON is parsed.
 */
#include "gateway/admin_redeliver.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/clock.h"
#include "gateway/core/log.h"
#include "gateway/net/parameters.h"
#include "relay/relay_journal.h"

enum { FOUND_MAX = 16, NAMES_BYTES = 200 };

struct redelivery { /* one request */
    struct admin *admin;
    struct exchange *exchange;
    struct slice id, route, target; /* borrowed from the request; the last two may be empty */
    bool force;
    json_t *found[FOUND_MAX]; /* the newest line of each destination */
    size_t count;
    char *after; /* owned; the operation's; NULL: the beginning */
    struct threads_op op;
    struct shared_wake *wake; /* NULL: no relay was begun */
    struct waiter waiter;
};

static struct slice member(const json_t *line, const char *key)
{
    const json_t *value = json_object_get(line, key);

    return (struct slice){.data = json_string_value(value), .len = json_string_length(value)};
}

static struct slice destination_of(const json_t *line)
{
    struct slice destination = member(line, "destination");

    return destination.len > 0 ? destination : member(line, "target");
}

static void finish(struct redelivery *redelivery)
{
    struct admin *admin = redelivery->admin;

    threads_op_release(&redelivery->op);
    for (size_t i = 0; i < redelivery->count; i++)
        json_decref(redelivery->found[i]);
    if (redelivery->wake)
        shared_wake_drop(redelivery->wake);
    free(redelivery->after);
    free(redelivery);
    admin_leave(admin);
}

static void refuse(struct redelivery *redelivery, enum answer_code code, const char *why)
{
    admin_refuse(redelivery->exchange, code, why);
    finish(redelivery);
}

/* --- told --- */

static void told(struct waiter *waiter, const struct outcome *outcome)
{
    struct redelivery *redelivery = waiter->context;

    admin_log_begin(redelivery->exchange, answer_for_outcome(outcome->code));
    log_str("redeliver", redelivery->id);
    log_str("route", member(redelivery->found[0], "route"));
    log_text("target", outcome->target);
    log_num("generation", outcome->generation);
    log_text("force", redelivery->force ? "true" : NULL);
    log_text("detail", outcome->detail);
    log_end();
    answer_outcome(redelivery->exchange, redelivery->id, outcome);
    finish(redelivery);
}

/* --- begin --- */

static struct destination *find_destination(const struct route *route, struct slice id)
{
    for (size_t i = 0; route && i < route->destinations.count; i++)
        if (slice_eq(slice_from(route->destinations.child[i]->id), id))
            return route->destinations.child[i];
    return NULL;
}

static void begin(struct redelivery *redelivery)
{
    const struct intake *intake = redelivery->admin->intake;
    const json_t *line = redelivery->found[0];
    struct slice name = member(line, "route"), id = destination_of(line);
    struct destination *to = find_destination(config_route(intake->config, name), id);
    struct wake wake = {0};
    struct err err;

    if (!to) {
        err_set(&err, "%.*s/%.*s", SLICE_ARG(name), SLICE_ARG(id));
        refuse(redelivery, ANSWER_UNKNOWN_TARGET, err.text);
    } else if (intake->relays->draining) {
        refuse(redelivery, ANSWER_DRAINING, NULL);
    } else if (!relays_have_room(intake->relays, 1)) {
        refuse(redelivery, ANSWER_OVERLOADED, NULL);
    } else if (!relay_journal_wake(line, &wake, &err)) {
        refuse(redelivery, ANSWER_WAKE_NOT_KEPT, err.text);
    } else {
        uint64_t until_ms = clock_steady_us() / 1000 + (uint64_t)intake->config->budget_ms;
        wake_keep_trace(&wake, &redelivery->exchange->request);
        redelivery->wake = shared_wake_new(&wake);
        redelivery->waiter = (struct waiter){.told = told, .context = redelivery};
        relays_begin_again(intake->relays, to, redelivery->wake, redelivery->force, until_ms,
                           &redelivery->waiter);
    }
    wake_release(&wake);
}

/* --- search --- */

static void refuse_ambiguous(struct redelivery *redelivery)
{
    struct buf names = BUF_INIT(NAMES_BYTES);

    for (size_t i = 0; i < redelivery->count; i++) {
        struct slice route = member(redelivery->found[i], "route");
        struct slice id = destination_of(redelivery->found[i]);
        buf_appendf(&names, "%s%.*s/%.*s", i > 0 ? ", " : "", SLICE_ARG(route), SLICE_ARG(id));
    }
    refuse(redelivery, ANSWER_AMBIGUOUS_DELIVERY, buf_text(&names));
    buf_release(&names);
}

static bool is_wanted(const struct redelivery *redelivery, const json_t *line)
{
    struct slice route = redelivery->route, target = redelivery->target;

    return slice_eq(member(line, "delivery_id"), redelivery->id) &&
           (route.len == 0 || slice_eq(member(line, "route"), route)) &&
           (target.len == 0 || slice_eq(member(line, "target"), target) ||
            slice_eq(destination_of(line), target));
}

/* Keeps the line, in the place of an older one of its destination. */
static void keep(struct redelivery *redelivery, json_t *line)
{
    size_t at = 0;

    while (at < redelivery->count &&
           !(slice_eq(member(redelivery->found[at], "route"), member(line, "route")) &&
             slice_eq(destination_of(redelivery->found[at]), destination_of(line))))
        at++;
    if (at == FOUND_MAX)
        return;
    if (at == redelivery->count)
        redelivery->count++;
    else
        json_decref(redelivery->found[at]);
    redelivery->found[at] = json_incref(line);
}

static void look_at(struct redelivery *redelivery, struct slice text)
{
    if (!memmem(text.data, text.len, redelivery->id.data, redelivery->id.len))
        return;
    json_t *line = relay_journal_read(text);
    if (is_wanted(redelivery, line))
        keep(redelivery, line);
    json_decref(line);
}

static void on_page(struct op *op);

static void read_page(struct redelivery *redelivery)
{
    redelivery->op.after = slice_from(redelivery->after);
    journal_read(redelivery->admin->journal, &redelivery->op, on_page);
}

static void on_page(struct op *op)
{
    struct threads_op *page = CONTAINER_OF(op, struct threads_op, op);
    struct redelivery *redelivery = CONTAINER_OF(page, struct redelivery, op);

    if (page->answer != THREADS_DONE || redelivery->admin->closed) {
        bool closing = page->answer == THREADS_DONE;
        refuse(redelivery, closing ? ANSWER_DRAINING : ANSWER_STORE_UNAVAILABLE,
               closing ? NULL : page->err.text);
        return;
    }
    for (size_t i = 0; i < page->read_count; i++)
        look_at(redelivery, page->read[i].text);
    if (page->more) {
        char *next = mem_text(page->end);
        free(redelivery->after);
        redelivery->after = next;
        read_page(redelivery);
    } else if (redelivery->count == 0) {
        refuse(redelivery, ANSWER_UNKNOWN_DELIVERY, NULL);
    } else if (redelivery->count > 1) {
        refuse_ambiguous(redelivery);
    } else {
        begin(redelivery);
    }
}

static bool read_question(struct redelivery *redelivery, struct err *err)
{
    struct slice force = {0};
    const struct parameter taken[] = {
        {"route", &redelivery->route}, {"target", &redelivery->target}, {"force", &force}};

    if (!parameters_read(redelivery->exchange, taken, sizeof(taken) / sizeof(taken[0]), err))
        return false;
    redelivery->force = slice_eq(force, SLICE("true"));
    return redelivery->force || force.len == 0 || slice_eq(force, SLICE("false")) ||
           err_set(err, "force is neither true nor false");
}

void admin_redeliver(struct admin *admin, struct exchange *exchange, struct slice id)
{
    struct err err;

    if (!admin_enter(admin, exchange))
        return;
    struct redelivery *redelivery = mem_new(sizeof(*redelivery));
    redelivery->admin = admin;
    redelivery->exchange = exchange;
    redelivery->id = id;
    if (read_question(redelivery, &err))
        read_page(redelivery);
    else
        refuse(redelivery, ANSWER_INVALID_QUERY, err.text);
}
