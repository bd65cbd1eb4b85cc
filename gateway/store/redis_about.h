/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_about: which server it is and what its clock says, asked once over a store's connection.
 * Nothing is changed there.
 */
#ifndef WAKEGATE_STORE_REDIS_ABOUT_H
#define WAKEGATE_STORE_REDIS_ABOUT_H

#include "gateway/core/op.h"
#include "gateway/store/store.h"

enum { REDIS_VERSION_SIZE = 48 };

struct redis_about {
    struct op op;
    bool told;                        /* INFO was answered; not where the user may not ask */
    char version[REDIS_VERSION_SIZE]; /* "7.2.4"; "" when it does not say */
    bool no_append_file;              /* it says that it keeps none */
    int64_t clock_ms;                 /* TIME; 0: it does not say */
    int64_t asked_ms, answered_ms;    /* wall times here, around TIME's answer */

    unsigned elements; /* the rest is its own */
    struct turn *turn;
    struct store_task info, time;
};

/* `store` is of store_redis, and is closed after `done`. */
void redis_about_ask(struct store *store, struct turn *turn, struct redis_about *about,
                     void (*done)(struct op *op));

#endif
