/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/store/sqlite_schema.h"

#include <assert.h>

const char sqlite_schema[] =
    "CREATE TABLE claims (key TEXT NOT NULL PRIMARY KEY, state INTEGER NOT NULL,"
    " owner TEXT NOT NULL, since_ms INTEGER NOT NULL, for_ms INTEGER NOT NULL,"
    " expires_ms INTEGER NOT NULL, generation INTEGER NOT NULL, after INTEGER NOT NULL)"
    " STRICT, WITHOUT ROWID;"
    "CREATE INDEX claims_expire ON claims (expires_ms);"
    "CREATE TABLE gates (gate TEXT NOT NULL PRIMARY KEY, rest_since_ms INTEGER NOT NULL,"
    " rest_for_ms INTEGER NOT NULL, parts INTEGER NOT NULL, filled_ms INTEGER NOT NULL)"
    " STRICT, WITHOUT ROWID;"
    "CREATE TABLE pulse (beats INTEGER NOT NULL) STRICT;"
    "INSERT INTO pulse VALUES (0);"
    "PRAGMA application_id = 2002873189;"
    "PRAGMA user_version = 1;";

static_assert(SQL_OURS == 2002873189 && SQL_LAYOUT == 1, "the schema names them");

/* A position is never given twice, also not that of an entry which is gone. How long an entry is
 * kept is written beside it, since those who append may keep theirs for different times. An offer
 * is alive from `since_ms` until before `until_ms`, and known until `expires_ms`. */
const char sqlite_threads_schema[] =
    "CREATE TABLE IF NOT EXISTS entries (position INTEGER PRIMARY KEY AUTOINCREMENT,"
    " thread TEXT NOT NULL, at_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL,"
    " text TEXT NOT NULL) STRICT;"
    "CREATE INDEX IF NOT EXISTS entries_thread ON entries (thread, position);"
    "CREATE INDEX IF NOT EXISTS entries_expire ON entries (expires_ms);"
    "CREATE TABLE IF NOT EXISTS offers (thread TEXT NOT NULL, id TEXT NOT NULL,"
    " state INTEGER NOT NULL, owner TEXT NOT NULL, claim TEXT NOT NULL,"
    " since_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL,"
    " PRIMARY KEY (thread, id)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS offers_expire ON offers (expires_ms);"
    "CREATE TABLE IF NOT EXISTS presence (thread TEXT NOT NULL, instance TEXT NOT NULL,"
    " clients INTEGER NOT NULL, since_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL,"
    " PRIMARY KEY (thread, instance)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS presence_until ON presence (until_ms);";

const char *const sqlite_statements[SQL_COUNT] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",
    /* A ping writes, so that a disk that takes no more writes is seen. */
    [SQL_PULSE] = "UPDATE pulse SET beats = beats + 1",
    [SQL_SWEEP] = "DELETE FROM claims WHERE key IN"
                  " (SELECT key FROM claims WHERE expires_ms <= ?1 LIMIT ?2)",
    [SQL_READ_CLAIM] = "SELECT state, owner, since_ms, for_ms, expires_ms, generation, after"
                       " FROM claims WHERE key = ?1",
    [SQL_WRITE_CLAIM] = "REPLACE INTO claims"
                        " (key, state, owner, since_ms, for_ms, expires_ms, generation, after)"
                        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [SQL_DROP_CLAIM] = "DELETE FROM claims WHERE key = ?1",
    [SQL_READ_GATE] = "SELECT rest_since_ms, rest_for_ms, parts, filled_ms FROM gates"
                      " WHERE gate = ?1",
    [SQL_WRITE_GATE] = "REPLACE INTO gates (gate, rest_since_ms, rest_for_ms, parts, filled_ms)"
                       " VALUES (?1, ?2, ?3, ?4, ?5)",

    [SQL_APPEND] = "INSERT INTO entries (thread, at_ms, expires_ms, text) VALUES (?1, ?2, ?3, ?4)",
    /* To find the last one that is kept takes a walk over all that are. It is not made before an
     * entry is so old that more than ?2 and a 256th may be there. */
    [SQL_TRIM] = "DELETE FROM entries WHERE thread = ?1 AND position <= CASE WHEN"
                 " (SELECT min(position) FROM entries WHERE thread = ?1) + ?2 + ?2 / 256 <="
                 " (SELECT max(position) FROM entries WHERE thread = ?1)"
                 " THEN (SELECT position FROM entries WHERE thread = ?1"
                 " ORDER BY position DESC LIMIT 1 OFFSET ?2) END",
    [SQL_TRIM_OLD] = "DELETE FROM entries WHERE position IN"
                     " (SELECT position FROM entries WHERE expires_ms <= ?1 LIMIT ?2)",
    [SQL_READ_ENTRIES] = "SELECT position, text FROM entries"
                         " WHERE thread = ?1 AND position > ?2 AND at_ms > ?3"
                         " ORDER BY position LIMIT ?4",
    [SQL_READ_END] = "SELECT position FROM entries WHERE thread = ?1"
                     " ORDER BY position DESC LIMIT 1",
    [SQL_READ_OFFER] = "SELECT state, owner, claim, since_ms <= ?3 AND until_ms > ?3 FROM offers"
                       " WHERE thread = ?1 AND id = ?2",
    [SQL_READ_PENDING] = "SELECT id FROM offers WHERE thread = ?1 AND state = 0"
                         " AND since_ms <= ?2 AND until_ms > ?2",
    [SQL_WRITE_OFFER] = "REPLACE INTO offers"
                        " (thread, id, state, owner, claim, since_ms, until_ms, expires_ms)"
                        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [SQL_SWEEP_OFFERS] = "DELETE FROM offers WHERE (thread, id) IN"
                         " (SELECT thread, id FROM offers WHERE expires_ms <= ?1 LIMIT ?2)",
    [SQL_WRITE_PRESENCE] = "REPLACE INTO presence (thread, instance, clients, since_ms, until_ms)"
                           " VALUES (?1, ?2, ?3, ?4, ?5)",
    [SQL_DROP_PRESENCE] = "DELETE FROM presence WHERE thread = ?1 AND instance = ?2",
    [SQL_COUNT_PRESENCE] = "SELECT count(*) FROM presence"
                           " WHERE thread = ?1 AND since_ms <= ?2 AND until_ms > ?2",
    [SQL_SWEEP_PRESENCE] = "DELETE FROM presence WHERE (thread, instance) IN"
                           " (SELECT thread, instance FROM presence"
                           " WHERE until_ms <= ?1 LIMIT ?2)",
};
