/* SPDX-License-Identifier: Apache-2.0 */
/* The greeting, question by question and answer by answer. */
#include "tests/check.h"

#include <string.h>

#include "gateway/store/redis_greeting.h"

#define DIGEST "0123456789012345678901234567890123456789"

enum { SCRIPTS = REDIS_SCRIPTS - 1 }; /* a ping is none */

struct answers {
    struct redis_greeting greeting;
    struct redis_url url;
    struct err why;
    bool lasting;
};

static void begin(struct answers *answers, const char *url, struct buf *out)
{
    struct err err = {0};

    *answers = (struct answers){0};
    if (!redis_url_init(&answers->url, slice_from(url), &err))
        fail_msg("%s", err.text);
    redis_greeting_begin(&answers->greeting, &answers->url, out);
}

static enum redis_greeted take(struct answers *answers, enum redis_kind kind, const char *text,
                               uint64_t count)
{
    const struct redis_reply reply = {.kind = kind, .text = slice_from(text), .count = count};

    return redis_greeting_take(&answers->greeting, &answers->url, &reply, &answers->why,
                               &answers->lasting);
}

static void expect_partly(struct answers *answers, enum redis_kind kind, const char *text,
                          uint64_t count)
{
    assert_int_equal(take(answers, kind, text, count), GREETED_PARTLY);
}

static void expect_badly(const char *url, enum redis_kind kind, const char *text, uint64_t count,
                         const char *why)
{
    struct buf out = BUF_INIT(65536);
    struct answers answers;

    begin(&answers, url, &out);
    if (answers.url.master)
        expect_partly(&answers, REDIS_TEXT, "", 0); /* INFO */
    if (answers.url.master && kind != REDIS_ARRAY)
        expect_partly(&answers, REDIS_ARRAY, NULL, 5); /* of ROLE */
    assert_int_equal(take(&answers, kind, text, count), GREETED_BADLY);
    assert_string_equal(answers.why.text, why);
    redis_url_release(&answers.url);
    buf_release(&out);
}

static void test_whole(void **state)
{
    struct buf out = BUF_INIT(65536);
    struct answers answers;

    (void)state;
    begin(&answers, "redis+sentinel://u:p%40@h/m/2", &out);
    assert_true(slice_starts(buf_slice(&out),
                             SLICE("*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$2\r\np@\r\n"
                                   "*1\r\n$4\r\nINFO\r\n*1\r\n$4\r\nROLE\r\n"
                                   "*2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n*3\r\n$6\r\nSCRIPT\r\n")));
    assert_true(slice_ends(buf_slice(&out), SLICE("$2\r\nPX\r\n$4\r\n1000\r\n")));
    expect_partly(&answers, REDIS_TEXT, "OK", 0);
    expect_partly(&answers, REDIS_TEXT, "maxmemory_policy:noeviction\r\n", 0);
    assert_string_equal(answers.greeting.warning.text, "");
    expect_partly(&answers, REDIS_ARRAY, NULL, 3); /* the role, an offset, one replica */
    expect_partly(&answers, REDIS_TEXT, "master", 0);
    expect_partly(&answers, REDIS_OTHER, NULL, 0);
    expect_partly(&answers, REDIS_ARRAY, NULL, 1);
    expect_partly(&answers, REDIS_ARRAY, NULL, 3);
    for (int i = 0; i < 3; i++)
        expect_partly(&answers, REDIS_TEXT, "slave", 0); /* only the first names the role */
    expect_partly(&answers, REDIS_TEXT, "OK", 0);
    for (int i = 0; i < SCRIPTS; i++)
        expect_partly(&answers, REDIS_TEXT, DIGEST, 0);
    assert_string_equal(answers.greeting.shas[STORE_CLAIM], DIGEST);
    assert_int_equal(take(&answers, REDIS_TEXT, "OK", 0), GREETED);
    redis_url_release(&answers.url);
    buf_release(&out);
}

static void test_bad(void **state)
{
    (void)state;
    expect_badly("redis://:p@h", REDIS_ERROR, "WRONGPASS p", 0,
                 "the user or the password is wrong (WRONGPASS)");
    expect_badly("redis://h", REDIS_TEXT, "redis_version:5.0.1", 0,
                 "it is version 5.0.1; Redis 6 or later is needed");
    expect_badly("redis://h", REDIS_ERROR, "LOADING yet", 0,
                 "the server still loads its data (LOADING yet)");
    expect_badly("redis://h", REDIS_ARRAY, NULL, 2, "an answer that fits no question");
    expect_badly("redis+sentinel://h/m", REDIS_TEXT, "slave", 0,
                 "it is not the master (any more); Sentinel will be asked again");
    expect_badly("redis+sentinel://h/m", REDIS_TEXT, "sentinel", 0,
                 "it is not the master (any more); Sentinel will be asked again");
    expect_badly("redis+sentinel://h/m", REDIS_ARRAY, NULL, 0, "ROLE was not answered with a role");
}

static void test_digests(void **state)
{
    static const char *const bad[] = {"", "OK", DIGEST "0",
                                      "012345678901234567890123456789 12345678"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct buf out = BUF_INIT(65536);
        struct answers answers;
        begin(&answers, "redis://h", &out);
        expect_partly(&answers, REDIS_ERROR, "NOPERM no INFO", 0);
        assert_non_null(strstr(answers.greeting.warning.text, "does not tell"));
        assert_int_equal(take(&answers, REDIS_TEXT, bad[i], 0), GREETED_BADLY);
        assert_string_equal(answers.why.text, "SCRIPT LOAD was not answered with a digest");
        assert_true(answers.lasting);
        redis_url_release(&answers.url);
        buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_digests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
