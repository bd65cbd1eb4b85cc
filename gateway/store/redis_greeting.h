/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_greeting: what is said on a new connection before any operation, all in one write: who we
 * are, which database, the scripts, what happens when memory is full, and whether a key can be
 * written.
 */
#ifndef WAKEGATE_STORE_REDIS_GREETING_H
#define WAKEGATE_STORE_REDIS_GREETING_H

#include "gateway/store/redis_script.h"
#include "gateway/store/redis_url.h"

enum { REDIS_SHA_SIZE = 41 };

/* In this order; a script's step is GREET_SCRIPTS and its number. */
enum redis_greeting {
    GREET_AUTH,
    GREET_SELECT,
    GREET_SCRIPTS,
    GREET_INFO = GREET_SCRIPTS + REDIS_SCRIPTS,
    GREET_PROBE,
    GREET_DONE
};

/* The first step, from `step` on, that this URL needs. */
enum redis_greeting redis_greeting_from(const struct redis_url *url, int step);

void redis_greeting_command(struct redis_command *command, const struct redis_url *url,
                            enum redis_greeting step);

/* The text of the answer to a SCRIPT LOAD. false: not the digest of a script. */
bool redis_greeting_sha(struct slice text, char sha[static REDIS_SHA_SIZE]);

/* What the answer to INFO calls the policy for full memory; empty when it does not say. */
struct slice redis_greeting_policy(struct slice info);

#endif
