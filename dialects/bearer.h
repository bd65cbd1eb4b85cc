/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bearer: a secret that the caller shows as it is, in `Authorization: Bearer <token>` or in a
 * header of its own. It proves the caller, not the bytes.
 */
#ifndef WAKEGATE_DIALECTS_BEARER_H
#define WAKEGATE_DIALECTS_BEARER_H

#include "dialects/dialect.h"

/* PROOF_OK with a token that is not empty. Another authorization scheme and an empty token are
 * PROOF_MISSING, a repeated header is PROOF_MALFORMED. */
enum proof bearer_token(const struct request *request, struct slice *token, struct err *err);

/* PROOF_OK with `*secret`, or PROOF_WRONG. */
enum proof bearer_check(const struct keyring *keyring, struct slice token, unsigned *secret,
                        struct err *err);

/* The slots of a dialect whose only proof is the bearer token (scheme 0). */
extern const char *const bearer_schemes[];
enum proof bearer_verify(const struct request *request, const struct keyring *keyring,
                         int64_t now_ms, struct proven *proven, struct err *err);
bool bearer_secret_fits(const struct secret *secret, struct err *err);

#endif
