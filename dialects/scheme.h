/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheme: one way to prove a request, described as data, for a dialect that knows many: which
 * header commits to it, what stands in that header, and what is signed.
 */
#ifndef WAKEGATE_DIALECTS_SCHEME_H
#define WAKEGATE_DIALECTS_SCHEME_H

#include "dialects/trio.h"

enum scheme_kind {
    SCHEME_MAC,       /* <prefix><hex of HMAC-SHA256 over the body> */
    SCHEME_TIMED_MAC, /* the same over "<timestamp>.<body>" */
    SCHEME_TRIO,      /* the three headers of `trio`; v1 signatures alone */
    SCHEME_TOKEN,     /* the secret itself */
    SCHEME_BEARER,    /* the secret as a bearer token */
};

struct scheme {
    enum scheme_kind kind;
    const char *header; /* whose presence commits; NULL: any of the trio's */
    const char *prefix; /* of the digest; NULL: none */
    const char *timestamp;
    const struct trio_names *trio;
};

bool scheme_is_present(const struct scheme *scheme, const struct request *request);

/* Sets `secret` and `replayable` of `*proven`. */
enum proof scheme_check(const struct scheme *scheme, const struct request *request,
                        const struct keyring *keyring, int64_t now_ms, struct proven *proven,
                        struct err *err);

/* Writes the headers for `out->body`. */
bool scheme_write(const struct scheme *scheme, struct outgoing *out, const struct secret *secret,
                  struct slice key, int64_t now_ms, struct err *err);

#endif
