/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite: what is stored as rows of one SQLite file. The only file that knows SQLite.
 *
 * One connection, to be used by one thread at a time. Everything blocks. false: SQLite's words are
 * in `err`, the transaction is to be rolled back, and a later one may well work.
 */
#ifndef WAKEGATE_STORE_SQLITE_H
#define WAKEGATE_STORE_SQLITE_H

#include "gateway/store/record.h"
#include "gateway/store/sqlite_schema.h"

struct sqlite;

/* Stands in the reason where another process has the file. */
#define SQLITE_IN_USE "in use by another process"

/* Makes the file where there is none, and brings one of an older layout to this one. Refuses what
 * is no file of ours, of a later layout, not writable, or open in another process. */
bool sqlite_open(struct slice path, struct sqlite **sqlite, struct err *err);
/* The layout that the file says it has, without opening or locking it; 0: it is none of ours.
 * false: there is none yet. */
bool sqlite_peek(const char *path, int *layout);
void sqlite_close(struct sqlite *sqlite); /* NULL is fine */

bool sqlite_begin(struct sqlite *sqlite, struct err *err);
bool sqlite_commit(struct sqlite *sqlite, struct err *err); /* durable when it returns */
void sqlite_roll_back(struct sqlite *sqlite);               /* where something was begun */

/* The record's owner stays readable until the next read. */
bool sqlite_read_record(struct sqlite *sqlite, struct slice key, struct record *record,
                        struct err *err);
bool sqlite_write_record(struct sqlite *sqlite, struct slice key, const struct record *record,
                         struct err *err);
bool sqlite_read_gate(struct sqlite *sqlite, struct slice key, struct gate_record *gate,
                      struct err *err);
bool sqlite_write_gate(struct sqlite *sqlite, struct slice key, const struct gate_record *gate,
                       struct err *err);

/* Any statement: bind all that it has, then run it, or take its rows one by one. What is bound is
 * borrowed. After the last row, and after a failure, nothing is left to do; sqlite_reset ends it
 * earlier. Columns can be read until the next step; columns from 0, places to bind from 1. */
void sqlite_bind(struct sqlite *sqlite, enum sqlite_statement which, int at, struct slice text);
void sqlite_bind_number(struct sqlite *sqlite, enum sqlite_statement which, int at, int64_t number);
bool sqlite_run(struct sqlite *sqlite, enum sqlite_statement which, struct err *err);
bool sqlite_next(struct sqlite *sqlite, enum sqlite_statement which, bool *row, struct err *err);
void sqlite_reset(struct sqlite *sqlite, enum sqlite_statement which);
struct slice sqlite_text(struct sqlite *sqlite, enum sqlite_statement which, int column);
int64_t sqlite_number(struct sqlite *sqlite, enum sqlite_statement which, int column);

/* Writes something, so that a disk that takes no more writes is seen. */
bool sqlite_pulse(struct sqlite *sqlite, struct err *err);
/* Deletes expired records. */
bool sqlite_sweep(struct sqlite *sqlite, int64_t now_ms, int64_t at_most, struct err *err);

#endif
