/* SPDX-License-Identifier: Apache-2.0 */
/* A read under way has memory of its own, so that its thread may be unfollowed meanwhile. */
#include "gateway/store/follow.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/deadline.h"

enum { BUCKETS = 1024, RETRY_MS = 200 };

struct reading {
    struct threads_op op;
    struct follow *follow;
    struct followed *of; /* NULL: not followed any more */
    char *thread, *from;
};

struct followed {
    struct followed *next; /* in its bucket */
    struct threads *threads;
    char *thread;
    size_t thread_len;
    char *position;          /* NULL: where the history ends, to be found out */
    struct reading *reading; /* NULL: none runs */
    bool dirty;              /* to be read again */
};

struct follow {
    void (*appended)(void *context, struct slice thread, const struct threads_entry *entries,
                     size_t count);
    void *context;
    struct followed *buckets[BUCKETS];
    struct deadline retry;
    size_t readings;
    bool closing, has_retry;
    void (*closed)(void *context);
    void *closed_context;
};

static void read_on(struct follow *follow, struct followed *followed);

static struct followed **find(struct follow *follow, struct slice thread)
{
    uint64_t hash = 14695981039346656037U; /* FNV-1a */

    for (size_t i = 0; i < thread.len; i++)
        hash = (hash ^ (unsigned char)thread.data[i]) * 1099511628211U;
    struct followed **at = &follow->buckets[(hash ^ hash >> 32) % BUCKETS];
    while (*at && !slice_eq((struct slice){(*at)->thread, (*at)->thread_len}, thread))
        at = &(*at)->next;
    return at;
}

static void look_at(struct follow *follow, struct followed *followed)
{
    followed->dirty = true;
    if (!followed->reading)
        read_on(follow, followed);
}

void follow_look(struct follow *follow, struct slice thread)
{
    struct followed *followed = *find(follow, thread);

    if (followed && !follow->closing)
        look_at(follow, followed);
}

void follow_look_at_all(struct follow *follow)
{
    for (size_t i = 0; i < BUCKETS && !follow->closing; i++)
        for (struct followed *at = follow->buckets[i]; at; at = at->next)
            look_at(follow, at);
}

/* --- reading --- */

static void free_when_gone(struct follow *follow)
{
    if (!follow->closing || follow->readings > 0 || follow->has_retry)
        return;
    void (*closed)(void *) = follow->closed;
    void *context = follow->closed_context;

    free(follow);
    closed(context);
}

static void free_reading(struct reading *reading)
{
    reading->follow->readings--;
    threads_op_release(&reading->op);
    free(reading->thread);
    free(reading->from);
    free(reading);
}

/* Unfollowing, closing and following anew may happen in the middle of it. */
static void tell(struct reading *reading)
{
    struct follow *follow = reading->follow;
    const struct threads_op *op = &reading->op;

    if (!reading->of)
        return;
    if (op->read_count > 0) {
        free(reading->of->position);
        reading->of->position = mem_text(op->read[op->read_count - 1].position);
    }
    if (!reading->of->position)
        reading->of->position = mem_text(op->end);
    if (op->read_count > 0 && !op->only_end)
        follow->appended(follow->context, op->thread, op->read, op->read_count);
}

static void on_read(struct op *op)
{
    struct threads_op *threads_op = CONTAINER_OF(op, struct threads_op, op);
    struct reading *reading = CONTAINER_OF(threads_op, struct reading, op);
    struct follow *follow = reading->follow;
    bool failed = threads_op->answer != THREADS_DONE;

    if (!failed)
        tell(reading);
    struct followed *followed = reading->of;
    if (followed) {
        followed->reading = NULL;
        followed->dirty = followed->dirty || failed || threads_op->only_end;
    }
    free_reading(reading);
    if (failed && !follow->closing)
        deadline_set(&follow->retry, RETRY_MS);
    else if (followed && followed->dirty)
        read_on(follow, followed);
    free_when_gone(follow);
}

static void read_on(struct follow *follow, struct followed *followed)
{
    struct reading *reading = mem_new(sizeof(*reading));
    struct slice thread = {followed->thread, followed->thread_len};

    *reading = (struct reading){
        .follow = follow,
        .of = followed,
        .thread = mem_text(thread),
        .from = followed->position ? mem_text(slice_from(followed->position)) : NULL,
    };
    reading->op.thread = (struct slice){reading->thread, thread.len};
    reading->op.after = slice_from(reading->from);
    reading->op.only_end = !followed->position;
    followed->reading = reading;
    followed->dirty = false;
    follow->readings++;
    threads_submit(followed->threads, &reading->op, THREADS_READ, on_read);
}

static void on_retry(struct deadline *deadline)
{
    struct follow *follow = CONTAINER_OF(deadline, struct follow, retry);

    for (size_t i = 0; i < BUCKETS; i++)
        for (struct followed *at = follow->buckets[i]; at; at = at->next)
            if (at->dirty && !at->reading)
                read_on(follow, at);
}

/* --- following --- */

void follow_add(struct follow *follow, struct threads *threads, struct slice thread,
                struct slice after)
{
    struct followed **at = find(follow, thread);

    if (*at || follow->closing)
        return;
    struct followed *followed = mem_new(sizeof(*followed));
    *followed = (struct followed){
        .threads = threads,
        .thread = mem_text(thread),
        .thread_len = thread.len,
        .position = after.len > 0 ? mem_text(after) : NULL,
    };
    *at = followed;
    read_on(follow, followed);
}

static void free_followed(struct followed *followed)
{
    if (followed->reading)
        followed->reading->of = NULL;
    free(followed->thread);
    free(followed->position);
    free(followed);
}

void follow_remove(struct follow *follow, struct slice thread)
{
    struct followed **at = find(follow, thread), *followed = *at;

    if (!followed)
        return;
    *at = followed->next;
    free_followed(followed);
}

struct follow *follow_open(struct turn *turn,
                           void (*appended)(void *context, struct slice thread,
                                            const struct threads_entry *entries, size_t count),
                           void *context)
{
    struct follow *follow = mem_new(sizeof(*follow));

    *follow = (struct follow){.appended = appended, .context = context, .has_retry = true};
    deadline_open(&follow->retry, turn->loop, on_retry);
    return follow;
}

static void on_retry_closed(struct deadline *deadline)
{
    struct follow *follow = CONTAINER_OF(deadline, struct follow, retry);

    follow->has_retry = false;
    free_when_gone(follow);
}

void follow_close(struct follow *follow, void (*closed)(void *context), void *context)
{
    follow->closing = true;
    follow->closed = closed;
    follow->closed_context = context;
    for (size_t i = 0; i < BUCKETS; i++) {
        while (follow->buckets[i]) {
            struct followed *followed = follow->buckets[i];
            follow->buckets[i] = followed->next;
            free_followed(followed);
        }
    }
    deadline_close(&follow->retry, on_retry_closed);
}
