/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A position is the row's number, the same sequence for all threads. What began in the future,
 * because the clock went back, is over. What nobody may see any more is deleted by whoever writes
 * next, a bounded number at a time.
 */
#include "gateway/store/sqlite_threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gateway/core/buf.h"
#include "gateway/store/threads_impl.h"

enum { SWEEP = 2 * THREADS_ENTRIES, POSITION_SIZE = 24 };

enum offer_state { OFFER_PENDING = 0, OFFER_TAKEN = 1, OFFER_WITHDRAWN = 2 }; /* as in the file */

struct offer {
    bool known, alive;
    enum offer_state state;
    struct buf owner, claim;
};

struct step { /* of one operation */
    struct sqlite *sqlite;
    struct threads_op *op;
    const struct threads_settings *settings;
    int64_t now_ms;
    struct err *err;
};

/* --- history --- */

static bool sweep(const struct step *step, enum sqlite_statement which, int64_t until_ms)
{
    sqlite_bind_number(step->sqlite, which, 1, until_ms);
    sqlite_bind_number(step->sqlite, which, 2, SWEEP);
    return sqlite_run(step->sqlite, which, step->err);
}

static bool append(const struct step *step)
{
    const struct threads_op *op = step->op;

    for (size_t i = 0; i < op->entry_count; i++) {
        sqlite_bind(step->sqlite, SQL_APPEND, 1, op->thread);
        sqlite_bind_number(step->sqlite, SQL_APPEND, 2, step->now_ms);
        sqlite_bind_number(step->sqlite, SQL_APPEND, 3, step->now_ms + step->settings->kept_ms);
        sqlite_bind(step->sqlite, SQL_APPEND, 4, op->entries[i]);
        if (!sqlite_run(step->sqlite, SQL_APPEND, step->err))
            return false;
    }
    sqlite_bind(step->sqlite, SQL_TRIM, 1, op->thread);
    sqlite_bind_number(step->sqlite, SQL_TRIM, 2, step->settings->kept);
    return sqlite_run(step->sqlite, SQL_TRIM, step->err) && sweep(step, SQL_TRIM_OLD, step->now_ms);
}

static void add_row(const struct step *step, enum sqlite_statement which, bool with_text)
{
    char position[POSITION_SIZE];

    snprintf(position, sizeof(position), "%" PRId64, sqlite_number(step->sqlite, which, 0));
    threads_op_add(step->op, slice_from(position),
                   with_text ? sqlite_text(step->sqlite, which, 1) : SLICE(""));
}

static bool read_end(const struct step *step)
{
    bool row = false;

    sqlite_bind(step->sqlite, SQL_READ_END, 1, step->op->thread);
    if (!sqlite_next(step->sqlite, SQL_READ_END, &row, step->err))
        return false;
    if (row)
        add_row(step, SQL_READ_END, false);
    sqlite_reset(step->sqlite, SQL_READ_END);
    return true;
}

/* SQLite reads ahead of nobody: a row that is not asked for costs nothing. */
static bool read_page(const struct step *step, uint64_t from)
{
    struct threads_op *op = step->op;
    size_t entries = 0, bytes = 0;
    bool row = true;

    sqlite_bind(step->sqlite, SQL_READ_ENTRIES, 1, op->thread);
    sqlite_bind_number(step->sqlite, SQL_READ_ENTRIES, 2, (int64_t)from);
    sqlite_bind_number(step->sqlite, SQL_READ_ENTRIES, 3, step->now_ms - step->settings->kept_ms);
    sqlite_bind_number(step->sqlite, SQL_READ_ENTRIES, 4, THREADS_PAGE_ENTRIES);
    while (bytes < THREADS_PAGE_BYTES) {
        if (!sqlite_next(step->sqlite, SQL_READ_ENTRIES, &row, step->err))
            return false;
        if (!row)
            break;
        add_row(step, SQL_READ_ENTRIES, true);
        bytes += op->read[op->read_count - 1].text.len;
        entries++;
    }
    sqlite_reset(step->sqlite, SQL_READ_ENTRIES);
    op->more = row || entries == THREADS_PAGE_ENTRIES;
    return true;
}

/* The id of the pending offer, as far as it counts. */
static bool read_pending(const struct step *step)
{
    bool row = false;

    sqlite_bind(step->sqlite, SQL_READ_PENDING, 1, step->op->thread);
    sqlite_bind_number(step->sqlite, SQL_READ_PENDING, 2, step->now_ms);
    if (!sqlite_next(step->sqlite, SQL_READ_PENDING, &row, step->err))
        return false;
    threads_op_pending(step->op, row ? sqlite_text(step->sqlite, SQL_READ_PENDING, 0) : SLICE(""));
    sqlite_reset(step->sqlite, SQL_READ_PENDING);
    return true;
}

static bool read_history(const struct step *step)
{
    uint64_t from = 0;

    if (step->op->only_end)
        return read_end(step);
    if (!slice_number(step->op->from, &from) || from > INT64_MAX) {
        const struct err no_position = {"what to read after is no position of this store"};
        threads_op_fail(step->op, THREADS_DOWN, &no_position);
        return true;
    }
    return read_page(step, from) && read_pending(step);
}

/* --- offers --- */

static bool read_offer(const struct step *step, struct offer *offer)
{
    struct sqlite *sqlite = step->sqlite;

    sqlite_bind(sqlite, SQL_READ_OFFER, 1, step->op->thread);
    sqlite_bind(sqlite, SQL_READ_OFFER, 2, step->op->offer);
    sqlite_bind_number(sqlite, SQL_READ_OFFER, 3, step->now_ms);
    if (!sqlite_next(sqlite, SQL_READ_OFFER, &offer->known, step->err))
        return false;
    if (!offer->known)
        return true;
    offer->state = (enum offer_state)sqlite_number(sqlite, SQL_READ_OFFER, 0);
    buf_append(&offer->owner, sqlite_text(sqlite, SQL_READ_OFFER, 1));
    buf_append(&offer->claim, sqlite_text(sqlite, SQL_READ_OFFER, 2));
    offer->alive = offer->state == OFFER_PENDING && sqlite_number(sqlite, SQL_READ_OFFER, 3) != 0;
    sqlite_reset(sqlite, SQL_READ_OFFER);
    return true;
}

static bool write_offer(const struct step *step, enum offer_state state)
{
    const struct threads_op *op = step->op;
    int64_t until_ms = step->now_ms + (state == OFFER_PENDING ? op->for_ms : 0);

    sqlite_bind(step->sqlite, SQL_WRITE_OFFER, 1, op->thread);
    sqlite_bind(step->sqlite, SQL_WRITE_OFFER, 2, op->offer);
    sqlite_bind_number(step->sqlite, SQL_WRITE_OFFER, 3, state);
    sqlite_bind(step->sqlite, SQL_WRITE_OFFER, 4, op->owner);
    sqlite_bind(step->sqlite, SQL_WRITE_OFFER, 5, op->key);
    sqlite_bind_number(step->sqlite, SQL_WRITE_OFFER, 6, step->now_ms);
    sqlite_bind_number(step->sqlite, SQL_WRITE_OFFER, 7, until_ms);
    sqlite_bind_number(step->sqlite, SQL_WRITE_OFFER, 8, until_ms + step->settings->window_ms);
    return sqlite_run(step->sqlite, SQL_WRITE_OFFER, step->err) &&
           sweep(step, SQL_SWEEP_OFFERS, step->now_ms);
}

static bool is_anybody_there(const struct step *step, bool *anybody)
{
    bool row = false;

    sqlite_bind(step->sqlite, SQL_COUNT_PRESENCE, 1, step->op->thread);
    sqlite_bind_number(step->sqlite, SQL_COUNT_PRESENCE, 2, step->now_ms);
    if (!sqlite_next(step->sqlite, SQL_COUNT_PRESENCE, &row, step->err))
        return false;
    *anybody = row && sqlite_number(step->sqlite, SQL_COUNT_PRESENCE, 0) > 0;
    sqlite_reset(step->sqlite, SQL_COUNT_PRESENCE);
    return true;
}

static bool make_offer(const struct step *step, const struct offer *offer)
{
    struct threads_op *op = step->op;
    bool ours = slice_eq(buf_slice(&offer->owner), op->owner), anybody = false;

    if (offer->known && offer->state != OFFER_PENDING) {
        op->answer = THREADS_SETTLED;
        return true;
    }
    if (!read_pending(step) || !is_anybody_there(step, &anybody))
        return false;
    if (op->pending)
        op->answer = offer->alive && ours ? THREADS_DONE : THREADS_BUSY;
    else
        op->answer = anybody ? THREADS_DONE : THREADS_NOBODY;
    bool fresh = op->answer == THREADS_DONE && !op->pending;
    threads_op_pending(op, SLICE(""));
    return !fresh || (write_offer(step, OFFER_PENDING) && append(step));
}

/* Stricter than a settlement: whatever says that the wake may have gone elsewhere is in its way. */
static bool relay_claim(const struct step *step, const struct offer *offer, bool *relayed)
{
    struct store_op settle = {
        .verb = STORE_SETTLE,
        .key = buf_slice(&offer->claim),
        .owner = buf_slice(&offer->owner),
    };
    struct record record;
    struct gate_record no_gate = gate_record_new();

    *relayed = false;
    if (!sqlite_read_record(step->sqlite, settle.key, &record, step->err))
        return false;
    bool known = record.state != RECORD_FREE && record.expires_ms > step->now_ms;
    if (known && (record.state == RECORD_RELAYED || !slice_eq(record.owner, settle.owner)))
        return true;
    record_decide(&settle, &record, &no_gate, step->now_ms, step->settings->window_ms);
    *relayed = settle.answer == STORE_OK;
    return !record.changed || sqlite_write_record(step->sqlite, settle.key, &record, step->err);
}

static bool take_offer(const struct step *step, const struct offer *offer)
{
    bool relayed = false;

    step->op->answer = THREADS_SETTLED;
    if (!offer->alive)
        return true;
    if (!relay_claim(step, offer, &relayed))
        return false;
    if (!relayed)
        return write_offer(step, OFFER_WITHDRAWN);
    step->op->answer = THREADS_DONE;
    return write_offer(step, OFFER_TAKEN) && append(step);
}

static bool withdraw_offer(const struct step *step, const struct offer *offer)
{
    struct threads_op *op = step->op;
    bool others = offer->alive && !slice_eq(buf_slice(&offer->owner), op->owner);
    bool taken = offer->known && offer->state == OFFER_TAKEN;
    bool before = offer->known && offer->state == OFFER_WITHDRAWN;

    op->answer = others || taken ? THREADS_SETTLED : THREADS_DONE;
    if (others || taken || before)
        return true;
    return write_offer(step, OFFER_WITHDRAWN) && append(step);
}

static bool with_offer(const struct step *step,
                       bool (*act)(const struct step *step, const struct offer *offer))
{
    struct offer offer = {.owner = BUF_INIT(SIZE_MAX / 4), .claim = BUF_INIT(SIZE_MAX / 4)};
    bool ok = read_offer(step, &offer) && act(step, &offer);

    buf_release(&offer.owner);
    buf_release(&offer.claim);
    return ok;
}

/* --- presence --- */

static bool write_presence(const struct step *step)
{
    const struct threads_op *op = step->op;
    enum sqlite_statement which = op->count > 0 ? SQL_WRITE_PRESENCE : SQL_DROP_PRESENCE;

    sqlite_bind(step->sqlite, which, 1, op->thread);
    sqlite_bind(step->sqlite, which, 2, op->instance);
    if (op->count > 0) {
        sqlite_bind_number(step->sqlite, which, 3, op->count);
        sqlite_bind_number(step->sqlite, which, 4, step->now_ms);
        sqlite_bind_number(step->sqlite, which, 5, step->now_ms + op->for_ms);
    }
    return sqlite_run(step->sqlite, which, step->err) &&
           sweep(step, SQL_SWEEP_PRESENCE, step->now_ms);
}

bool sqlite_threads_do(struct sqlite *sqlite, struct threads_op *op,
                       const struct threads_settings *settings, int64_t now_ms, struct err *err)
{
    const struct step step = {sqlite, op, settings, now_ms, err};

    op->answer = THREADS_DONE;
    switch (op->verb) {
    case THREADS_APPEND:
        return append(&step);
    case THREADS_READ:
        return read_history(&step);
    case THREADS_OFFER:
        return with_offer(&step, make_offer);
    case THREADS_TAKE:
        return with_offer(&step, take_offer);
    case THREADS_WITHDRAW:
        return with_offer(&step, withdraw_offer);
    case THREADS_PRESENT:
        return write_presence(&step);
    }
    return err_set(err, "no such verb");
}
