/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake: one agentchat.wake, normalised (AgentChat contract v1, section 3.5).
 *
 * A wake owns one block of memory in which everything its slices point at stands, so that it can
 * outlive the request it came in. What a dialect does not carry is absent: an empty slice, 0,
 * false. A wake from a text dialect has `text` and, where the text stood alone, only that, the
 * delivery_id and the attempt beside it.
 */
#ifndef WAKEGATE_CORE_WAKE_H
#define WAKEGATE_CORE_WAKE_H

#include <jansson.h>

#include "gateway/core/err.h"
#include "gateway/core/trace.h"

struct conversation {
    struct slice id;
    int64_t unread;
    struct slice latest_sender;
};

struct wake {
    int64_t version;          /* 0: not carried */
    struct slice reason;      /* messages, reminder, invite, unanswered, test, or one yet unknown */
    int64_t step;             /* the rung of an unanswered wake, 1 to 4; 0: not carried */
    struct slice handle;      /* "@name" */
    struct slice summary;     /* for people and models, never parsed */
    struct slice delivery_id; /* names the cycle; never empty once decoded */
    struct slice ts;          /* as sent */
    int64_t ts_ms;            /* the same as wall time; 0: absent */
    bool test;
    int64_t attempt;    /* from a text's trailer; 0: not carried */
    struct slice text;  /* the whole text of a text dialect */
    struct slice raw;   /* the body as received, where that body is payload v1 and no more */
    struct trace trace; /* of the request, where wake_keep_trace was asked for it */
    struct conversation *conversations;
    size_t conversation_count;

    char *memory; /* owned: all of the above */
    size_t used, size;
};

/* Takes `payload`, the top-level object of a request, apart into an empty wake, which gets the room
 * of wake_reserve and is the caller's to release, on failure too. `payload` is not kept. Errors:
 * known fields of a wrong type (null is one, except for `step`), a `type` other than
 * agentchat.wake, a delivery_id that cannot be one. No errors: absent fields, also an absent `type`
 * or delivery_id, so the caller decides what it needs; unknown fields; a `ts` that is no time; any
 * version; conversations without an id or beyond LIMIT_CONVERSATIONS, which are left out. */
bool wake_read_payload(struct wake *wake, json_t *payload, struct slice body, struct err *err);

/* Gives an empty wake room for so many conversations, for the body itself, for every string decoded
 * from it once, and for a few ids beside it. */
void wake_reserve(struct wake *wake, struct slice body, size_t conversations);

/* The same for a wake that is put together: `bytes` of strings beside the ids and the trace, and an
 * array for its conversations. */
void wake_reserve_for(struct wake *wake, size_t conversations, size_t bytes);

/* Copies bytes into the wake's own memory, whose room must not be exceeded. */
struct slice wake_keep(struct wake *wake, struct slice bytes);

/* Copies the request's trace; once. */
void wake_keep_trace(struct wake *wake, const struct request *request);

/* 1 to LIMIT_DELIVERY_ID_BYTES of letters, digits, '-' and '_': what fits a header, a Redis key and
 * the signed content of Standard Webhooks alike. The contract sends a UUID. */
bool wake_is_delivery_id(struct slice id);

/* The reason, "messages" where the dialect carried none. */
struct slice wake_reason(const struct wake *wake);

void wake_release(struct wake *wake);

#endif
