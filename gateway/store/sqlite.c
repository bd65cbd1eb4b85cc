/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file is locked while it is open: a second process would keep its own idea of what is in the
 * cache. Everything that can be wrong with a file is found when it is opened, which ends in a
 * write. The write-ahead log is copied into the file by SQLite itself, in whatever thread commits.
 */
#include "gateway/store/sqlite.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "gateway/core/buf.h"

enum {
    LAYOUT = 1,          /* of the tables, as PRAGMA user_version */
    OURS = 0x77616b65,   /* "wake", as PRAGMA application_id */
    LOCK_WAIT_MS = 1000, /* at open, for a process that is just ending */
    OWNER_BYTES_MAX = 256
};

enum statement {
    BEGIN,
    COMMIT,
    ROLLBACK,
    PULSE,
    SWEEP,
    READ_CLAIM,
    WRITE_CLAIM,
    DROP_CLAIM,
    READ_GATE,
    WRITE_GATE,
    STATEMENT_COUNT
};

static const char *const statements[STATEMENT_COUNT] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    /* A ping writes, so that a disk that takes no more writes is seen. */
    [PULSE] = "UPDATE pulse SET beats = beats + 1",
    [SWEEP] = "DELETE FROM claims WHERE key IN"
              " (SELECT key FROM claims WHERE expires_ms <= ?1 LIMIT ?2)",
    [READ_CLAIM] = "SELECT state, owner, since_ms, for_ms, expires_ms FROM claims WHERE key = ?1",
    [WRITE_CLAIM] = "REPLACE INTO claims (key, state, owner, since_ms, for_ms, expires_ms)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [DROP_CLAIM] = "DELETE FROM claims WHERE key = ?1",
    [READ_GATE] = "SELECT rest_since_ms, rest_for_ms, parts, filled_ms FROM gates WHERE gate = ?1",
    [WRITE_GATE] = "REPLACE INTO gates (gate, rest_since_ms, rest_for_ms, parts, filled_ms)"
                   " VALUES (?1, ?2, ?3, ?4, ?5)",
};

static const char schema[] =
    "CREATE TABLE claims (key TEXT NOT NULL PRIMARY KEY, state INTEGER NOT NULL,"
    " owner TEXT NOT NULL, since_ms INTEGER NOT NULL, for_ms INTEGER NOT NULL,"
    " expires_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE INDEX claims_expire ON claims (expires_ms);"
    "CREATE TABLE gates (gate TEXT NOT NULL PRIMARY KEY, rest_since_ms INTEGER NOT NULL,"
    " rest_for_ms INTEGER NOT NULL, parts INTEGER NOT NULL, filled_ms INTEGER NOT NULL)"
    " STRICT, WITHOUT ROWID;"
    "CREATE TABLE pulse (beats INTEGER NOT NULL) STRICT;"
    "INSERT INTO pulse VALUES (0);"
    "PRAGMA application_id = 2002873189;"
    "PRAGMA user_version = 1;";

static_assert(OURS == 2002873189 && LAYOUT == 1, "the schema names them");

struct sqlite {
    sqlite3 *db;
    sqlite3_stmt *prepared[STATEMENT_COUNT];
    struct buf owner; /* of the record that was read last */
};

/* SQLite's words for the last failure; where they say little, with the system's or with a number.
 */
static bool fail(const struct sqlite *sqlite, struct err *err)
{
    int code = sqlite3_errcode(sqlite->db), number = sqlite3_system_errno(sqlite->db);
    const char *words = sqlite3_errmsg(sqlite->db);

    if (code == SQLITE_BUSY)
        return err_set(err, "in use by another process");
    if (code != SQLITE_IOERR && code != SQLITE_CANTOPEN)
        return err_set(err, "%s", words);
    if (number == 0)
        return err_set(err, "%s (SQLite's %d)", words, sqlite3_extended_errcode(sqlite->db));
    return err_set(err, "%s (%s)", words, uv_strerror(uv_translate_sys_error(number)));
}

static sqlite3_stmt *bind_text(const struct sqlite *sqlite, enum statement which, int at,
                               struct slice text)
{
    sqlite3_stmt *statement = sqlite->prepared[which];

    sqlite3_bind_text(statement, at, text.data, (int)text.len, SQLITE_STATIC);
    return statement;
}

/* Runs a statement that gives no rows. */
static bool run(const struct sqlite *sqlite, enum statement which, struct err *err)
{
    sqlite3_stmt *statement = sqlite->prepared[which];
    bool ok = sqlite3_step(statement) == SQLITE_DONE;

    if (!ok)
        fail(sqlite, err);
    sqlite3_reset(statement);
    return ok;
}

bool sqlite_begin(struct sqlite *sqlite, struct err *err)
{
    return run(sqlite, BEGIN, err);
}

bool sqlite_commit(struct sqlite *sqlite, struct err *err)
{
    return run(sqlite, COMMIT, err);
}

void sqlite_roll_back(struct sqlite *sqlite)
{
    if (!sqlite3_get_autocommit(sqlite->db))
        run(sqlite, ROLLBACK, NULL);
}

bool sqlite_pulse(struct sqlite *sqlite, struct err *err)
{
    return run(sqlite, PULSE, err);
}

bool sqlite_sweep(struct sqlite *sqlite, int64_t now_ms, int64_t at_most, struct err *err)
{
    sqlite3_bind_int64(sqlite->prepared[SWEEP], 1, now_ms);
    sqlite3_bind_int64(sqlite->prepared[SWEEP], 2, at_most);
    return run(sqlite, SWEEP, err);
}

bool sqlite_read_record(struct sqlite *sqlite, struct slice key, struct record *record,
                        struct err *err)
{
    sqlite3_stmt *row = bind_text(sqlite, READ_CLAIM, 1, key);
    int code = sqlite3_step(row);

    *record = (struct record){0};
    if (code == SQLITE_ROW) {
        const char *owner = (const char *)sqlite3_column_text(row, 1);
        buf_clear(&sqlite->owner);
        buf_append(&sqlite->owner,
                   (struct slice){.data = owner, .len = (size_t)sqlite3_column_bytes(row, 1)});
        *record = (struct record){
            .state = (enum record_state)sqlite3_column_int(row, 0),
            .owner = buf_slice(&sqlite->owner),
            .since_ms = sqlite3_column_int64(row, 2),
            .for_ms = sqlite3_column_int64(row, 3),
            .expires_ms = sqlite3_column_int64(row, 4),
        };
    } else if (code != SQLITE_DONE) {
        fail(sqlite, err);
    }
    sqlite3_reset(row);
    return code == SQLITE_ROW || code == SQLITE_DONE;
}

bool sqlite_write_record(struct sqlite *sqlite, struct slice key, const struct record *record,
                         struct err *err)
{
    if (record->state == RECORD_FREE) {
        bind_text(sqlite, DROP_CLAIM, 1, key);
        return run(sqlite, DROP_CLAIM, err);
    }
    assert(record->owner.len <= OWNER_BYTES_MAX);
    sqlite3_stmt *row = bind_text(sqlite, WRITE_CLAIM, 1, key);
    sqlite3_bind_int(row, 2, (int)record->state);
    bind_text(sqlite, WRITE_CLAIM, 3, record->owner);
    sqlite3_bind_int64(row, 4, record->since_ms);
    sqlite3_bind_int64(row, 5, record->for_ms);
    sqlite3_bind_int64(row, 6, record->expires_ms);
    return run(sqlite, WRITE_CLAIM, err);
}

bool sqlite_read_gate(struct sqlite *sqlite, struct slice key, struct gate_record *gate,
                      struct err *err)
{
    *gate = gate_record_new();
    sqlite3_stmt *row = bind_text(sqlite, READ_GATE, 1, key);
    int code = sqlite3_step(row);
    if (code == SQLITE_ROW)
        *gate = (struct gate_record){
            .rest_since_ms = sqlite3_column_int64(row, 0),
            .rest_for_ms = sqlite3_column_int64(row, 1),
            .parts = sqlite3_column_int64(row, 2),
            .filled_ms = sqlite3_column_int64(row, 3),
        };
    else if (code != SQLITE_DONE)
        fail(sqlite, err);
    sqlite3_reset(row);
    return code == SQLITE_ROW || code == SQLITE_DONE;
}

bool sqlite_write_gate(struct sqlite *sqlite, struct slice key, const struct gate_record *gate,
                       struct err *err)
{
    sqlite3_stmt *row = bind_text(sqlite, WRITE_GATE, 1, key);

    sqlite3_bind_int64(row, 2, gate->rest_since_ms);
    sqlite3_bind_int64(row, 3, gate->rest_for_ms);
    sqlite3_bind_int64(row, 4, gate->parts);
    sqlite3_bind_int64(row, 5, gate->filled_ms);
    return run(sqlite, WRITE_GATE, err);
}

static bool execute(const struct sqlite *sqlite, const char *sql, struct err *err)
{
    return sqlite3_exec(sqlite->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail(sqlite, err);
}

/* The number that a query gives in its only row. */
static bool ask_number(const struct sqlite *sqlite, const char *sql, int *number, struct err *err)
{
    sqlite3_stmt *query = NULL;

    bool ok = sqlite3_prepare_v2(sqlite->db, sql, -1, &query, NULL) == SQLITE_OK &&
              sqlite3_step(query) == SQLITE_ROW;
    if (ok)
        *number = sqlite3_column_int(query, 0);
    else
        fail(sqlite, err);
    sqlite3_finalize(query);
    return ok;
}

/* An empty file is made ours; any other must be ours already, and of this layout. */
static bool check_layout(const struct sqlite *sqlite, bool *empty, struct err *err)
{
    int owner = 0, layout = 0, tables = 0;

    if (!ask_number(sqlite, "PRAGMA application_id", &owner, err) ||
        !ask_number(sqlite, "PRAGMA user_version", &layout, err) ||
        !ask_number(sqlite, "SELECT count(*) FROM sqlite_schema", &tables, err))
        return false;
    *empty = owner == 0 && layout == 0 && tables == 0;
    if (owner != OURS && !*empty)
        return err_set(err, "the file is another program's database");
    if (layout != LAYOUT && !*empty)
        return err_set(err, "the file has layout %d, this version of wakegate knows layout %d",
                       layout, LAYOUT);
    return true;
}

static bool set_modes(const struct sqlite *sqlite, struct err *err)
{
    int wal = 0;

    if (!execute(sqlite, "PRAGMA journal_mode = WAL", err) ||
        !execute(sqlite, "PRAGMA synchronous = FULL", err) ||
        !ask_number(sqlite, "SELECT journal_mode = 'wal' FROM pragma_journal_mode", &wal, err))
        return false;
    return wal || err_set(err, "the file system does not allow a write-ahead log");
}

static bool prepare(struct sqlite *sqlite, struct err *err)
{
    for (int i = 0; i < STATEMENT_COUNT; i++)
        if (sqlite3_prepare_v3(sqlite->db, statements[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &sqlite->prepared[i], NULL) != SQLITE_OK)
            return fail(sqlite, err);
    return true;
}

static bool open_file(struct sqlite *sqlite, const char *path, struct err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    bool empty = false;

    if (sqlite3_open_v2(path, &sqlite->db, flags, NULL) != SQLITE_OK)
        return fail(sqlite, err);
    if (sqlite3_db_readonly(sqlite->db, "main") == 1)
        return err_set(err, "the file may only be read");
    sqlite3_busy_timeout(sqlite->db, LOCK_WAIT_MS);
    return execute(sqlite, "PRAGMA locking_mode = EXCLUSIVE", err) &&
           check_layout(sqlite, &empty, err) && set_modes(sqlite, err) &&
           execute(sqlite, "BEGIN IMMEDIATE", err) && (!empty || execute(sqlite, schema, err)) &&
           execute(sqlite, "UPDATE pulse SET beats = beats + 1; COMMIT", err) &&
           prepare(sqlite, err);
}

/* As SQLite takes it for nothing but a path: no URI, no memory. NULL: it is none. */
static char *plain_path(struct slice path, struct err *err)
{
    if (path.len == 0 || memchr(path.data, '\0', path.len)) {
        err_set(err, "the path of a file is wanted");
        return NULL;
    }
    if (slice_eq(path, SLICE(":memory:"))) {
        err_set(err, "memory would forget what was relayed; the path of a file is wanted");
        return NULL;
    }
    struct buf plain = BUF_INIT(path.len + 2);
    buf_append(&plain, path.data[0] == '/' ? SLICE("") : SLICE("./"));
    buf_append(&plain, path);
    return plain.data;
}

bool sqlite_open(struct slice path, struct sqlite **sqlite, struct err *err)
{
    char *plain = plain_path(path, err);

    if (!plain)
        return false;
    struct sqlite *opened = mem_new(sizeof(*opened));
    *opened = (struct sqlite){.owner = BUF_INIT(OWNER_BYTES_MAX)};
    bool ok = open_file(opened, plain, err);
    if (ok)
        *sqlite = opened;
    else
        sqlite_close(opened);
    free(plain);
    return ok;
}

void sqlite_close(struct sqlite *sqlite)
{
    if (!sqlite)
        return;
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(sqlite->prepared[i]);
    sqlite3_close(sqlite->db);
    buf_release(&sqlite->owner);
    free(sqlite);
}

const char *store_sqlite_library(void)
{
    return sqlite3_libversion();
}
