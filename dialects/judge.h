/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge: what a runtime's answer means: what holds for every HTTP trigger, each dialect's table of
 * exceptions to it, and a reader of the answer's body.
 *
 * Everywhere: 2xx accepts, 410 is gone, 408, 425, 429 and 5xx are unavailable, all else refuses,
 * redirects included. A 502, 504 or 520 to 524 that the runtime does not document comes from a
 * proxy that may have passed the request on: unless the runtime drops repeated keys, nobody knows.
 *
 * The body is hostile: it is read as JSON or not at all, and of its texts only an identifier gets
 * into a verdict.
 */
#ifndef WAKEGATE_DIALECTS_JUDGE_H
#define WAKEGATE_DIALECTS_JUDGE_H

#include "dialects/dialect.h"

struct judge_rule { /* one status that the runtime documents; a list ends in status 0 */
    unsigned status;
    enum outcome_code code;
    const char *meaning;    /* for the detail; may be NULL */
    int64_t retry_after_ms; /* 0: none documented */
};

/* Begins the verdict; `rules` may be NULL. The detail is the status and the rule's meaning. */
void judge_status(unsigned status, const struct judge_rule *rules, bool idempotent,
                  struct verdict *verdict);

/* The object that the body is, or NULL; the caller drops the reference. */
json_t *judge_body(struct slice body);

/* A member that is an identifier (printable, no blanks, not long), else "". NULL object is fine. */
const char *judge_word(json_t *object, const char *name);

/* Puts a word into the detail: "401" becomes "401 authentication_error". "" adds nothing. */
void judge_add(struct verdict *verdict, const char *word);

void judge_run(struct verdict *verdict, const char *run);

/* The judge slot of receivers like ourselves, whose answers have `status`, `run` and `code`. */
void judge_receiver(unsigned status, struct slice body, bool idempotent, struct verdict *verdict);

#endif
