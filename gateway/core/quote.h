/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quote: text as the inside of a JSON string, for what writes too much JSON to build it as a tree.
 *
 * Besides what JSON wants, every control character is escaped, so that the result is safe to show.
 * What is no UTF-8 becomes U+FFFD, byte by byte; all other text is read back as it was.
 */
#ifndef WAKEGATE_CORE_QUOTE_H
#define WAKEGATE_CORE_QUOTE_H

#include "gateway/core/buf.h"

void quote_append(struct buf *out, struct slice text);

#endif
