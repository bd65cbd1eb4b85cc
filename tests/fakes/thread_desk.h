/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_desk: a store that keeps threads in memory and does as the contract in threads.h says, and
 * on which a test can lay a script: keep an operation's answer back, answer otherwise, with or
 * without having done it. What other instances do, the test does itself.
 */
#ifndef WAKEGATE_TESTS_FAKES_THREAD_DESK_H
#define WAKEGATE_TESTS_FAKES_THREAD_DESK_H

#include "gateway/store/threads_impl.h"

enum { DESK_ENTRIES = 256, DESK_VERBS = THREADS_PRESENT + 1 };

enum desk_how { AS_ASKED, INSTEAD, AFTER_DOING };
enum desk_offer { DESK_NONE, DESK_OFFERED, DESK_TAKEN, DESK_WITHDRAWN };

struct thread_desk {
    struct store store; /* to be given to threads_open */
    struct store_impl impl;
    struct threads *threads; /* once it was opened */
    struct turn *turn;
    char *entries[DESK_ENTRIES]; /* of the one thread that a test uses */
    size_t entry_count;
    unsigned present;
    enum desk_offer state;
    char offer[64], owner[64], key[64], taker[64];
    int64_t for_ms;
    unsigned asked[DESK_VERBS]; /* how often */

    /* the script, by verb */
    bool keep_back[DESK_VERBS]; /* the next answer waits for desk_answer */
    enum desk_how how[DESK_VERBS];
    enum threads_answer answer[DESK_VERBS]; /* INSTEAD of doing it, or AFTER_DOING it; once */
    struct threads_op *kept[DESK_VERBS];
};

void desk_open(struct thread_desk *desk, struct turn *turn);
void desk_release(struct thread_desk *desk);

/* Gives the answer that was kept back; what was asked is done now. */
void desk_answer(struct thread_desk *desk, enum threads_verb verb);

/* Another instance takes the offer that is pending; false: there is none. */
bool desk_take(struct thread_desk *desk, const char *taker);
/* The pending offer's time ends. */
void desk_expire(struct thread_desk *desk);

#endif
