/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor: goes and looks whether what a config says is so: `wakegate check --live`.
 *
 * All checks of the table run at once on one loop; each has time limits of its own. Nothing that is
 * looked at is changed, but for one record of its own in the store, which is taken back. No wake is
 * sent, and to a target no request either.
 */
#ifndef WAKEGATE_DOCTOR_DOCTOR_H
#define WAKEGATE_DOCTOR_DOCTOR_H

#include "gateway/config.h"
#include "gateway/doctor/findings.h"

/* Of one connection: name, connect and TLS; and of an answer. */
enum { DOCTOR_CONNECT_MS = 5000, DOCTOR_ANSWER_MS = 3000 };

struct survey;

struct doctor {
    uv_loop_t loop;
    struct turn turn;
    const struct config *config;
    const struct settings_report *report;
    const char *agentchat_url;
    struct findings findings;
    unsigned running;      /* checks, or parts of one, that go on */
    bool hanging;          /* a name look-up was given up and cannot be stopped */
    struct survey *survey; /* of the targets */
    uv_timer_t awake;      /* a turn must come while something is waited for */
};

/* For a check that goes on after it was begun; every begin has its end. */
void doctor_begin(struct doctor *doctor);
void doctor_end(struct doctor *doctor);

extern const char *const doctor_checks[]; /* names; the last is NULL */

/* Looks at everything. The config is whole: it has no mistakes. Afterwards a process with a
 * hanging look-up can only end by _exit. */
void doctor_run(struct doctor *doctor, const struct config *config,
                const struct settings_report *report, const char *agentchat_url);

#endif
