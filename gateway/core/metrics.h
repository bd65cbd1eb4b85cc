/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics: counters, gauges and histograms in the Prometheus text format.
 *
 * Every family stands in the table in metrics.c, with its help text and the names of its labels. A
 * series is made when it is first asked for and lives as long as the process; keep the pointer
 * where the series is used often.
 */
#ifndef WAKEGATE_CORE_METRICS_H
#define WAKEGATE_CORE_METRICS_H

#include "gateway/core/buf.h"

enum metric {
    METRIC_WAKES,    /* route, code: requests at /wake/, by the code they were answered with */
    METRIC_PROOFS,   /* route, result: ok, missing, malformed, stale, wrong */
    METRIC_SECRETS,  /* route, secret: which of the route's secrets matched, by its place */
    METRIC_RELAYS,   /* route, target, outcome: what a target did with a delivery */
    METRIC_REPEATS,  /* route, cause: ended_lease, ended_hold, lost_claim */
    METRIC_AGAIN,    /* route: deliveries under a new generation */
    METRIC_GATHERED, /* route: wakes that went with another's delivery */
    METRIC_STORE,    /* verb, answer */
    METRIC_SETTLE_RETRIES,      /* no label: settlements that had to be written again */
    METRIC_REQUESTS_REFUSED,    /* reason: refused before a route was known */
    METRIC_CONNECTIONS_REFUSED, /* reason: per_address, total, descriptors */
    METRIC_TLS_HANDSHAKES,      /* result: ok, or why not (tls_fault, and tunnel.c) */
    METRIC_CERTIFICATE_EXPIRY, /* gauge, listener: the end of its certificate, in seconds since 1970
                                */
    METRIC_ACCEPT_PAUSES,      /* times that accepting stopped for want of descriptors */
    METRIC_DEADLINES,          /* part: head, body */
    METRIC_RELOADS,            /* result: ok, failed */
    METRIC_ROOM_COMMANDS,      /* command, result: ok, taken, declined, refused, invalid, unsure */
    METRIC_OFFERS,             /* result: taken, withdrawn, busy, nobody, unsure, down */
    METRIC_LOG_DROPPED,
    METRIC_JOURNAL_DROPPED,
    METRIC_CONNECTIONS,    /* gauge */
    METRIC_IN_FLIGHT,      /* gauge: relays */
    METRIC_ROOM_CLIENTS,   /* gauge: connections that were let into the rooms */
    METRIC_ROOM_MEMBERS,   /* gauge: the rooms that each of them joined, added up */
    METRIC_STORE_UP,       /* gauge: 1 when the last round trip worked */
    METRIC_INTAKE_SECONDS, /* histogram: head complete to answer */
    METRIC_TARGET_SECONDS, /* histogram, route, target: one delivery */
    METRIC_STALL_SECONDS,  /* histogram: how late the loop came to a timer */
    METRIC_COUNT
};

/* The value of one series. `a`, `b` and `c` are the values of the family's labels, in the table's
 * order; NULL for those it does not have. */
uint64_t *metrics_value(enum metric family, const char *a, const char *b, const char *c);

/* The same, for a series that is used often: it is looked for once, and stands in `*kept` from then
 * on, which begins as NULL. */
uint64_t *metrics_kept(uint64_t **kept, enum metric family, const char *a, const char *b,
                       const char *c);

/* One observation for a histogram. */
struct histogram;
struct histogram *metrics_histogram(enum metric family, const char *a, const char *b);
void histogram_observe(struct histogram *histogram, uint64_t microseconds);

/* All series as text/plain; version=0.0.4. */
void metrics_write(struct buf *out);
void metrics_free(void); /* for leak checkers, at the end of the process */

#endif
