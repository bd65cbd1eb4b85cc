/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings: what the doctor saw, each with how bad it is, where, and what to do about it.
 *
 * A finding is written as one sentence, "what was found; what to do", as mistakes in the config
 * are; it is cut at the first semicolon. No secret may be given to it.
 */
#ifndef WAKEGATE_DOCTOR_FINDINGS_H
#define WAKEGATE_DOCTOR_FINDINGS_H

#include <jansson.h>

#include "gateway/core/slice.h"

enum level { LEVEL_OK, LEVEL_WARNING, LEVEL_PROBLEM, LEVELS };

struct finding {
    enum level level;
    const char *check; /* the name of the check; borrowed */
    char *about;       /* what was looked at; "" where there is but one */
    char *text, *advice;
};

enum { FINDINGS_MAX = 10000, FINDING_BYTES = 4096 };

struct findings {
    struct finding *list;
    size_t count;
    unsigned counts[LEVELS];
};

void findings_release(struct findings *findings);

void findings_add(struct findings *findings, enum level level, const char *check, const char *about,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* In the order of the checks' names, which end in NULL. */
void findings_print(const struct findings *findings, const char *const *checks);
/* {"problems": n, "warnings": n, "findings": [...]}; the caller drops it. */
json_t *findings_json(const struct findings *findings, const char *const *checks);

#endif
