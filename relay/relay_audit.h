/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay_audit: what a relay leaves in the log, in the metrics and in the journal.
 */
#ifndef WAKEGATE_RELAY_RELAY_AUDIT_H
#define WAKEGATE_RELAY_RELAY_AUDIT_H

#include "relay/relay.h"

/* Makes the series of what happens so seldom that its first time has to show as a rise. */
void relay_audit_route(const char *route);

/* Another owner had the claim when the target's acceptance was to be written. */
void relay_audit_lost_claim(const struct relay *relay);

/* Each delivery has its line: a wake may need several, and may outlast its request. One that may
 * have started the agent a second time is counted. */
void relay_audit_delivery(const struct relay *relay);

/* That delivery was another wake's too. */
void relay_audit_ride(const struct relay *rider, const struct relay *carrier);

/* What happened at the target is known, and `event` says what keeps it from being written. */
void relay_audit_unwritten(const struct relay *relay, const char *event);

#endif
