/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload_scan: payload v1 as it usually comes, read in one pass without a tree.
 *
 * Only what is certain is taken: the known members, each once, of their own types, strings without
 * escapes, whole numbers of at most 18 digits. Whatever else a body may be, an error too, is left
 * to payload_parse and wake_read_payload, which stay the only ones that refuse. So the two can
 * differ in one way alone, that a body is taken here and read otherwise there; a unit test and a
 * fuzz target hold them against each other.
 */
#ifndef WAKEGATE_DIALECTS_PAYLOAD_SCAN_H
#define WAKEGATE_DIALECTS_PAYLOAD_SCAN_H

#include "gateway/core/wake.h"

/* true: `wake`, which was empty, is what payload_decode says of this body. false: nothing is known
 * of it, and `wake` is still empty. */
bool payload_scan(struct slice body, struct wake *wake);

#endif
