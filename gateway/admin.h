/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admin: what an operator asks a running gateway, and tells it.
 *
 *   GET  /admin/deliveries                    what the journal has (admin_deliveries.h)
 *   POST /admin/deliveries/<id>/redeliver     begins one again (admin_redeliver.h)
 *
 * Every request proves itself with `Authorization: Bearer <admin token>`, before anything else is
 * looked at, except on a listener that nobody else can reach: a unix socket, whose file only its
 * owner may use. Where there is no token and no such listener, nothing is here.
 */
#ifndef WAKEGATE_GATEWAY_ADMIN_H
#define WAKEGATE_GATEWAY_ADMIN_H

#include "gateway/answer.h"
#include "gateway/intake.h"
#include "gateway/store/journal.h"

struct admin {
    const struct intake *intake; /* the present config, and the relays */
    struct journal *journal;     /* NULL: none is kept */

    unsigned running;              /* requests that are not answered yet */
    void (*closed)(void *context); /* not NULL: closing */
    void *context;
};

bool admin_is_path(struct slice path);

/* `trusted`: who reaches this listener needs no token. */
void admin_head(struct admin *admin, struct exchange *exchange, bool trusted);
void admin_request(struct admin *admin, struct exchange *exchange);

/* Requests that look into the journal are cut short. `closed` comes when none runs; perhaps at
 * once. */
void admin_close(struct admin *admin, void (*closed)(void *context), void *context);

/* For the pages. Each request that goes on after its first call is one more that runs; false: it
 * was answered, since there is no journal, or too many run. */
bool admin_enter(struct admin *admin, struct exchange *exchange);
void admin_leave(struct admin *admin);
/* Logs, and answers the error. `why` may be NULL. */
void admin_refuse(struct exchange *exchange, enum answer_code code, const char *why);
/* The log's line of one request; more fields and log_end are the caller's. */
void admin_log_begin(const struct exchange *exchange, enum answer_code code);

#endif
