/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as they are written and read; what they mean is shown by the contract suite. */
#include "tests/check.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/store/sqlite.h"

static char directory[64], path[80];

static int open_file(void **state)
{
    struct sqlite *sqlite = NULL;
    struct err err;

    snprintf(directory, sizeof(directory), "/tmp/wakegate-sqlite-%ld", (long)getpid());
    if (mkdir(directory, 0700) != 0)
        return -1;
    snprintf(path, sizeof(path), "%s/a.db", directory);
    if (!sqlite_open(slice_from(path), &sqlite, &err))
        return -1;
    *state = sqlite;
    return 0;
}

static int close_file(void **state)
{
    sqlite_close(*state);
    unlink(path);
    return rmdir(directory);
}

static struct record relayed(int64_t expires_ms)
{
    return (struct record){
        .state = RECORD_RELAYED,
        .owner = {.data = "a\0b", .len = 3},
        .since_ms = 1,
        .for_ms = INT64_MAX / 4,
        .expires_ms = expires_ms,
    };
}

static void test_record(void **state)
{
    struct sqlite *sqlite = *state;
    struct record written = relayed(7), read = relayed(8);

    assert_true(sqlite_read_record(sqlite, SLICE("k"), &read, NULL));
    assert_int_equal(read.state, RECORD_FREE);
    assert_true(sqlite_write_record(sqlite, SLICE("k"), &written, NULL));
    assert_true(sqlite_read_record(sqlite, SLICE("k"), &read, NULL));
    assert_int_equal(read.state, RECORD_RELAYED);
    assert_true(slice_eq(read.owner, written.owner));
    assert_true(read.since_ms == 1 && read.for_ms == INT64_MAX / 4 && read.expires_ms == 7);
    assert_false(read.changed);
    assert_true(sqlite_write_record(sqlite, SLICE("k"), &(struct record){0}, NULL));
    assert_true(sqlite_read_record(sqlite, SLICE("k"), &read, NULL));
    assert_int_equal(read.state, RECORD_FREE);
}

static void test_gate(void **state)
{
    struct sqlite *sqlite = *state;
    struct gate_record gate = {1, 2, 3, 4, true}, read = {0};

    assert_true(sqlite_read_gate(sqlite, SLICE("g"), &read, NULL));
    assert_true(read.parts == INT64_MAX); /* a new one is full */
    assert_true(sqlite_write_gate(sqlite, SLICE("g"), &gate, NULL));
    assert_true(sqlite_read_gate(sqlite, SLICE("g"), &read, NULL));
    assert_true(read.rest_since_ms == 1 && read.rest_for_ms == 2);
    assert_true(read.parts == 3 && read.filled_ms == 4);
}

static void expect_damaged(struct sqlite *sqlite, struct record written)
{
    struct record read;
    struct err err = {""};

    assert_true(sqlite_write_record(sqlite, SLICE("k"), &written, NULL));
    assert_false(sqlite_read_record(sqlite, SLICE("k"), &read, &err));
    assert_string_equal(err.text, "a record in the file is damaged");
}

/* Numbers that nobody here has written are neither believed nor written over. */
static void test_damaged(void **state)
{
    struct sqlite *sqlite = *state;
    struct record record = relayed(7);
    struct gate_record gate = {1, 2, -1, 4, true};
    struct err err = {""};

    record.state = (enum record_state)4;
    expect_damaged(sqlite, record);
    record = relayed(-1);
    expect_damaged(sqlite, record);
    record = relayed(7);
    record.since_ms = INT64_MIN;
    expect_damaged(sqlite, record);
    record = relayed(7);
    record.for_ms = INT64_MAX;
    expect_damaged(sqlite, record);
    record = relayed(7);
    record.generation = -1;
    expect_damaged(sqlite, record);
    assert_true(sqlite_write_gate(sqlite, SLICE("g"), &gate, NULL));
    assert_false(sqlite_read_gate(sqlite, SLICE("g"), &gate, &err));
    assert_string_equal(err.text, "a record in the file is damaged");
    record = relayed(7); /* a refused read leaves nothing half done */
    assert_true(sqlite_write_record(sqlite, SLICE("k"), &record, NULL));
    assert_true(sqlite_read_record(sqlite, SLICE("k"), &record, NULL));
}

static bool is_there(struct sqlite *sqlite, struct slice key)
{
    struct record record;

    assert_true(sqlite_read_record(sqlite, key, &record, NULL));
    return record.state != RECORD_FREE;
}

static void test_sweep(void **state)
{
    struct sqlite *sqlite = *state;
    struct record old = relayed(10), older = relayed(9), young = relayed(11);

    sqlite_write_record(sqlite, SLICE("old"), &old, NULL);
    sqlite_write_record(sqlite, SLICE("older"), &older, NULL);
    sqlite_write_record(sqlite, SLICE("young"), &young, NULL);
    assert_true(sqlite_sweep(sqlite, 10, 1, NULL)); /* a bounded number */
    assert_true(is_there(sqlite, SLICE("old")) != is_there(sqlite, SLICE("older")));
    assert_true(sqlite_sweep(sqlite, 10, 5, NULL));
    assert_false(is_there(sqlite, SLICE("old")));
    assert_false(is_there(sqlite, SLICE("older")));
    assert_true(is_there(sqlite, SLICE("young")));
}

static void test_roll_back(void **state)
{
    struct sqlite *sqlite = *state;
    struct record record = relayed(10);

    assert_true(sqlite_begin(sqlite, NULL));
    sqlite_write_record(sqlite, SLICE("k"), &record, NULL);
    sqlite_roll_back(sqlite);
    sqlite_roll_back(sqlite); /* nothing was begun */
    assert_false(is_there(sqlite, SLICE("k")));
    assert_true(sqlite_begin(sqlite, NULL));
    assert_true(sqlite_pulse(sqlite, NULL));
    sqlite_write_record(sqlite, SLICE("k"), &record, NULL);
    assert_true(sqlite_commit(sqlite, NULL));
    assert_true(is_there(sqlite, SLICE("k")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_record, open_file, close_file),
        cmocka_unit_test_setup_teardown(test_gate, open_file, close_file),
        cmocka_unit_test_setup_teardown(test_damaged, open_file, close_file),
        cmocka_unit_test_setup_teardown(test_sweep, open_file, close_file),
        cmocka_unit_test_setup_teardown(test_roll_back, open_file, close_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
