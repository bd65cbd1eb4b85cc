/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proof: the two steps that every verify begins or ends with: reading a header that carries a
 * proof, and refusing.
 *
 * Not every rule of a dialect is checked in one order everywhere, but these hold for all: a header
 * of a proof that stands there twice is malformed whatever it says, an empty one is missing, and
 * the text of a refusal names the rule and never a value.
 */
#ifndef WAKEGATE_DIALECTS_PROOF_H
#define WAKEGATE_DIALECTS_PROOF_H

#include "dialects/dialect.h"

/* PROOF_OK with `*value`, which is not empty; PROOF_MISSING; PROOF_MALFORMED when repeated. */
enum proof proof_header(const struct request *request, const char *name, struct slice *value,
                        struct err *err);

/* Returns `proof`, after setting the text. */
enum proof proof_refuse(enum proof proof, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Is scheme `index` of the dialect accepted on this route? One that is not counts as absent. */
bool proof_accepts(const struct keyring *keyring, unsigned index);

/* Is the signed time near enough to `now_ms`, inclusive both ways? Unix seconds, digits only.
 * PROOF_OK, PROOF_MALFORMED or PROOF_STALE. */
enum proof proof_fresh(struct slice timestamp, const struct keyring *keyring, int64_t now_ms,
                       struct err *err);

#endif
