/* SPDX-License-Identifier: Apache-2.0 */
/*
 * combined_wake: one wake that stands for several of the same agent (contract v1, sections 3.5, 4).
 *
 * Every wake says "read the tray"; they differ in the instruction that goes with their reason. The
 * combined one has the reason whose instruction covers the others' cause, in this order:
 *
 *   messages     something new; the whole tray is read
 *   reminder     the same instruction
 *   unanswered   what still waits on the tray, cards and invites
 *   (unknown)
 *   invite       the invites
 *   test         nothing; only where all are tests
 *
 * It names every conversation once, in the order in which they came and with what was last said of
 * each, and the first wake's delivery_id. Its summary is theirs, one after the other. A text has
 * these summaries, or first paragraphs, as its first one, and goes on as the strongest wake's text.
 */
#ifndef WAKEGATE_RELAY_COMBINED_WAKE_H
#define WAKEGATE_RELAY_COMBINED_WAKE_H

#include "gateway/core/wake.h"

/* `combined` is empty before, the caller's to release, and points into none of the `wakes`, of
 * which there is at least one. */
void combined_wake(const struct wake *const *wakes, size_t count, struct wake *combined);

#endif
