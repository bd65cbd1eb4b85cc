/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task: one operation in the queue of an implementation, be it of the store or of the threads.
 *
 * Embedded in the operation; nobody but the implementation looks at it. What is to be done with it
 * stands in a table of functions of the implementation's own kind.
 */
#ifndef WAKEGATE_STORE_TASK_H
#define WAKEGATE_STORE_TASK_H

#include <stdint.h>

struct redis_work;  /* redis_link.h */
struct sqlite_work; /* embedded.h */

struct store_task {
    struct store_task *next;
    union {
        const struct redis_work *redis;
        const struct sqlite_work *sqlite;
    } work;
    void *of;         /* what it was submitted to */
    int script;       /* redis: which one it runs; REDIS_NO_SCRIPT */
    uint64_t sent_ms; /* redis: for its time-out */
};

#endif
