/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload: the body of the dialects that carry payload v1 itself (contract, section 3.5), and the
 * strict reading of JSON that all dialects share.
 *
 * A body that came in as payload v1 goes out with the same bytes: nothing is re-serialised, so
 * members that we do not know, escapes and large numbers arrive as they were sent. A payload is
 * built only for a wake that came in as text or with a text beside it.
 */
#ifndef WAKEGATE_DIALECTS_PAYLOAD_H
#define WAKEGATE_DIALECTS_PAYLOAD_H

#include "dialects/dialect.h"

/* The one JSON object that `body` is: UTF-8 without byte order mark or NUL, no member twice, no
 * number out of range, at most LIMIT_JSON_DEPTH deep, nothing after it. NULL with `err` otherwise;
 * the caller drops the reference. */
json_t *payload_parse(struct slice body, struct err *err);

/* The decode slot of a payload dialect. `type`, `version`, `handle` and `delivery_id` must be
 * there; the values of version and handle are the caller's to judge. */
bool payload_decode(const struct request *request, struct wake *wake, struct err *err);

/* Payload v1 as an object: what was received, else built from the fields, else from the text. */
json_t *payload_object(const struct wake *wake, const struct trigger_speech *speech, int64_t now_ms,
                       struct err *err);

/* The received bytes where there are any, else the object; with its Content-Type. */
bool payload_write(const struct wake *wake, const struct trigger_speech *speech, int64_t now_ms,
                   struct outgoing *out, struct err *err);

#endif
