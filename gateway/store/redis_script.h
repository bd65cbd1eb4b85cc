/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_script: each operation of the store as one Lua script, which Redis runs in one step, and
 * the layout of what they keep.
 *
 *   wakegate:1:{<route>}:claim:<destination>/<delivery_id>
 *     "<state><since> <for> <generation> <after> <owner>"
 *   wakegate:1:{<route>}:gate:<target>
 *     "<rest since> <rest for> <missing> <counted>"
 *   wakegate:1:ping
 *
 * state: C claimed, H held, R relayed, F free after a generation that nobody accepted. `after`:
 * what a claim repeats, 1 an ended lease, 2 an ended hold; 0 nothing. Times are
 * milliseconds of the server's own clock. `missing`: what the bucket lacked at `counted`, in
 * milliseconds at one token an hour. A record lives for as long as it says something, and the
 * window after that. {<route>} is one hash tag for all that a script touches.
 *
 * Versions of wakegate run side by side on one Redis, so within a layout's number each must read
 * what any other wrote. May change: the scripts (each version loads and names its own), how long a
 * record is kept where that is longer, keys of kinds that are new. May not: how a key is made of
 * its names, a record's fields, their order and their units, a state's letter or its meaning, whose
 * clock it is. Such a change is a new number; records of the old one are not read then, so all
 * instances are stopped before the first new one starts, and what was relayed before is forgotten.
 */
#ifndef WAKEGATE_STORE_REDIS_SCRIPT_H
#define WAKEGATE_STORE_REDIS_SCRIPT_H

#include "gateway/store/redis.h"
#include "gateway/store/threads.h"

#define REDIS_LAYOUT "wakegate:1:"

/* Numbers of scripts: the verbs of the store, then those of the threads. */
enum { REDIS_THREADS_SCRIPTS = STORE_HOLD + 1 };
enum { REDIS_SCRIPTS = REDIS_THREADS_SCRIPTS + THREADS_PRESENT + 1 };

/* The text of the script; NULL for a ping, which needs none. */
const char *redis_script_text(int script);

/* The key of a claim, in the command's buffer `at`. */
struct slice redis_script_claim(struct redis_command *command, int at, struct slice key);

/* Builds the command of `op`. `sha` is the script's digest, or NULL to send its text. A ping writes
 * a key, so that it fails where a claim would. */
void redis_script_command(struct redis_command *command, const struct store_op *op, const char *sha,
                          int64_t window_ms);

/* Reads what the command answered into the operation. false: not such an answer. */
bool redis_script_answer(struct store_op *op, struct slice text);

#endif
