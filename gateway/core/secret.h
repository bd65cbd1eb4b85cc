/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret: one shared secret of a route or a trigger, with every key that a dialect may want of it,
 * scheduled once when the config is read.
 *
 * Which key is used is the dialect's rule, not a guess at request time:
 *   raw      the text's own bytes (agentchat, hermes, bearer tokens)
 *   decoded  strict base64 of the text, without "whsec_" (Standard Webhooks specification 1.0.0)
 *   ed25519  from "whpk_" (public, verifies) or "whsk_" (private, signs and verifies)
 */
#ifndef WAKEGATE_CORE_SECRET_H
#define WAKEGATE_CORE_SECRET_H

#include "gateway/core/digest.h"
#include "gateway/core/err.h"

struct secret {
    struct slice text;           /* owned, wiped when freed; NUL-terminated */
    struct hmac_key *raw;        /* never NULL */
    struct hmac_key *decoded;    /* NULL: the text is no base64 of a usable length */
    bool prefixed;               /* the text begins with "whsec_" */
    struct ed25519_key *ed25519; /* NULL: not such a key */
    bool ed25519_private;
};

/* Copies `text`. Refuses what no runtime can mean: empty, blank at an end, over LIMIT_SECRET_BYTES,
 * control characters, "whsec_" not followed by strict base64 of 16 bytes or more, a broken "whpk_"
 * or "whsk_". */
bool secret_init(struct secret *secret, struct slice text, struct err *err);
void secret_release(struct secret *secret);

/* The secrets that are valid on one route at once, and what the route accepts of its dialect. */
struct keyring {
    struct secret *secrets;
    size_t count;
    unsigned schemes;    /* bit i: the dialect's scheme i is accepted */
    int64_t tolerance_s; /* how far a signed timestamp may be off, either way */
};

#endif
