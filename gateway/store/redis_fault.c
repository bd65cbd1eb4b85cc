/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/store/redis_fault.h"

#include <uv.h>

#define NO_CLUSTER "Redis Cluster is not supported"
#define NOT_OURS                                                                                   \
    "a key below wakegate: holds what wakegate did not write: delete it, or give wakegate a "      \
    "database of its own"
#define NO_RIGHT   "the user lacks a right that the README lists"
#define NO_ACCOUNT "the server has no password for the default user; leave it out of the URL"
#define NO_DB      "the server has no such database"

enum { WORDS_BYTES = 120, RETRY_FIRST_MS = 50, RETRY_MOST_MS = 2000, RETRY_LASTING_MS = 5000 };

/* By how the words begin; the first that fits counts. */
static const struct {
    const char *words, *meaning;
    struct redis_fault fault;
} known[] = {
    {"NOSCRIPT", "the script is gone", {.no_script = true}},
    {"READONLY", "the server is a read-only replica", {.wrong_node = true}},
    {"UNBLOCKED", "the server has become a replica", {.wrong_node = true}},
    {"MASTERDOWN", "the server is a replica without its master", {.wrong_node = true}},
    {"NOAUTH", "a password is needed", {.wrong_node = true, .lasting = true}},
    {"WRONGPASS", "the user or the password is wrong", {.lasting = true}},
    {"NOPERM", NO_RIGHT, {.lasting = true}},
    {"ERR The user executing the script", NO_RIGHT, {.lasting = true}},
    {"ERR ACL failure in script", NO_RIGHT, {.lasting = true}},
    {"DENIED", "the server is in protected mode: give it a password", {.lasting = true}},
    {"LOADING", "the server still loads its data", {0}},
    {"OOM", "the server's memory is full: raise its maxmemory", {0}},
    {"MISCONF", "the server cannot save its data; its log says why", {0}},
    {"NOREPLICAS", "too few replicas follow the server (min-replicas-to-write)", {0}},
    {"BUSY ", "a script keeps the server busy", {0}},
    {"WRONGTYPE", NOT_OURS, {.lasting = true}},
    {"ERR user_script", NOT_OURS, {.lasting = true}},
    {"MOVED", NO_CLUSTER, {.lasting = true}},
    {"ASK", NO_CLUSTER, {.lasting = true}},
    {"CLUSTERDOWN", NO_CLUSTER, {.lasting = true}},
    {"CROSSSLOT", NO_CLUSTER, {.lasting = true}},
    {"ERR SELECT is not allowed in cluster", NO_CLUSTER, {.lasting = true}},
    {"ERR max number of clients", "the server has as many clients as it takes (maxclients)", {0}},
    {"ERR AUTH <password> called without", NO_ACCOUNT, {.lasting = true}},
    {"ERR Client sent AUTH, but no password", NO_ACCOUNT, {.lasting = true}},
    {"ERR DB index", NO_DB, {.lasting = true}},
    {"ERR invalid DB index", NO_DB, {.lasting = true}},
    {"ERR unknown command", "the server lacks a command of Redis 6", {.lasting = true}},
    {"ERR", "the server refuses", {.lasting = true}},
    {"", "the server does not do it", {0}}, /* the last: everything begins with it */
};

_Static_assert(sizeof(known) / sizeof(known[0]) <= REDIS_FAULT_KINDS, "a bit for each");

/* Printable, for a log and for a sender. */
static void clean(char *text)
{
    for (; *text; text++)
        if (*text < 0x20 || *text > 0x7e)
            *text = '?';
}

/* What stands behind `mark`; all of it where that is not there. */
static struct slice behind(struct slice text, struct slice mark)
{
    for (struct slice rest = text; rest.len > mark.len; rest = slice_from_at(rest, 1))
        if (slice_starts(rest, mark))
            return slice_from_at(rest, mark.len);
    return text;
}

/* Before version 7 an error inside a script is wrapped, in one of these ways:
 *   ERR Error running script (call to f_<sha>): @user_script:1: WRONGTYPE Operation ...
 *   ERR Error running script (call to f_<sha>): @user_script:1: @user_script: 1: -OOM command ...
 * Since then its place stands behind: OOM command ... script: <sha>, on @user_script:1. */
static struct slice unwrap(struct slice words)
{
    const struct slice place = SLICE(" script: "), inner = SLICE("@user_script: ");
    struct slice line, error, last = behind(words, place), next = behind(last, place);

    for (; next.len < last.len; next = behind(last, place))
        last = next;
    if (last.len < words.len && behind(last, SLICE(", on @user_script")).len < last.len)
        return slice_first(words, words.len - last.len - place.len);
    if (!slice_starts(words, SLICE("ERR Error running script")))
        return words;
    slice_cut(behind(words, SLICE(": @user_script:")), ' ', &line, &error);
    if (slice_starts(error, inner))
        slice_cut(slice_from_at(error, inner.len), ' ', &line, &error);
    return slice_starts(error, SLICE("-")) ? slice_from_at(error, 1) : error;
}

/* A server before version 7 leaves the ERR out inside a script. */
static bool begins(struct slice words, const char *with)
{
    struct slice all = slice_from(with), err = SLICE("ERR ");

    if (slice_starts(words, all))
        return true;
    bool long_enough = slice_starts(all, err) && all.len > err.len;
    return long_enough && slice_starts(words, slice_from_at(all, err.len));
}

struct redis_fault redis_fault_read(struct slice words, bool secret, struct err *why)
{
    unsigned kind = 0;

    words = unwrap(words);
    while (!begins(words, known[kind].words))
        kind++;
    struct slice beforehand = slice_from(known[kind].words);
    if (secret && beforehand.len == 0)
        err_set(why, "the server does not take the password");
    else
        err_set(why, "%s (%.*s)", known[kind].meaning,
                SLICE_ARG(slice_first(secret ? beforehand : words, WORDS_BYTES)));
    clean(why->text);
    struct redis_fault fault = known[kind].fault;
    fault.kind = kind;
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
