/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file is locked while it is open: a second process would keep its own idea of what is in the
 * cache. Everything that can be wrong with a file is found when it is opened, which ends in a
 * write. The write-ahead log is copied into the file by SQLite itself, in whatever thread commits.
 */
#include "gateway/store/sqlite.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "gateway/core/buf.h"

enum {
    LOCK_WAIT_MS = 1000, /* at open, for a process that is just ending */
    OWNER_BYTES_MAX = 256
};

struct sqlite {
    sqlite3 *db;
    sqlite3_stmt *prepared[SQL_COUNT];
    struct buf owner; /* of the record that was read last */
};

/* SQLite's words for the last failure; where they say little, with the system's or with a number.
 */
static bool fail(const struct sqlite *sqlite, struct err *err)
{
    int code = sqlite3_errcode(sqlite->db), number = sqlite3_system_errno(sqlite->db);
    const char *words = sqlite3_errmsg(sqlite->db);

    if (code == SQLITE_BUSY)
        return err_set(err, SQLITE_IN_USE);
    if (code != SQLITE_IOERR && code != SQLITE_CANTOPEN)
        return err_set(err, "%s", words);
    if (number == 0)
        return err_set(err, "%s (SQLite's %d)", words, sqlite3_extended_errcode(sqlite->db));
    return err_set(err, "%s (%s)", words, uv_strerror(uv_translate_sys_error(number)));
}

/* --- any statement --- */

void sqlite_bind(struct sqlite *sqlite, enum sqlite_statement which, int at, struct slice text)
{
    const char *data = text.data ? text.data : "";

    sqlite3_bind_text(sqlite->prepared[which], at, data, (int)text.len, SQLITE_STATIC);
}

void sqlite_bind_number(struct sqlite *sqlite, enum sqlite_statement which, int at, int64_t number)
{
    sqlite3_bind_int64(sqlite->prepared[which], at, number);
}

bool sqlite_next(struct sqlite *sqlite, enum sqlite_statement which, bool *row, struct err *err)
{
    int code = sqlite3_step(sqlite->prepared[which]);

    *row = code == SQLITE_ROW;
    if (*row)
        return true;
    if (code != SQLITE_DONE)
        fail(sqlite, err);
    sqlite3_reset(sqlite->prepared[which]);
    return code == SQLITE_DONE;
}

void sqlite_reset(struct sqlite *sqlite, enum sqlite_statement which)
{
    sqlite3_reset(sqlite->prepared[which]);
}

struct slice sqlite_text(struct sqlite *sqlite, enum sqlite_statement which, int column)
{
    const char *text = (const char *)sqlite3_column_text(sqlite->prepared[which], column);
    int len = sqlite3_column_bytes(sqlite->prepared[which], column);

    return (struct slice){.data = text, .len = (size_t)len};
}

int64_t sqlite_number(struct sqlite *sqlite, enum sqlite_statement which, int column)
{
    return sqlite3_column_int64(sqlite->prepared[which], column);
}

bool sqlite_run(struct sqlite *sqlite, enum sqlite_statement which, struct err *err)
{
    bool row = false, ok = sqlite_next(sqlite, which, &row, err);

    assert(!row);
    return ok;
}

/* --- transactions --- */

bool sqlite_begin(struct sqlite *sqlite, struct err *err)
{
    return sqlite_run(sqlite, SQL_BEGIN, err);
}

bool sqlite_commit(struct sqlite *sqlite, struct err *err)
{
    return sqlite_run(sqlite, SQL_COMMIT, err);
}

void sqlite_roll_back(struct sqlite *sqlite)
{
    if (!sqlite3_get_autocommit(sqlite->db))
        sqlite_run(sqlite, SQL_ROLLBACK, NULL);
}

bool sqlite_pulse(struct sqlite *sqlite, struct err *err)
{
    return sqlite_run(sqlite, SQL_PULSE, err);
}

bool sqlite_sweep(struct sqlite *sqlite, int64_t now_ms, int64_t at_most, struct err *err)
{
    sqlite_bind_number(sqlite, SQL_SWEEP, 1, now_ms);
    sqlite_bind_number(sqlite, SQL_SWEEP, 2, at_most);
    return sqlite_run(sqlite, SQL_SWEEP, err);
}

/* --- records --- */

/* Claimed again it might be accepted twice, and believed it might be held for ever. */
static bool damaged(struct err *err)
{
    return err_set(err, "a record in the file is damaged");
}

bool sqlite_read_record(struct sqlite *sqlite, struct slice key, struct record *record,
                        struct err *err)
{
    bool row = false;

    *record = (struct record){0};
    sqlite_bind(sqlite, SQL_READ_CLAIM, 1, key);
    if (!sqlite_next(sqlite, SQL_READ_CLAIM, &row, err))
        return false;
    if (!row)
        return true;
    const int64_t state = sqlite_number(sqlite, SQL_READ_CLAIM, 0);
    buf_clear(&sqlite->owner);
    bool whole = buf_append(&sqlite->owner, sqlite_text(sqlite, SQL_READ_CLAIM, 1));
    *record = (struct record){
        .state = (enum record_state)state,
        .owner = buf_slice(&sqlite->owner),
        .since_ms = sqlite_number(sqlite, SQL_READ_CLAIM, 2),
        .for_ms = sqlite_number(sqlite, SQL_READ_CLAIM, 3),
        .expires_ms = sqlite_number(sqlite, SQL_READ_CLAIM, 4),
        .generation = sqlite_number(sqlite, SQL_READ_CLAIM, 5),
        .after = (enum store_repeats)sqlite_number(sqlite, SQL_READ_CLAIM, 6),
    };
    sqlite_reset(sqlite, SQL_READ_CLAIM);
    whole = whole && state >= RECORD_FREE && state <= RECORD_HELD;
    return (whole && record_is_sound(record)) || damaged(err);
}

bool sqlite_write_record(struct sqlite *sqlite, struct slice key, const struct record *record,
                         struct err *err)
{
    if (record->state == RECORD_FREE && record->generation == 0) {
        sqlite_bind(sqlite, SQL_DROP_CLAIM, 1, key);
        return sqlite_run(sqlite, SQL_DROP_CLAIM, err);
    }
    assert(record->owner.len <= OWNER_BYTES_MAX);
    sqlite_bind(sqlite, SQL_WRITE_CLAIM, 1, key);
    sqlite_bind_number(sqlite, SQL_WRITE_CLAIM, 2, record->state);
    sqlite_bind(sqlite, SQL_WRITE_CLAIM, 3, record->owner);
    sqlite_bind_number(sqlite, SQL_WRITE_CLAIM, 4, record->since_ms);
    sqlite_bind_number(sqlite, SQL_WRITE_CLAIM, 5, record->for_ms);
    sqlite_bind_number(sqlite, SQL_WRITE_CLAIM, 6, record->expires_ms);
    sqlite_bind_number(sqlite, SQL_WRITE_CLAIM, 7, record->generation);
    sqlite_bind_number(sqlite, SQL_WRITE_CLAIM, 8, record->after);
    return sqlite_run(sqlite, SQL_WRITE_CLAIM, err);
}

bool sqlite_read_gate(struct sqlite *sqlite, struct slice key, struct gate_record *gate,
                      struct err *err)
{
    bool row = false;

    *gate = gate_record_new();
    sqlite_bind(sqlite, SQL_READ_GATE, 1, key);
    if (!sqlite_next(sqlite, SQL_READ_GATE, &row, err))
        return false;
    if (!row)
        return true;
    *gate = (struct gate_record){
        .rest_since_ms = sqlite_number(sqlite, SQL_READ_GATE, 0),
        .rest_for_ms = sqlite_number(sqlite, SQL_READ_GATE, 1),
        .parts = sqlite_number(sqlite, SQL_READ_GATE, 2),
        .filled_ms = sqlite_number(sqlite, SQL_READ_GATE, 3),
    };
    sqlite_reset(sqlite, SQL_READ_GATE);
    return gate_record_is_sound(gate) || damaged(err);
}

bool sqlite_write_gate(struct sqlite *sqlite, struct slice key, const struct gate_record *gate,
                       struct err *err)
{
    sqlite_bind(sqlite, SQL_WRITE_GATE, 1, key);
    sqlite_bind_number(sqlite, SQL_WRITE_GATE, 2, gate->rest_since_ms);
    sqlite_bind_number(sqlite, SQL_WRITE_GATE, 3, gate->rest_for_ms);
    sqlite_bind_number(sqlite, SQL_WRITE_GATE, 4, gate->parts);
    sqlite_bind_number(sqlite, SQL_WRITE_GATE, 5, gate->filled_ms);
    return sqlite_run(sqlite, SQL_WRITE_GATE, err);
}

/* --- opening and closing --- */

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

/* `*layout` 0: an empty file, which is made ours. Any other must be ours, and not of a later
 * layout.
 */
static bool check_layout(const struct sqlite *sqlite, int *layout, struct err *err)
{
    int owner = 0, tables = 0;

    if (!ask_number(sqlite, "PRAGMA application_id", &owner, err) ||
        !ask_number(sqlite, "PRAGMA user_version", layout, err) ||
        !ask_number(sqlite, "SELECT count(*) FROM sqlite_schema", &tables, err))
        return false;
    if (owner == 0 && *layout == 0 && tables == 0)
        return true;
    if (owner != SQL_OURS || *layout < 1)
        return err_set(err, "the file is another program's database");
    return *layout <= SQL_LAYOUT ||
           err_set(err,
                   "the file has layout %d of a later version of wakegate, and this one knows "
                   "layout %d; run that version, or name another file",
                   *layout, SQL_LAYOUT);
}

/* In a transaction, so that the file is of the one layout or of the other. */
static bool upgrade(const struct sqlite *sqlite, struct err *err)
{
    for (const struct sqlite_upgrade *row = sqlite_upgrades; row->lacks; row++) {
        int lacks = 0;
        if (!ask_number(sqlite, row->lacks, &lacks, err) ||
            (lacks && !execute(sqlite, row->add, err)))
            return false;
    }
    return execute(sqlite, sqlite_upgraded, err);
}

static bool bring_to_layout(const struct sqlite *sqlite, int layout, struct err *err)
{
    if (layout == 0)
        return execute(sqlite, sqlite_schema, err);
    return layout == SQL_LAYOUT || upgrade(sqlite, err) ||
           err_wrap(err, "the file has layout %d and cannot be brought to %d", layout, SQL_LAYOUT);
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
    for (int i = 0; i < SQL_COUNT; i++)
        if (sqlite3_prepare_v3(sqlite->db, sqlite_statements[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &sqlite->prepared[i], NULL) != SQLITE_OK)
            return fail(sqlite, err);
    return true;
}

static bool open_file(struct sqlite *sqlite, const char *path, struct err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int layout = 0;

    if (sqlite3_open_v2(path, &sqlite->db, flags, NULL) != SQLITE_OK)
        return fail(sqlite, err);
    if (sqlite3_db_readonly(sqlite->db, "main") == 1)
        return err_set(err, "the file may only be read");
    sqlite3_busy_timeout(sqlite->db, LOCK_WAIT_MS);
    return execute(sqlite, "PRAGMA locking_mode = EXCLUSIVE", err) &&
           check_layout(sqlite, &layout, err) && set_modes(sqlite, err) &&
           execute(sqlite, "BEGIN IMMEDIATE", err) && bring_to_layout(sqlite, layout, err) &&
           execute(sqlite, sqlite_threads_schema, err) &&
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

static int big_endian(const unsigned char *bytes)
{
    return (int)((uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
                 bytes[3]);
}

/* SQLite's file format, section 1.3: the database header. */
bool sqlite_peek(const char *path, int *layout)
{
    enum { HEADER_BYTES = 100, USER_VERSION_AT = 60, APPLICATION_ID_AT = 68 };
    unsigned char header[HEADER_BYTES];
    FILE *file = fopen(path, "re");

    size_t len = file ? fread(header, 1, sizeof(header), file) : 0;
    if (file)
        fclose(file);
    if (len == 0)
        return false;
    bool ours = len == sizeof(header) && big_endian(header + APPLICATION_ID_AT) == SQL_OURS;
    *layout = ours ? big_endian(header + USER_VERSION_AT) : 0;
    return true;
}

void sqlite_close(struct sqlite *sqlite)
{
    if (!sqlite)
        return;
    for (int i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(sqlite->prepared[i]);
    sqlite3_close(sqlite->db);
    buf_release(&sqlite->owner);
    free(sqlite);
}

const char *store_sqlite_library(void)
{
    return sqlite3_libversion();
}
