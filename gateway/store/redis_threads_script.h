/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_threads_script: each operation on a thread as one Lua script, and the layout of what they
 * keep.
 *
 *   wakegate:1:history:{<thread>}   stream, an entry's text as `e`; its id is the position
 *   wakegate:1:offer:{<thread>}     hash: id, owner, claim (its key), since, span; only while
 * pending wakegate:1:settled:<length of id>:<id>{<thread>}   "T<taker>" taken, "W" withdrawn
 *   wakegate:1:present:{<thread>}   hash: instance -> "<since> <span> <count>"
 *   wakegate:1:feed                 stream, as `t` each thread that has grown; only its end is kept
 *
 * A script of a thread touches the claim of a route too, which is why there is no Redis Cluster.
 * Since, span, expiry and length are milliseconds. What began in the future, because the server's
 * clock went back, is over.
 */
#ifndef WAKEGATE_STORE_REDIS_THREADS_SCRIPT_H
#define WAKEGATE_STORE_REDIS_THREADS_SCRIPT_H

#include "gateway/store/redis.h"
#include "gateway/store/threads.h"

#define REDIS_FEED "wakegate:1:feed"

const char *redis_threads_script_text(enum threads_verb verb);

/* As redis_script_command. */
void redis_threads_script_command(struct redis_command *command, const struct threads_op *op,
                                  const char *sha, const struct threads_settings *settings);

/* Reads the answer of all but a read. false: not such an answer. */
bool redis_threads_script_answer(struct threads_op *op, struct slice text);

#endif
