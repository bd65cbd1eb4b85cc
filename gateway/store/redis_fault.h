/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_fault: what an error answer of Redis means for the connection, and how it is told.
 */
#ifndef WAKEGATE_STORE_REDIS_FAULT_H
#define WAKEGATE_STORE_REDIS_FAULT_H

#include "gateway/core/err.h"
#include "gateway/core/slice.h"

#define REDIS_FAULT_KINDS 64

struct redis_fault {
    unsigned kind;   /* less than REDIS_FAULT_KINDS; the same for the same meaning */
    bool no_script;  /* the server forgot the script */
    bool wrong_node; /* this server does not take writes: the name may lead to another by now */
    bool lasting;    /* nothing to wait for: somebody must change the config or the server */
};

/* `words`: the error as the server put it, without the '-'. With `secret`, only as much is told of
 * it as is known beforehand, since a server may quote what it did not understand. */
struct redis_fault redis_fault_read(struct slice words, bool secret, struct err *why);

/* How long to wait for the next try after so many failures in a row. Half of it is chance, so that
 * many processes do not come back as one. */
uint64_t redis_fault_wait(unsigned failures, bool lasting);

#endif
