/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quote: text as the inside of a JSON string.
 *
 * Beside what JSON wants, every character that a terminal may take for more than text is escaped
 * (DEL and U+0080 to U+009F). A byte that is not UTF-8 becomes U+FFFD, so the result is always a
 * string of JSON, whatever went in.
 */
#ifndef WAKEGATE_CORE_QUOTE_H
#define WAKEGATE_CORE_QUOTE_H

#include "gateway/core/buf.h"

/* Without the quotation marks. */
void quote_append(struct buf *out, struct slice text);

#endif
