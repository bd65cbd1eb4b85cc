/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outgoing: the pieces that every frame writes a request with. They append freely; outgoing_end
 * asks once whether all of it went in.
 */
#ifndef WAKEGATE_DIALECTS_OUTGOING_H
#define WAKEGATE_DIALECTS_OUTGOING_H

#include "dialects/dialect.h"

/* The value comes from the config or from us: it has no control characters. */
void outgoing_header(struct outgoing *out, const char *name, struct slice value);
/* "Authorization: Bearer <token>" */
void outgoing_bearer(struct outgoing *out, const struct secret *secret);

/* Writes `body` and its Content-Type, and drops the reference. NULL: `err` was set before. */
bool outgoing_json(struct outgoing *out, json_t *body, struct err *err);

/* Adds the members of `more` that `body` has not; NULL is fine on either side. */
void outgoing_merge(json_t *body, json_t *more);

/* false: something was too long. */
bool outgoing_end(const struct outgoing *out, struct err *err);

#endif
