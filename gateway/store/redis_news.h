/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_news: what the log is told of one connection: once for each change, however many wakes meet
 * it.
 *
 * A kind of refusal is told once, and again only after nothing was refused for a while, since other
 * operations may work in between: a full server still answers for what it knows. A connection that
 * comes up only to refuse is not told as up.
 */
#ifndef WAKEGATE_STORE_REDIS_NEWS_H
#define WAKEGATE_STORE_REDIS_NEWS_H

#include "gateway/store/redis_fault.h"

enum { REDIS_CALM_MS = 10 * 1000 };

struct redis_news {
    const char *place; /* of the server, as it is known by now; borrowed */
    const char *name;  /* of the connection, after the place; borrowed */
    struct err down;   /* what was told last; empty: that it is up */
    bool refuses;      /* since it was up, and nothing else */
    uint64_t told;     /* kinds of refusals, as bits */
    uint64_t refused_ms;
};

void redis_news_down(struct redis_news *news, const struct err *why);
void redis_news_ready(struct redis_news *news);
/* `key`: what it was about; may be empty. */
void redis_news_refused(struct redis_news *news, const struct redis_fault *fault,
                        const struct err *why, struct slice key, uint64_t now_ms);
void redis_news_answered(struct redis_news *news, uint64_t now_ms);
/* How the server forgets; empty: as it should. */
void redis_news_warning(struct redis_news *news, const struct err *warning);

#endif
