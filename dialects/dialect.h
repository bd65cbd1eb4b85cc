/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialect: how one runtime's HTTP trigger is spoken, both ways.
 *
 * Pure: a dialect reads no clock, does no I/O and logs nothing. It borrows the request and the
 * secrets and frees neither. `now_ms` is the wall clock.
 *
 * How to add one stands in dialects/README.md.
 */
#ifndef WAKEGATE_DIALECTS_DIALECT_H
#define WAKEGATE_DIALECTS_DIALECT_H

#include "gateway/core/buf.h"
#include "gateway/core/outcome.h"
#include "gateway/core/request.h"
#include "gateway/core/secret.h"
#include "gateway/core/settings.h"
#include "gateway/core/wake.h"

enum proof { PROOF_OK, PROOF_MISSING, PROOF_MALFORMED, PROOF_STALE, PROOF_WRONG };

struct proven {      /* what verify found, set for PROOF_OK */
    unsigned secret; /* which secret matched: its index in the keyring */
    unsigned scheme; /* index into the dialect's schemes */
    bool replayable; /* a MAC without a timestamp: the payload's own ts must be checked */
};

struct variant {      /* one of the triggers that a runtime offers */
    const char *name; /* config: "variant"; NULL where there is only one */
    bool idempotent;  /* the runtime itself drops a repeated idempotency key */
    const char *path; /* how its URL's path ends at the runtime; NULL: not known */
};

struct trigger_speech { /* how one trigger wants its dialect spoken */
    unsigned variant;   /* index into the dialect's variants */
    unsigned scheme;    /* index into the dialect's schemes */
    const struct secret *secret;
    struct slice prompt; /* the route's own instruction for the model; may be empty */
    struct slice handle; /* the route's handle, for a payload made from text; may be empty */
    json_t *fields;      /* object: members added to the body; NULL: none */
};

struct outgoing {       /* a request to a runtime, owned by whoever asked for it */
    struct buf headers; /* "Name: value" lines, each ended by NUL; Content-Type included */
    struct buf body;
};

struct verdict {            /* what a runtime's answer means */
    enum outcome_code code; /* ACCEPTED, REFUSED, GONE, UNAVAILABLE or AMBIGUOUS */
    bool duplicate;         /* accepted, but the runtime had it already */
    int64_t retry_after_ms; /* a wait that the runtime documents but does not send; 0: none */
    char run[128];
    char detail[160];
};

struct dialect {
    const char *name;           /* config: "dialect" */
    const char *const *schemes; /* names, NULL-terminated; config: "schemes", "scheme"; the first
                                   is spoken unless the config names another */
    const struct variant *variants;
    size_t variant_count;
    bool carries_text;         /* the body is a text for a model, not payload v1 */
    bool sends_token;          /* its secret is a token that is sent, not a key that signs */
    bool takes_fields;         /* config: a trigger's "fields" */
    bool reads_base64;         /* its key is what the secret says in base64 */
    unsigned accepted_status;  /* what the runtime itself answers, for `wakegate sink`: */
    const char *accepted_body; /*   a status and a JSON body in which one %s stands for a run id */

    /* Can this secret prove anything in this dialect? Asked once, when the config is read. */
    bool (*secret_fits)(const struct secret *secret, struct err *err);

    /* Is the request genuine, and fresh where the dialect has a timestamp? A scheme that the
     * keyring does not accept counts as absent. On anything but PROOF_OK `proven` is left alone and
     * `err` says which rule failed, for logs and `wakegate verify`: no secret, no digest. */
    enum proof (*verify)(const struct request *request, const struct keyring *keyring,
                         int64_t now_ms, struct proven *proven, struct err *err);

    /* The normalised wake, owning its memory; false: invalid_wake. The caller releases it either
     * way. */
    bool (*decode)(const struct request *request, struct wake *wake, struct err *err);

    /* The same dialect spoken outward. `key` is the idempotency key, used where the runtime has
     * one. false: the wake cannot be said in it (too long, or a key that cannot sign). */
    bool (*frame)(const struct wake *wake, const struct trigger_speech *speech, struct slice key,
                  int64_t now_ms, struct outgoing *out, struct err *err);

    /* What the runtime's answer means. A `retry_after_ms` that it sets beside an answer with a
     * Retry-After header is ignored there: the caller reads that header for every dialect. */
    void (*judge)(unsigned status, struct slice body, const struct trigger_speech *speech,
                  struct verdict *verdict);
};

/* All of them, NULL-terminated. */
extern const struct dialect *const dialects[];

/* Reads the key "dialect" of the config. NULL after a mistake, which stands in the report. */
const struct dialect *dialect_read(struct settings *settings);

const struct dialect *dialect_by_name(struct slice name); /* NULL: none of that name */

/* What to warn of about a secret that fits: "<what>; <what to do>"; NULL: nothing. */
const char *dialect_secret_doubt(const struct dialect *dialect, const struct secret *secret);

/* "missing", "malformed", "stale", "wrong", "ok". */
const char *proof_name(enum proof proof);

#endif
