/* SPDX-License-Identifier: Apache-2.0 */
/* Files of older layouts, made by the schemas that they had: they are opened, and nothing in them
 * is lost; or refused, and left as they were. */
#include "tests/check.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/store/sqlite.h"

#define HEAD_OF_CLAIMS                                                                             \
    "CREATE TABLE claims (key TEXT NOT NULL PRIMARY KEY, state INTEGER NOT NULL,"                  \
    " owner TEXT NOT NULL, since_ms INTEGER NOT NULL, for_ms INTEGER NOT NULL,"                    \
    " expires_ms INTEGER NOT NULL"
#define REST                                                                                       \
    ") STRICT, WITHOUT ROWID;"                                                                     \
    "CREATE INDEX claims_expire ON claims (expires_ms);"                                           \
    "CREATE TABLE gates (gate TEXT NOT NULL PRIMARY KEY, rest_since_ms INTEGER NOT NULL,"          \
    " rest_for_ms INTEGER NOT NULL, parts INTEGER NOT NULL, filled_ms INTEGER NOT NULL)"           \
    " STRICT, WITHOUT ROWID;"                                                                      \
    "CREATE TABLE pulse (beats INTEGER NOT NULL) STRICT;"                                          \
    "INSERT INTO pulse VALUES (0);"                                                                \
    "INSERT INTO gates VALUES ('g', 5, 6, 7, 8);"                                                  \
    "PRAGMA application_id = 2002873189; PRAGMA user_version = 1; PRAGMA journal_mode = WAL;"

/* The first schema of layout 1, and the one that had generations. */
static const char first_schema[] = HEAD_OF_CLAIMS REST "INSERT INTO claims VALUES"
                                                       " ('k', 2, 'ann', 10, 20, 30);";
static const char generation_schema[] =
    HEAD_OF_CLAIMS ", generation INTEGER NOT NULL" REST
                   "INSERT INTO claims VALUES ('k', 2, 'ann', 10, 20, 30, 4);";

static char directory[64], path[80];

static int make_directory(void **state)
{
    (void)state;
    snprintf(directory, sizeof(directory), "/tmp/wakegate-upgrade-%ld", (long)getpid());
    snprintf(path, sizeof(path), "%s/old.db", directory);
    return mkdir(directory, 0700);
}

static int remove_directory(void **state)
{
    char beside[100];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        snprintf(beside, sizeof(beside), "%s-%s", path, i == 0 ? "wal" : "shm");
        unlink(beside);
    }
    unlink(path);
    return rmdir(directory);
}

static void make_file(const char *schema)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, schema, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static int layout_of_file(void)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *query = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    int layout = sqlite3_column_int(query, 0);
    sqlite3_finalize(query);
    sqlite3_close(db);
    return layout;
}

static void expect_record(int64_t generation)
{
    struct sqlite *sqlite = NULL;
    struct record record = {0};
    struct gate_record gate = {0};
    struct err err = {0};

    if (!sqlite_open(slice_from(path), &sqlite, &err))
        fail_msg("%s", err.text);
    assert_true(sqlite_read_record(sqlite, SLICE("k"), &record, NULL));
    assert_int_equal(record.state, RECORD_RELAYED);
    assert_true(slice_eq(record.owner, SLICE("ann")));
    assert_true(record.since_ms == 10 && record.for_ms == 20 && record.expires_ms == 30);
    assert_int_equal(record.generation, generation);
    assert_int_equal(record.after, REPEATS_NOTHING);
    assert_true(sqlite_read_gate(sqlite, SLICE("g"), &gate, NULL));
    assert_true(gate.rest_since_ms == 5 && gate.filled_ms == 8);
    record.generation = 9;
    assert_true(sqlite_write_record(sqlite, SLICE("other"), &record, NULL));
    sqlite_close(sqlite);
}

static void test_first_layout(void **state)
{
    (void)state;
    make_file(first_schema);
    expect_record(0);
    assert_int_equal(layout_of_file(), SQL_LAYOUT);
    expect_record(0); /* and it is one like any other */
}

static void test_first_layout_with_generations(void **state)
{
    (void)state;
    make_file(generation_schema);
    expect_record(4);
    assert_int_equal(layout_of_file(), SQL_LAYOUT);
}

static void test_half_a_file(void **state)
{
    struct sqlite *sqlite = NULL;
    struct err err = {0};

    (void)state;
    make_file("CREATE TABLE other (a); PRAGMA application_id = 2002873189;"
              "PRAGMA user_version = 1;");
    assert_false(sqlite_open(slice_from(path), &sqlite, &err));
    assert_non_null(strstr(err.text, "layout 1 and cannot be brought to"));
    assert_int_equal(layout_of_file(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_first_layout, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_first_layout_with_generations, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(test_half_a_file, make_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
