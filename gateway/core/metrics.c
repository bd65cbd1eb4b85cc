/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each family keeps its series in a balanced tree of the C library, ordered by the labels' values,
 * so thousands of series stay quick to find and come out sorted. Series are never removed: their
 * number is bounded by what the config names.
 */
#include "gateway/core/metrics.h"

#include <assert.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS = 3, BUCKETS = 17 };

enum kind { COUNTER, GAUGE, HISTOGRAM };

static const char *const kind_names[] = {"counter", "gauge", "histogram"};

static const struct family {
    const char *name, *help;
    enum kind kind;
    const char *labels[LABELS]; /* the names; NULL beyond the last */
} families[METRIC_COUNT] = {
    [METRIC_WAKES] = {"wakegate_wakes_total",
                      "Requests at /wake/, by the code of their answer.",
                      COUNTER,
                      {"route", "code"}},
    [METRIC_PROOFS] = {"wakegate_proofs_total",
                       "Proofs of requests, by what was found.",
                       COUNTER,
                       {"route", "result"}},
    [METRIC_SECRETS] = {"wakegate_secret_matches_total",
                        "Proofs that were right, by the place of the secret that matched.",
                        COUNTER,
                        {"route", "secret"}},
    [METRIC_RELAYS] = {"wakegate_deliveries_total",
                       "Deliveries to targets, by their outcome.",
                       COUNTER,
                       {"route", "target", "outcome"}},
    [METRIC_REPEATS] = {"wakegate_repeats_total",
                        "Cycles that a target may have been given twice, by the cause.",
                        COUNTER,
                        {"route", "cause"}},
    [METRIC_AGAIN] = {"wakegate_again_total",
                      "Cycles given to a target again on purpose, long after an acceptance.",
                      COUNTER,
                      {"route"}},
    [METRIC_GATHERED] = {"wakegate_gathered_total",
                         "Wakes that went with another one's delivery.",
                         COUNTER,
                         {"route"}},
    [METRIC_STORE] = {"wakegate_store_operations_total",
                      "Operations of the store, by its answer.",
                      COUNTER,
                      {"verb", "answer"}},
    [METRIC_SETTLE_RETRIES] = {"wakegate_settle_retries_total",
                               "Settlements that had to be written again.",
                               COUNTER,
                               {0}},
    [METRIC_REQUESTS_REFUSED] = {"wakegate_requests_refused_total",
                                 "Requests refused before a route was known.",
                                 COUNTER,
                                 {"reason"}},
    [METRIC_CONNECTIONS_REFUSED] = {"wakegate_connections_refused_total",
                                    "Connections closed when they were made.",
                                    COUNTER,
                                    {"reason"}},
    [METRIC_TLS_HANDSHAKES] = {"wakegate_tls_handshakes_total",
                               "TLS handshakes of clients, by their result.",
                               COUNTER,
                               {"result"}},
    [METRIC_CERTIFICATE_EXPIRY] = {"wakegate_certificate_expiry_seconds",
                                   "When the certificate ends, in seconds since 1970.",
                                   GAUGE,
                                   {"listener"}},
    [METRIC_ACCEPT_PAUSES] = {"wakegate_accept_pauses_total",
                              "Times that accepting stopped for want of descriptors.",
                              COUNTER,
                              {0}},
    [METRIC_DEADLINES] = {"wakegate_request_timeouts_total",
                          "Requests whose head or body took too long to come.",
                          COUNTER,
                          {"part"}},
    [METRIC_RELOADS] = {"wakegate_reloads_total", "Reloads of the config.", COUNTER, {"result"}},
    [METRIC_ROOM_COMMANDS] = {"wakegate_room_commands_total",
                              "Commands of clients in the rooms, by what became of them.",
                              COUNTER,
                              {"command", "result"}},
    [METRIC_OFFERS] = {"wakegate_room_offers_total",
                       "Wakes offered in a room, by what became of them.",
                       COUNTER,
                       {"result"}},
    [METRIC_LOG_DROPPED] = {"wakegate_log_lines_dropped_total",
                            "Log lines dropped because their reader did not keep up.",
                            COUNTER,
                            {0}},
    [METRIC_JOURNAL_DROPPED] = {"wakegate_journal_dropped_total",
                                "Deliveries that the journal does not have: the store took none.",
                                COUNTER,
                                {0}},
    [METRIC_CONNECTIONS] = {"wakegate_connections", "Open connections.", GAUGE, {0}},
    [METRIC_IN_FLIGHT] = {"wakegate_relays_in_flight", "Relays under way.", GAUGE, {0}},
    [METRIC_ROOM_CLIENTS] = {"wakegate_room_clients",
                             "Clients that are connected to the rooms.",
                             GAUGE,
                             {0}},
    [METRIC_ROOM_MEMBERS] = {"wakegate_room_members",
                             "Rooms that clients are in, added up.",
                             GAUGE,
                             {0}},
    [METRIC_STORE_UP] = {"wakegate_store_up",
                         "1 when the last round trip to the store worked.",
                         GAUGE,
                         {0}},
    [METRIC_INTAKE_SECONDS] = {"wakegate_wake_duration_seconds",
                               "From a request's complete head to its answer.",
                               HISTOGRAM,
                               {0}},
    [METRIC_TARGET_SECONDS] = {"wakegate_delivery_duration_seconds",
                               "One delivery to a target.",
                               HISTOGRAM,
                               {"route", "target"}},
    [METRIC_STALL_SECONDS] = {"wakegate_loop_stall_seconds",
                              "How late the event loop came to a timer.",
                              HISTOGRAM,
                              {0}},
};

/* The upper ends of a histogram's buckets, which include them. One more has no end. */
static const struct bound {
    uint64_t us;
    const char *seconds;
} bounds[BUCKETS] = {
    {100, "0.0001"},  {250, "0.00025"}, {500, "0.0005"},  {1000, "0.001"},  {2500, "0.0025"},
    {5000, "0.005"},  {10000, "0.01"},  {25000, "0.025"}, {50000, "0.05"},  {100000, "0.1"},
    {250000, "0.25"}, {500000, "0.5"},  {1000000, "1"},   {2500000, "2.5"}, {5000000, "5"},
    {10000000, "10"}, {30000000, "30"},
};

struct histogram {
    uint64_t count[BUCKETS + 1]; /* each bucket by itself */
    uint64_t sum_us;
};

struct series {
    char *labels[LABELS]; /* the values, owned */
    uint64_t value;
    struct histogram histogram; /* used instead where the family is one */
};

static void *trees[METRIC_COUNT]; /* of struct series */

static int compare(const void *left, const void *right)
{
    const struct series *a = left, *b = right;

    for (int i = 0; i < LABELS && a->labels[i]; i++) {
        int order = strcmp(a->labels[i], b->labels[i]);
        if (order != 0)
            return order;
    }
    return 0;
}

static struct series *series_of(enum metric family, const char *const values[LABELS])
{
    struct series probe = {0};

    assert(family < METRIC_COUNT);
    for (int i = 0; i < LABELS; i++) {
        assert(!families[family].labels[i] == !values[i]);
        probe.labels[i] = (char *)(uintptr_t)values[i]; /* only looked at */
    }
    struct series **node = tfind(&probe, &trees[family], compare);
    if (node)
        return *node;
    struct series *made = mem_new(sizeof(*made));
    for (int i = 0; i < LABELS && values[i]; i++)
        made->labels[i] = mem_text(slice_from(values[i]));
    if (!tsearch(made, &trees[family], compare))
        abort(); /* no memory */
    return made;
}

uint64_t *metrics_value(enum metric family, const char *a, const char *b, const char *c)
{
    assert(families[family].kind != HISTOGRAM);
    return &series_of(family, (const char *const[LABELS]){a, b, c})->value;
}

uint64_t *metrics_kept(uint64_t **kept, enum metric family, const char *a, const char *b,
                       const char *c)
{
    if (!*kept)
        *kept = metrics_value(family, a, b, c);
    return *kept;
}

struct histogram *metrics_histogram(enum metric family, const char *a, const char *b)
{
    assert(families[family].kind == HISTOGRAM);
    return &series_of(family, (const char *const[LABELS]){a, b})->histogram;
}

void histogram_observe(struct histogram *histogram, uint64_t microseconds)
{
    size_t bucket = 0;

    while (bucket < BUCKETS && microseconds > bounds[bucket].us)
        bucket++;
    histogram->count[bucket]++;
    histogram->sum_us += microseconds;
}

/* Writing. printf would take most of the time, and the loop stands still meanwhile. */

struct page {
    struct buf *out;
    const struct family *family;
    struct buf labels; /* of the series at hand: route="a",code="b" */
};

enum { LABEL_TEXT_BYTES = 64 * 1024 };

static void put_text(struct buf *out, const char *text)
{
    buf_append(out, slice_from(text));
}

static void put_escaped(struct buf *out, const char *value)
{
    for (; *value; value++) {
        if (*value == '\\' || *value == '"' || *value == '\n')
            buf_append_char(out, '\\');
        buf_append_char(out, *value == '\n' ? 'n' : *value);
    }
}

static void put_labels(struct buf *out, const struct family *family, const struct series *series)
{
    for (int i = 0; i < LABELS && family->labels[i]; i++) {
        if (i > 0)
            buf_append_char(out, ',');
        put_text(out, family->labels[i]);
        put_text(out, "=\"");
        put_escaped(out, series->labels[i]);
        buf_append_char(out, '"');
    }
}

/* The line's name and labels, up to its value. */
static void put_name(struct page *page, const char *suffix, const char *le)
{
    struct buf *out = page->out;

    put_text(out, page->family->name);
    put_text(out, suffix);
    if (page->labels.len > 0 || le) {
        buf_append_char(out, '{');
        buf_append(out, buf_slice(&page->labels));
        if (le) {
            put_text(out, page->labels.len > 0 ? ",le=\"" : "le=\"");
            put_text(out, le);
            buf_append_char(out, '"');
        }
        buf_append_char(out, '}');
    }
    buf_append_char(out, ' ');
}

static void put_sample(struct page *page, const char *suffix, const char *le, uint64_t value)
{
    put_name(page, suffix, le);
    buf_append_number(page->out, value, 1);
    buf_append_char(page->out, '\n');
}

static void put_histogram(struct page *page, const struct histogram *histogram)
{
    uint64_t count = 0;

    for (size_t i = 0; i < BUCKETS; i++) {
        count += histogram->count[i];
        put_sample(page, "_bucket", bounds[i].seconds, count);
    }
    count += histogram->count[BUCKETS];
    put_sample(page, "_bucket", "+Inf", count);
    put_name(page, "_sum", NULL);
    buf_append_number(page->out, histogram->sum_us / 1000000, 1);
    buf_append_char(page->out, '.');
    buf_append_number(page->out, histogram->sum_us % 1000000, 6);
    buf_append_char(page->out, '\n');
    put_sample(page, "_count", NULL, count);
}

static void put_series(const void *node, VISIT visit, void *closure)
{
    const struct series *series = *(const struct series *const *)node;
    struct page *page = closure;

    if (visit != postorder && visit != leaf) /* postorder here means: between the children */
        return;
    buf_clear(&page->labels);
    put_labels(&page->labels, page->family, series);
    if (page->family->kind == HISTOGRAM)
        put_histogram(page, &series->histogram);
    else
        put_sample(page, "", NULL, series->value);
}

void metrics_write(struct buf *out)
{
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        const struct family *family = &families[i];
        struct page page = {.out = out, .family = family, .labels = BUF_INIT(LABEL_TEXT_BYTES)};

        if (!family->labels[0]) /* there before the first event */
            series_of((enum metric)i, (const char *const[LABELS]){0});
        put_text(out, "# HELP ");
        put_text(out, family->name);
        buf_append_char(out, ' ');
        put_text(out, family->help);
        put_text(out, "\n# TYPE ");
        put_text(out, family->name);
        buf_append_char(out, ' ');
        put_text(out, kind_names[family->kind]);
        buf_append_char(out, '\n');
        twalk_r(trees[i], put_series, &page);
        buf_release(&page.labels);
    }
}

static void series_free(void *node)
{
    struct series *series = node;

    for (int i = 0; i < LABELS; i++)
        free(series->labels[i]);
    free(series);
}

void metrics_free(void)
{
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        tdestroy(trees[i], series_free);
        trees[i] = NULL;
    }
}
