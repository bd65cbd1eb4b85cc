/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history: one thread as this process knows it, folded from its envelopes in the order in which
 * they were appended: the messages, the run in flight, and the offer that waits for an answer.
 *
 * It holds as much as the store keeps and forgets as the store does, by count and age. No I/O and
 * no clock.
 */
#ifndef WAKEGATE_RELAY_ROOM_HISTORY_H
#define WAKEGATE_RELAY_ROOM_HISTORY_H

#include "relay/room/envelope.h"

struct history_message {
    json_t *json;     /* owned */
    uint64_t entry;   /* the number of the last entry that brought it */
    int64_t began_ms; /* wall; when its run began */
    size_t size;      /* as text */
};

struct history {
    unsigned kept;   /* entries */
    int64_t kept_ms; /* their age */
    uint64_t entries;
    struct history_message *messages; /* in order */
    size_t message_count, message_room;
    json_t *flight; /* the envelopes of the run in flight; NULL: none */
    char *flight_run;
    bool flight_cut;        /* its beginning is lost */
    json_t *pending;        /* {interruptId, runId, payload} of the offer; NULL: none */
    uint64_t pending_until; /* steady ms */
};

/* What an entry settled, if it did. Owned by the caller. */
struct history_settled {
    char *interrupt; /* NULL: nothing */
    char *taker;     /* NULL: withdrawn */
};

void history_init(struct history *history, unsigned kept, int64_t kept_ms);
void history_release(struct history *history);

/* The next entry, parsed. false: it is no envelope, and was passed over. */
bool history_add(struct history *history, json_t *envelope, uint64_t steady_ms, int64_t wall_ms,
                 struct history_settled *settled);
/* The store's word on which offer is pending now; empty: none. */
void history_confirm(struct history *history, struct slice pending);

bool history_has_message(const struct history *history, struct slice id);

/* The answer to thread:messages; a new reference. Its messages are the newest that together have
 * `most` bytes, and always the last one. */
json_t *history_answer(struct history *history, size_t most, uint64_t steady_ms, int64_t wall_ms);

#endif
