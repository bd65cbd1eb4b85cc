/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome: what became of one relay. A target gives one of the first five; the relay adds what the
 * store says. gateway/answer.c turns an outcome into the HTTP answer.
 */
#ifndef WAKEGATE_CORE_OUTCOME_H
#define WAKEGATE_CORE_OUTCOME_H

#include <stdint.h>

enum outcome_code {
    OUTCOME_ACCEPTED,    /* the target took responsibility for the wake */
    OUTCOME_REFUSED,     /* it will not take it, or took it and starts no run */
    OUTCOME_GONE,        /* 410: it wants no more wakes */
    OUTCOME_UNAVAILABLE, /* not now; nothing was started */
    OUTCOME_AMBIGUOUS,   /* sent, and no answer: nobody knows */

    OUTCOME_DUPLICATE, /* relayed before */
    OUTCOME_IN_FLIGHT, /* another process has the claim, or this one works on in the background */
    OUTCOME_HELD,      /* the id is held after an ambiguous outcome */
    OUTCOME_RESTING,   /* the target rests after an ambiguous outcome */
    OUTCOME_PACED,     /* the target's bucket is empty */
    OUTCOME_STORE_UNAVAILABLE,
    OUTCOME_DRAINING,
    OUTCOME_COUNT
};

struct outcome {
    enum outcome_code code;
    int64_t retry_after_ms; /* 0: the target or the store named no time */
    int64_t generation;     /* of the id, where it was claimed: how often it began on purpose */
    const char *target;     /* the id of the target that it is about, which outlives it */
    char run[128];          /* the runtime's own id of the run it started, printable; "" if none */
    char detail[160];       /* for the log: why, in a few words; no secret, no body */
};

/* "accepted", "refused", ...: label values of metrics and log lines. */
const char *outcome_name(enum outcome_code code);

/* Writes what is printable of `text` into a field of an outcome, cut to `size`. */
void outcome_text(char *field, unsigned long size, const char *text, unsigned long len);

#endif
