/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <string.h>

#include "gateway/store/redis.h"

static void test_command(void **state)
{
    struct redis_command command;
    struct buf out = BUF_INIT(200), small = BUF_INIT(8);

    (void)state;
    redis_command_init(&command);
    redis_command_start(&command, "SET");
    redis_command_add(&command, (struct slice){.data = "a\0b\r\n", .len = 5});
    redis_command_add_number(&command, INT64_MIN);
    redis_command_add(&command, SLICE(""));
    assert_true(redis_command_write(&command, &out));
    assert_true(slice_eq(buf_slice(&out), SLICE("*4\r\n$3\r\nSET\r\n$5\r\na\0b\r\n\r\n"
                                                "$20\r\n-9223372036854775808\r\n$0\r\n\r\n")));
    redis_command_start(&command, "PING");
    buf_clear(&out);
    assert_true(redis_command_write(&command, &out));
    assert_string_equal(buf_text(&out), "*1\r\n$4\r\nPING\r\n");
    assert_false(redis_command_write(&command, &small));
    assert_int_equal(small.len, 0);
    redis_command_release(&command);
    buf_release(&out);
    buf_release(&small);
}

static void expect(struct redis_reader *reader, enum redis_kind kind, struct slice text)
{
    struct redis_reply reply;
    struct err err = {0};

    if (!redis_reader_next(reader, &reply, &err))
        fail_msg("%s", err.text);
    assert_int_equal(reply.kind, kind);
    assert_true(slice_eq(reply.text, text));
}

/* Cut at every place: whole, and byte by byte. */
static void test_answers(void **state)
{
    const struct slice bytes =
        SLICE("+OK\r\n$5\r\na\0b\r\n\r\n:-12\r\n-ERR no\r\n$-1\r\n$0\r\n\r\n");
    const struct {
        enum redis_kind kind;
        struct slice text;
    } expected[] = {
        {REDIS_TEXT, SLICE("OK")},      {REDIS_TEXT, SLICE("a\0b\r\n")}, {REDIS_OTHER, SLICE("")},
        {REDIS_ERROR, SLICE("ERR no")}, {REDIS_OTHER, SLICE("")},        {REDIS_TEXT, SLICE("")},
    };

    (void)state;
    for (size_t step = 1; step <= bytes.len; step++) {
        struct redis_reader *reader = redis_reader_new();
        size_t seen = 0;
        for (size_t at = 0; at < bytes.len; at += step) {
            struct redis_reply reply = {.kind = REDIS_TEXT};
            struct err err;
            redis_reader_feed(reader, slice_first(slice_from_at(bytes, at), step));
            while (redis_reader_next(reader, &reply, &err) && reply.kind != REDIS_INCOMPLETE) {
                assert_int_equal(reply.kind, expected[seen].kind);
                assert_true(slice_eq(reply.text, expected[seen].text));
                seen++;
            }
            assert_int_equal(reply.kind, REDIS_INCOMPLETE);
        }
        assert_int_equal(seen, 6);
        redis_reader_free(reader);
    }
    redis_reader_free(NULL);
}

static void test_many_answers(void **state)
{
    struct redis_reader *reader = redis_reader_new();

    (void)state;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 1000; i++)
            redis_reader_feed(reader, SLICE("$2\r\nC0\r\n"));
        for (int i = 0; i < 1000; i++)
            expect(reader, REDIS_TEXT, SLICE("C0"));
        expect(reader, REDIS_INCOMPLETE, SLICE(""));
    }
    redis_reader_free(reader);
}

/* Cut at every place; a length costs nothing. */
static void test_arrays(void **state)
{
    const struct slice bytes = SLICE("*2\r\n*9999999999\r\n$1\r\na\r\n*-1\r\n+b\r\n*0\r\n");
    const struct {
        enum redis_kind kind;
        uint64_t count;
    } expected[] = {
        {REDIS_ARRAY, 2}, {REDIS_ARRAY, 9999999999}, {REDIS_TEXT, 0},
        {REDIS_ARRAY, 0}, {REDIS_TEXT, 0},           {REDIS_ARRAY, 0},
    };

    (void)state;
    for (size_t step = 1; step <= bytes.len; step++) {
        struct redis_reader *reader = redis_reader_new();
        size_t seen = 0;
        for (size_t at = 0; at < bytes.len; at += step) {
            struct redis_reply reply = {.kind = REDIS_TEXT};
            struct err err;
            redis_reader_feed(reader, slice_first(slice_from_at(bytes, at), step));
            while (redis_reader_next(reader, &reply, &err) && reply.kind != REDIS_INCOMPLETE) {
                assert_int_equal(reply.kind, expected[seen].kind);
                assert_true(reply.count == expected[seen].count);
                seen++;
            }
            assert_int_equal(reply.kind, REDIS_INCOMPLETE);
        }
        assert_int_equal(seen, 6);
        redis_reader_free(reader);
    }
}

static void expect_refused(const char *bytes, size_t times, const char *why)
{
    struct redis_reader *reader = redis_reader_new();
    struct redis_reply reply;
    struct err err = {0};
    bool good = true;

    for (size_t i = 0; i < times && good; i++) {
        redis_reader_feed(reader, slice_from(bytes));
        good = redis_reader_next(reader, &reply, &err);
    }
    assert_false(good);
    if (!strstr(err.text, why))
        fail_msg("\"%s\" is not in \"%s\"", why, err.text);
    assert_false(redis_reader_next(reader, &reply, &err)); /* for good */
    redis_reader_free(reader);
}

/* In pieces that are not small: the library looks at all of it each time. */
static void expect_too_long(const char *begin)
{
    char piece[8192];

    memset(piece, 'x', sizeof(piece) - 1);
    memcpy(piece, begin, strlen(begin));
    piece[sizeof(piece) - 1] = '\0';
    expect_refused(piece, 1000, "more than 1114112 bytes");
}

static void test_refused(void **state)
{
    (void)state;
    expect_refused("*-2\r\n", 1, "length is none");
    expect_refused("*\r\n", 1, "length is none");
    expect_refused("*1x\r\n", 1, "length is none");
    expect_refused("*99999999999999999999\r\n", 1, "length is none");
    expect_refused("*000000000000000000000000000000", 1, "length is none");
    expect_refused("%1\r\n", 1, "not asked for");
    expect_refused("HTTP/1.1 200 OK\r\n", 1, "not asked for");
    expect_too_long("$1000000000\r\n");
    expect_too_long("+");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command),      cmocka_unit_test(test_answers),
        cmocka_unit_test(test_many_answers), cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
