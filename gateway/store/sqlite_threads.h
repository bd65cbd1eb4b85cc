/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_threads: what an operation on a thread does to the rows of the file. In the worker, inside
 * a transaction.
 */
#ifndef WAKEGATE_STORE_SQLITE_THREADS_H
#define WAKEGATE_STORE_SQLITE_THREADS_H

#include "gateway/store/sqlite.h"
#include "gateway/store/threads.h"

/* Sets the answer. false: as in sqlite.h. */
bool sqlite_threads_do(struct sqlite *sqlite, struct threads_op *op,
                       const struct threads_settings *settings, int64_t now_ms, struct err *err);

#endif
