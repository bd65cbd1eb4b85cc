/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_greeting: what is said on a new connection before any operation, all in one write: who we
 * are, which server this is, whether it is the master, which database, the scripts, and whether a
 * key can be written. Then the answers, one after the other.
 */
#ifndef WAKEGATE_STORE_REDIS_GREETING_H
#define WAKEGATE_STORE_REDIS_GREETING_H

#include "gateway/store/redis_script.h"
#include "gateway/store/redis_url.h"

enum { REDIS_SHA_SIZE = 41 };

#define REDIS_ODD_ANSWER "an answer that fits no question"

/* In this order; a script's step is GREET_SCRIPTS and its number. */
enum redis_step {
    GREET_AUTH,
    GREET_INFO,
    GREET_ROLE,
    GREET_SELECT,
    GREET_SCRIPTS,
    GREET_PROBE = GREET_SCRIPTS + REDIS_SCRIPTS,
    GREET_DONE
};

struct redis_greeting {
    enum redis_step step;                     /* whose answer comes next */
    uint64_t seen, left;                      /* elements of ROLE's answer */
    char shas[REDIS_SCRIPTS][REDIS_SHA_SIZE]; /* of the scripts */
    struct err warning;                       /* as redis_info_warning */
};

/* Writes the greeting to `out`; its answers come next. */
void redis_greeting_begin(struct redis_greeting *greeting, const struct redis_url *url,
                          struct buf *out);

enum redis_greeted { GREETED_PARTLY, GREETED, GREETED_BADLY };

/* `why` and `lasting`: as redis_fault; only where it went badly. */
enum redis_greeted redis_greeting_take(struct redis_greeting *greeting, const struct redis_url *url,
                                       const struct redis_reply *reply, struct err *why,
                                       bool *lasting);

#endif
