/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/admin_deliveries.h"

#include <stdlib.h>

#include "gateway/core/clock.h"
#include "gateway/core/log.h"
#include "gateway/net/parameters.h"
#include "relay/relay_journal.h"

enum { LIMIT_USUAL = 100, LIMIT_MOST = 500, PAGES_MAX = 64, POSITION_BYTES = 41 };

struct listing { /* one request */
    struct admin *admin;
    struct exchange *exchange;
    struct slice route, target, outcome, id; /* borrowed from the request; empty: any */
    int64_t since_ms;
    size_t limit;
    json_t *found;
    unsigned pages;
    char *after; /* owned; the operation's */
    struct threads_op op;
};

/* --- the question --- */

static bool is_outcome(struct slice name)
{
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (slice_eq(name, slice_from(outcome_name((enum outcome_code)i))))
            return true;
    return false;
}

static bool is_position(struct slice text)
{
    struct slice first, second;
    uint64_t number;
    bool two = slice_cut(text, '-', &first, &second);

    return text.len <= POSITION_BYTES && slice_number(first, &number) &&
           (!two || slice_number(second, &number));
}

static bool read_question(struct listing *listing, struct err *err)
{
    struct slice since = {0}, after = {0}, limit = {0};
    const struct parameter taken[] = {
        {"route", &listing->route},
        {"target", &listing->target},
        {"outcome", &listing->outcome},
        {"id", &listing->id},
        {"since", &since},
        {"after", &after},
        {"limit", &limit},
    };
    uint64_t number = LIMIT_USUAL;

    if (!parameters_read(listing->exchange, taken, sizeof(taken) / sizeof(taken[0]), err))
        return false;
    if (listing->outcome.len > 0 && !is_outcome(listing->outcome))
        return err_set(err, "outcome is none of accepted, refused, gone, unavailable, ambiguous");
    if (since.len > 0 && !clock_parse_iso(since, &listing->since_ms))
        return err_set(err, "since is no time; write for example 2026-11-12T09:00:00Z");
    if (after.len > 0 && !is_position(after))
        return err_set(err, "after is no position; write the \"next\" of an answer");
    if (limit.len > 0 && (!slice_number(limit, &number) || number == 0 || number > LIMIT_MOST))
        return err_set(err, "limit is no number from 1 to %d", LIMIT_MOST);
    listing->limit = (size_t)number;
    listing->after = mem_text(after);
    return true;
}

/* --- the answer --- */

static void finish(struct listing *listing)
{
    struct admin *admin = listing->admin;

    threads_op_release(&listing->op);
    json_decref(listing->found);
    free(listing->after);
    free(listing);
    admin_leave(admin);
}

static void refuse(struct listing *listing, enum answer_code code, const char *why)
{
    admin_refuse(listing->exchange, code, why);
    finish(listing);
}

static void answer(struct listing *listing, struct slice next, bool more)
{
    json_t *body = json_pack("{s:O, s:s%, s:b}", "deliveries", listing->found, "next", next.data,
                             next.len, "more", more);
    char *text = json_dumps(body, JSON_COMPACT);

    log_begin(LOG_DEBUG, "admin");
    log_num("deliveries", (int64_t)json_array_size(listing->found));
    log_text("peer", listing->exchange->peer);
    log_end();
    exchange_answer(listing->exchange, &(struct http_answer){.status = 200,
                                                             .content_type = "application/json",
                                                             .body = slice_from(text)});
    free(text);
    json_decref(body);
    finish(listing);
}

/* --- between them --- */

static bool fits(const json_t *line, const char *key, struct slice wanted)
{
    const json_t *value = json_object_get(line, key);
    struct slice text = {.data = json_string_value(value), .len = json_string_length(value)};

    return wanted.len == 0 || slice_eq(text, wanted);
}

static bool is_late_enough(const json_t *line, int64_t since_ms)
{
    int64_t at_ms = 0;

    return clock_parse_iso(slice_from(json_string_value(json_object_get(line, "at"))), &at_ms) &&
           at_ms >= since_ms;
}

static void look_at(struct listing *listing, struct slice text)
{
    static const char *const hidden[] = {"payload", "text", "fields", "wake_bytes"};
    json_t *line = relay_journal_read(text);

    bool wanted = fits(line, "route", listing->route) && fits(line, "target", listing->target) &&
                  fits(line, "outcome", listing->outcome) &&
                  fits(line, "delivery_id", listing->id) && is_late_enough(line, listing->since_ms);
    for (size_t i = 0; wanted && i < sizeof(hidden) / sizeof(hidden[0]); i++)
        json_object_del(line, hidden[i]);
    if (wanted)
        json_array_append(listing->found, line);
    json_decref(line);
}

static void on_page(struct op *op);

static void read_page(struct listing *listing)
{
    listing->op.after = slice_from(listing->after);
    journal_read(listing->admin->journal, &listing->op, on_page);
}

static void on_page(struct op *op)
{
    struct threads_op *page = CONTAINER_OF(op, struct threads_op, op);
    struct listing *listing = CONTAINER_OF(page, struct listing, op);

    if (page->answer != THREADS_DONE) {
        refuse(listing, ANSWER_STORE_UNAVAILABLE, page->err.text);
        return;
    }
    for (size_t i = 0; i < page->read_count; i++) {
        look_at(listing, page->read[i].text);
        if (json_array_size(listing->found) == listing->limit) {
            answer(listing, page->read[i].position, true);
            return;
        }
    }
    if (!page->more || ++listing->pages == PAGES_MAX || listing->admin->closed) {
        answer(listing, page->end, page->more);
        return;
    }
    char *next = mem_text(page->end);
    free(listing->after);
    listing->after = next;
    read_page(listing);
}

void admin_deliveries(struct admin *admin, struct exchange *exchange)
{
    struct err err;

    if (!admin_enter(admin, exchange))
        return;
    struct listing *listing = mem_new(sizeof(*listing));
    listing->admin = admin;
    listing->exchange = exchange;
    listing->found = json_array();
    if (read_question(listing, &err))
        read_page(listing);
    else
        refuse(listing, ANSWER_INVALID_QUERY, err.text);
}
