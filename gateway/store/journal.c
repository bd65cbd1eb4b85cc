/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines stand in one queue until the store has them; the operation under way has its beginning. A
 * store that says no is asked again later, with the same lines; where nobody knows whether it wrote
 * them they are gone, since twice would be worse than never.
 */
#include "gateway/store/journal.h"

#include <assert.h>
#include <stdlib.h>

#include "gateway/core/deadline.h"
#include "gateway/core/metrics.h"

#define JOURNAL_THREAD SLICE("#journal") /* no room's thread has a '#' */

enum { COLLECT_MS = 100, RETRY_MS = 1000, LINES_MAX = 8192, BYTES_MAX = 16 * 1024 * 1024 };

struct line {
    struct line *next;
    struct buf text;
};

struct journal {
    struct threads *threads;
    struct deadline deadline; /* then what was collected is written */
    struct threads_op append;
    struct line *first, **end;
    size_t count, bytes;
    bool closing;
    void (*closed)(void *context);
    void *context;
};

static void drop_lines(struct journal *journal, size_t count)
{
    while (count-- > 0) {
        struct line *line = journal->first;
        journal->first = line->next;
        journal->count--;
        journal->bytes -= line->text.len;
        buf_release(&line->text);
        free(line);
    }
    if (!journal->first)
        journal->end = &journal->first;
}

static void count_lost(size_t lines)
{
    *metrics_value(METRIC_JOURNAL_DROPPED, NULL, NULL, NULL) += lines;
}

static void on_appended(struct op *op);

static void write_lines(struct journal *journal)
{
    struct threads_op *append = &journal->append;

    deadline_clear(&journal->deadline);
    *append = (struct threads_op){.thread = JOURNAL_THREAD};
    for (struct line *line = journal->first; line && append->entry_count < THREADS_ENTRIES;
         line = line->next)
        append->entries[append->entry_count++] = buf_slice(&line->text);
    threads_submit(journal->threads, append, THREADS_APPEND, on_appended);
}

static void close_threads(struct journal *journal);

static void on_appended(struct op *op)
{
    struct threads_op *append = CONTAINER_OF(op, struct threads_op, op);
    struct journal *journal = CONTAINER_OF(append, struct journal, append);
    bool refused = append->answer == THREADS_DOWN;

    if (append->answer == THREADS_UNSURE)
        count_lost(append->entry_count);
    if (!refused)
        drop_lines(journal, append->entry_count);
    if (journal->closing && (refused || journal->count == 0))
        close_threads(journal);
    else if (journal->closing || (!refused && journal->count >= THREADS_ENTRIES))
        write_lines(journal);
    else if (journal->count > 0)
        deadline_set(&journal->deadline, refused ? RETRY_MS : COLLECT_MS);
}

static void on_deadline(struct deadline *deadline)
{
    write_lines(CONTAINER_OF(deadline, struct journal, deadline));
}

void journal_add(struct journal *journal, struct buf *text)
{
    if (journal->count == LINES_MAX || journal->bytes + text->len > BYTES_MAX) {
        count_lost(1);
        buf_release(text);
        return;
    }
    struct line *line = mem_new(sizeof(*line));
    line->text = *text;
    *text = (struct buf){.max = text->max};
    *journal->end = line;
    journal->end = &line->next;
    journal->bytes += line->text.len;
    journal->count++;
    if (journal->append.op.running)
        return;
    if (journal->count == 1)
        deadline_set(&journal->deadline, COLLECT_MS);
    else if (journal->count == THREADS_ENTRIES)
        write_lines(journal);
}

void journal_read(struct journal *journal, struct threads_op *op, void (*done)(struct op *op))
{
    op->thread = JOURNAL_THREAD;
    op->one_page = true;
    threads_submit(journal->threads, op, THREADS_READ, done);
}

/* --- opening and closing --- */

struct journal *journal_open(struct store *store, const struct journal_settings *settings,
                             struct turn *turn)
{
    struct err err = {0};
    const struct threads_settings kept = {.kept = settings->kept,
                                          .kept_ms = settings->kept_ms,
                                          .window_ms = settings->kept_ms,
                                          .unfollowed = true};

    if (!settings->on)
        return NULL;
    struct threads *threads = threads_open(store, &kept, turn, NULL, NULL, &err);
    assert(threads);
    struct journal *journal = mem_new(sizeof(*journal));
    *journal = (struct journal){.threads = threads, .end = &journal->first};
    deadline_open(&journal->deadline, turn->loop, on_deadline);
    return journal;
}

static void on_deadline_closed(struct deadline *deadline)
{
    struct journal *journal = CONTAINER_OF(deadline, struct journal, deadline);
    void (*closed)(void *context) = journal->closed;
    void *context = journal->context;

    free(journal);
    closed(context);
}

static void on_threads_closed(void *context)
{
    struct journal *journal = context;

    deadline_close(&journal->deadline, on_deadline_closed);
}

static void close_threads(struct journal *journal)
{
    count_lost(journal->count);
    drop_lines(journal, journal->count);
    threads_close(journal->threads, on_threads_closed, journal);
}

void journal_close(struct journal *journal, void (*closed)(void *context), void *context)
{
    if (!journal) {
        closed(context);
        return;
    }
    journal->closing = true;
    journal->closed = closed;
    journal->context = context;
    if (journal->append.op.running)
        return;
    if (journal->count > 0)
        write_lines(journal);
    else
        close_threads(journal);
}
