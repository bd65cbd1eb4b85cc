/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trio: the three headers of Standard Webhooks (specification 1.0.0) and of Svix: an id, a
 * timestamp and a list of signatures over "<id>.<timestamp>.<body>".
 *
 * Entries of the list are "v1,<base64 of HMAC-SHA256>" and "v1a,<base64 of an Ed25519 signature>".
 * One that is right is enough; other versions and what cannot be decoded are passed over.
 */
#ifndef WAKEGATE_DIALECTS_TRIO_H
#define WAKEGATE_DIALECTS_TRIO_H

#include "dialects/mac.h"

enum trio_version { TRIO_V1, TRIO_V1A };

struct trio_names {
    const char *id, *timestamp, *signature;
};
extern const struct trio_names trio_webhook, trio_svix;

struct trio {
    struct slice id, timestamp, signature;
    unsigned present; /* how many of the three stand there */
};

/* PROOF_OK: all three, none empty or repeated. Otherwise `trio` has what was found so far and
 * PROOF_MISSING or PROOF_MALFORMED is returned. */
enum proof trio_read(const struct request *request, const struct trio_names *names,
                     struct trio *trio, struct err *err);

/* Sets `secret` and `scheme` (an enum trio_version) of `*proven`. `versions` has a bit for each
 * version that counts. */
enum proof trio_verify(const struct trio *trio, struct slice body, const struct keyring *keyring,
                       enum mac_key which, unsigned versions, int64_t now_ms, struct proven *proven,
                       struct err *err);

/* Writes the three headers for `out->body`, signed with the secret's private Ed25519 key where it
 * has one and `which` is MAC_DECODED. false: the secret cannot sign. */
bool trio_write(struct outgoing *out, const struct trio_names *names, struct slice id,
                const struct secret *secret, enum mac_key which, int64_t now_ms, struct err *err);

#endif
