/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_link: one line to one Redis, on which operations are pipelined.
 *
 * The operations of each turn go out in one write; answers end them in the order in which they were
 * sent. While the line is not ready every operation ends at once with the reason; when it is lost,
 * all that were sent do.
 *
 * Needs Redis 6 or later, or what speaks like it, not as a cluster. What its user may do stands in
 * the README; INFO may be refused.
 */
#ifndef WAKEGATE_STORE_REDIS_LINK_H
#define WAKEGATE_STORE_REDIS_LINK_H

#include "gateway/store/redis.h"
#include "gateway/store/redis_url.h"
#include "gateway/store/store.h"

enum { REDIS_NO_SCRIPT = -1 };

enum redis_taken { REDIS_MORE, REDIS_TAKEN, REDIS_ODD };

/* What a kind of operation does; task->work.redis. */
struct redis_work {
    /* Builds the command. `sha`: the digest of task->script, or NULL to send its text. */
    void (*write)(const struct store_task *task, struct redis_command *command, const char *sha);
    /* Reads its answer; of an array one element after the other, until it is no more REDIS_MORE.
     * REDIS_ODD: no such answer. */
    enum redis_taken (*take)(struct store_task *task, const struct redis_reply *reply);
    /* STORE_OK: the answer was taken. STORE_DOWN, STORE_UNSURE: as in store.h. */
    void (*end)(struct store_task *task, enum store_answer how, const struct err *why);
    bool takes_errors; /* `take` reads an error too, which says nothing of the server */
};

struct redis_link;

struct redis_link_use {
    const char *name;             /* in logs, after the place; "" */
    void (*ready)(void *context); /* the connection can be used; may be NULL */
    void *context;
    bool endless; /* its one operation is asked for again and again: where that is refused, the
                     connection is made anew */
    struct err *warning; /* kept up to date: how the server forgets; may be NULL */
};

/* Takes what `url` owns. */
struct redis_link *redis_link_open(struct redis_url *url, const struct redis_link_use *use,
                                   struct turn *turn);
/* Another connection to the same Redis. */
struct redis_link *redis_link_twin(const struct redis_link *link, const struct redis_link_use *use);
/* task->work.redis, of and script are set. */
void redis_link_send(struct redis_link *link, struct store_task *task);
/* Forgets what was sent: it is not ended. Only redis_link_close may follow. */
void redis_link_forget(struct redis_link *link);
/* What the server says of how it forgets, when it was asked; `info` empty: it does not say. */
void redis_link_warn(struct redis_link *link, struct slice info);
/* No operation may be running. */
void redis_link_close(struct redis_link *link, void (*closed)(void *context), void *context);

#endif
