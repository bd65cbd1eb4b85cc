/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texts: the instructions for a woken model as AgentChat serves them (contract v1, section 3.6),
 * for text triggers whose route has no prompt of its own.
 *
 * Of each runtime that a trigger wants, the last good copy is taken from the store, then the texts
 * are fetched, and again every day; what comes is kept in the store, as it came. A failure leaves
 * the copy in force and is tried again, after a second at first and in the end after an hour. No
 * wake waits for any of this: it goes out with what there is.
 */
#ifndef WAKEGATE_RELAY_TEXTS_H
#define WAKEGATE_RELAY_TEXTS_H

#include "gateway/core/settings.h"
#include "gateway/store/store.h"

struct http_client;
struct texts;

struct texts_settings {
    struct slice url; /* of the API, without a slash at its end; borrowed from the JSON */
    bool private_too;
    bool on;
    struct secret key; /* an API key; without text: none is sent. Owned */
};

/* Reads the top-level object "agentchat". */
void texts_settings_read(struct settings *settings, struct texts_settings *texts);
void texts_settings_release(struct texts_settings *settings);

/* The runtimes that AgentChat has texts for, NULL-terminated, and the one that fits any trigger. */
extern const char *const texts_runtimes[];
enum { TEXTS_GENERIC = 0, TEXTS_RUNTIMES = 5 };

/* Keeps what it needs of the settings. NULL: it is turned off. */
struct texts *texts_open(const struct texts_settings *settings, struct turn *turn,
                         struct store *store, struct http_client *client);
/* `closed` comes when nothing of it is left; may come at once, and for NULL. Before the store and
 * the client. */
void texts_close(struct texts *texts, void (*closed)(void *context), void *context);

/* From now on these texts are held ready. NULL is fine. */
void texts_want(struct texts *texts, size_t runtime);

/* The instruction for a wake of this reason; empty: there is none (yet). Good until the next turn.
 */
struct slice texts_instruction(const struct texts *texts, size_t runtime, struct slice reason);

#endif
