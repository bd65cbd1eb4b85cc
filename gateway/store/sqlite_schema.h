/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_schema: the tables in the file and every statement on them. No SQLite.
 *
 * Whatever a statement needs that an older version's file lacks is a new layout: a row in the
 * upgrades brings such files to it when they are opened. An older version refuses what is newer. A
 * table that may be missing, and is made where it is, needs no new layout.
 *
 *   1   the first: in some, claims have no generation, or not what they come after
 *   2   all have both
 */
#ifndef WAKEGATE_STORE_SQLITE_SCHEMA_H
#define WAKEGATE_STORE_SQLITE_SCHEMA_H

enum {
    SQL_LAYOUT = 2,        /* of the tables, as PRAGMA user_version */
    SQL_OURS = 0x77616b65, /* "wake", as PRAGMA application_id */
};

enum sqlite_statement {
    SQL_BEGIN,
    SQL_COMMIT,
    SQL_ROLLBACK,
    SQL_PULSE,
    SQL_SWEEP,
    SQL_READ_CLAIM,
    SQL_WRITE_CLAIM,
    SQL_DROP_CLAIM,
    SQL_READ_GATE,
    SQL_WRITE_GATE,

    SQL_APPEND,
    SQL_TRIM,
    SQL_TRIM_OLD,
    SQL_READ_ENTRIES,
    SQL_READ_END,
    SQL_READ_OFFER,
    SQL_READ_PENDING,
    SQL_WRITE_OFFER,
    SQL_SWEEP_OFFERS,
    SQL_WRITE_PRESENCE,
    SQL_DROP_PRESENCE,
    SQL_COUNT_PRESENCE,
    SQL_SWEEP_PRESENCE,
    SQL_COUNT
};

/* What an older layout may lack: does this file (a query whose only row is 0 or 1), and what adds
 * it. The last row is NULL. */
struct sqlite_upgrade {
    const char *lacks, *add;
};
extern const struct sqlite_upgrade sqlite_upgrades[];
extern const char sqlite_upgraded[]; /* says that the file now has this layout */

/* A new file gets both; the second, which came later, any file that lacks it. */
extern const char sqlite_schema[], sqlite_threads_schema[];

extern const char *const sqlite_statements[SQL_COUNT];

#endif
