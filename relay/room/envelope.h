/* SPDX-License-Identifier: Apache-2.0 */
/*
 * envelope: the runs that wakegate itself puts into a thread, as the texts of their envelopes.
 *
 *   stored    a wake that is only left there: its message, its text, finished
 *   offer     a wake that somebody may take: its message, its text, an interrupt, paused, finished
 *   settled   what became of an offer: taken, by whom, or withdrawn
 *
 * An offer is taken by answering its interrupt. What became of it stands in `result` of the last
 * envelope of the settled run: {interruptId, settled: "taken" | "withdrawn", taker}; the text
 * between says the same to people.
 *
 * Pure: ids and the time are arguments.
 */
#ifndef WAKEGATE_RELAY_ROOM_ENVELOPE_H
#define WAKEGATE_RELAY_ROOM_ENVELOPE_H

#include <jansson.h>

#include "gateway/core/slice.h"

enum {
    PROTOCOL_MAJOR = 1,
    PROTOCOL_MINOR = 17,
    ENVELOPES_OF_RUN = 8,
    ENVELOPE_ID_SIZE = 33 /* of a fresh id, with its NUL */
};

struct run {
    struct slice thread, id; /* borrowed */
    int64_t now_ms;          /* wall */
    char *texts[ENVELOPES_OF_RUN];
    size_t count;
};

/* Each fills a run of which only thread, id and now_ms are set. `text` is a JSON string. */
void run_stored(struct run *run, struct slice message_id, json_t *text);
/* `payload` is the wake's payload v1; the offer ends by itself after `for_ms`. */
void run_offer(struct run *run, struct slice message_id, json_t *text, struct slice interrupt,
               json_t *payload, int64_t for_ms);
/* `taker` empty: withdrawn. */
void run_settled(struct run *run, struct slice interrupt, struct slice taker);
/* The texts, as entries for the store. */
void run_entries(const struct run *run, struct slice *entries, size_t *count);
void run_release(struct run *run);

/* 32 random hex digits. */
void envelope_fresh_id(char id[static ENVELOPE_ID_SIZE]);

/* What protocol:hello and GET /protocol say; a new reference. */
json_t *envelope_hello(void);

/* What an envelope from a thread's history says. Borrowed from it. */
struct envelope {
    struct slice run, type;
    int64_t sequence;
    json_t *event;
};

/* false: it is no envelope. */
bool envelope_read(json_t *json, struct envelope *envelope);
bool envelope_ends_run(const struct envelope *envelope);

#endif
