/* SPDX-License-Identifier: Apache-2.0 */
/* embedded: the batch worker of the store in a file, as the threads use it. */
#ifndef WAKEGATE_STORE_EMBEDDED_H
#define WAKEGATE_STORE_EMBEDDED_H

#include "gateway/store/sqlite.h"

/* What a kind of operation does; task->work.sqlite. */
struct sqlite_work {
    /* In the worker, inside a transaction. false: all of the batch is rolled back. */
    bool (*run)(struct store_task *task, struct sqlite *sqlite, int64_t now_ms, struct err *err);
    /* On the loop. `failed` NULL: it is done and durable. */
    void (*end)(struct store_task *task, const struct err *failed);
};

/* Goes into the next batch. task->work.sqlite and task->of are set. */
void embedded_run(struct store *store, struct store_task *task);

#endif
