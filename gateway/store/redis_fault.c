/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/store/redis_fault.h"

#include <uv.h>

#define NO_CLUSTER "Redis Cluster is not supported"

enum { WORDS_BYTES = 160, RETRY_FIRST_MS = 50, RETRY_MOST_MS = 2000, RETRY_LASTING_MS = 5000 };

/* Errors that are not listed (LOADING, OOM, BUSY, MISCONF, NOREPLICAS, ...) pass, and the server's
 * words say enough. */
static const struct {
    const char *word, *meaning;
    struct redis_fault fault;
} known[] = {
    {"NOSCRIPT", "the script is gone", {.no_script = true}},
    {"READONLY", "the server is a read-only replica", {.wrong_node = true}},
    {"MASTERDOWN", "the server is a replica without its master", {.wrong_node = true}},
    {"NOAUTH", "a password is needed", {.wrong_node = true, .lasting = true}},
    {"WRONGPASS", "the user or the password is wrong", {.lasting = true}},
    {"NOPERM", "the user has not the right", {.lasting = true}},
    {"MOVED", NO_CLUSTER, {.lasting = true}},
    {"ASK", NO_CLUSTER, {.lasting = true}},
    {"CLUSTERDOWN", NO_CLUSTER, {.lasting = true}},
    {"CROSSSLOT", NO_CLUSTER, {.lasting = true}},
    {"ERR", "the server refuses", {.lasting = true}},
};

/* Printable, for a log and for a sender. */
static void clean(char *text)
{
    for (; *text; text++)
        if (*text < 0x20 || *text > 0x7e)
            *text = '?';
}

/* Before version 7 an error inside a script is wrapped:
 * "ERR Error running script (call to f_<sha>): @user_script:1: -OOM command not allowed ...". */
static struct slice unwrap(struct slice words)
{
    const struct slice mark = SLICE(": -");

    if (!slice_starts(words, SLICE("ERR Error running script")))
        return words;
    for (struct slice rest = words; rest.len > mark.len; rest = slice_from_at(rest, 1))
        if (slice_starts(rest, mark))
            return slice_from_at(rest, mark.len);
    return words;
}

struct redis_fault redis_fault_read(struct slice words, bool secret, struct err *why)
{
    struct redis_fault fault = {0};
    const char *meaning = "the server does not do it";
    struct slice word, rest;
    bool is_known = false;

    words = unwrap(words);
    slice_cut(words, ' ', &word, &rest);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (!slice_eq(word, slice_from(known[i].word)))
            continue;
        is_known = true;
        meaning = known[i].meaning;
        fault = known[i].fault;
    }
    if (secret && !is_known)
        err_set(why, "the server does not take the password");
    else
        err_set(why, "%s (%.*s)", meaning,
                SLICE_ARG(slice_first(secret ? word : words, WORDS_BYTES)));
    clean(why->text);
    return fault;
}

uint64_t redis_fault_wait(unsigned failures, bool lasting)
{
    uint64_t wait = RETRY_FIRST_MS;

    for (unsigned i = 1; i < failures && wait < RETRY_MOST_MS; i++)
        wait *= 2;
    if (wait > RETRY_MOST_MS)
        wait = RETRY_MOST_MS;
    if (lasting)
        wait = RETRY_LASTING_MS;
    return wait / 2 + uv_hrtime() % (wait / 2);
}
