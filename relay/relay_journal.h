/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay_journal: the line of one delivery in the journal, and the wake that is made of it again.
 *
 *   {"at":"2026-11-12T09:00:00.000Z", "route":..., "destination":..., "target":...,
 *    "delivery_id":..., "generation":1, "reason":..., "attempt":2, "outcome":"accepted", "run":...,
 *    "detail":..., "us":1234, "trace_id":..., "text":"...", "fields":"{...}", "payload":{...}}
 *
 * Absent: a destination that is the target itself, a generation or attempt of 0, empty texts. The
 * wake is `payload`, the body as received, or `text`, and beside that `fields`, a payload built
 * from what else was carried. One of more than RELAY_JOURNAL_WAKE_BYTES is not kept:
 * `wake_bytes` says how long it was. Nothing else of the request, nothing of the target's settings.
 */
#ifndef WAKEGATE_RELAY_RELAY_JOURNAL_H
#define WAKEGATE_RELAY_RELAY_JOURNAL_H

#include "relay/relay.h"

enum { RELAY_JOURNAL_WAKE_BYTES = 8192 };

/* The delivery that just ended, which took `took_us`. */
void relay_journal_add(const struct relay *relay, uint64_t took_us);

/* The line as JSON, with `payload` as a string, byte for byte what was received; the caller drops
 * it. NULL: it is no such line. */
json_t *relay_journal_read(struct slice text);

/* Makes the wake of a line anew. `wake` is empty before, and the caller's to release also after a
 * failure: the wake was not kept, or the line is none of ours. */
bool relay_journal_wake(const json_t *line, struct wake *wake, struct err *err);

#endif
