/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <string.h>

#include "gateway/store/redis_url.h"

static void expect_text(const char *text, const char *expected)
{
    if (expected)
        assert_string_equal(text, expected);
    else
        assert_null(text);
}

static void expect(const char *text, const struct redis_url *expected)
{
    struct redis_url url;
    struct err err = {0};

    if (!redis_url_init(&url, slice_from(text), &err))
        fail_msg("%s: %s", text, err.text);
    expect_text(url.host, expected->host);
    expect_text(url.port, expected->port);
    expect_text(url.user, expected->user);
    expect_text(url.password, expected->password);
    expect_text(url.ca_file, expected->ca_file);
    expect_text(url.place, expected->place);
    assert_int_equal(url.db, expected->db);
    assert_int_equal(url.tls, expected->tls);
    redis_url_release(&url);
}

static void test_good(void **state)
{
    (void)state;
    expect("redis://redis",
           &(struct redis_url){.host = "redis", .port = "6379", .place = "redis:6379"});
    expect("redis://redis:7000/3",
           &(struct redis_url){.host = "redis", .port = "7000", .place = "redis:7000", .db = 3});
    expect("redis://redis/",
           &(struct redis_url){.host = "redis", .port = "6379", .place = "redis:6379"});
    expect("redis://[::1]:7000",
           &(struct redis_url){.host = "::1", .port = "7000", .place = "[::1]:7000"});
    expect(
        "redis://[fe80::1]/2",
        &(struct redis_url){.host = "fe80::1", .port = "6379", .place = "[fe80::1]:6379", .db = 2});
    expect("redis://:p%40ss@h",
           &(struct redis_url){.host = "h", .port = "6379", .place = "h:6379", .password = "p@ss"});
    expect("redis://u%3A:p@s:s@h:1/0",
           &(struct redis_url){
               .host = "h", .port = "1", .place = "h:1", .user = "u:", .password = "p@s:s"});
    expect("rediss://h?ca_file=/etc/ca%20file.pem",
           &(struct redis_url){.host = "h",
                               .port = "6379",
                               .place = "h:6379",
                               .tls = true,
                               .ca_file = "/etc/ca file.pem"});
    expect("redis+unix:///run/redis.sock",
           &(struct redis_url){.host = "/run/redis.sock", .place = "/run/redis.sock"});
    expect("redis+unix://u:p@/run/a:b?db=5",
           &(struct redis_url){
               .host = "/run/a:b", .place = "/run/a:b", .user = "u", .password = "p", .db = 5});
}

static void test_bad(void **state)
{
    static const char *const bad[] = {
        "redis:",
        "redis:h",
        "redis:/h",
        "redis://",
        "redis:///0",
        "redis://:6379",
        "redis://h:0x10/",
        "redis://h:65536",
        "redis://h:0",
        "redis://h:-1",
        "redis://h/one",
        "redis://h/0/1",
        "redis://h/99999999",
        "redis://h?db=1",
        "redis://h?ca_file=/x",
        "rediss://h?ca_file=",
        "rediss://h?ca_file=/a&ca_file=/b",
        "rediss://h?cafile=/x",
        "redis://sesame@h",
        "redis://:@h",
        "redis://u:@h",
        "redis://:se%zzsame@h",
        "redis://:sesame%0@h",
        "redis://:sesame%00@h",
        "redis://:sesame/x@h",
        "redis://:ses ame@h",
        "redis://[::1",
        "redis://[::1]x",
        "redis://[]",
        "redis://[sesame]",
        "redis://[[::1]",
        "redis://[127.0.0.1]",
        "redis+unix://",
        "redis+unix:///",
        "redis+unix://h/path",
        "redis+unix:///p?db=x",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct redis_url url;
        struct err err = {0};
        if (redis_url_init(&url, slice_from(bad[i]), &err))
            fail_msg("%s was taken", bad[i]);
        assert_true(strncmp(err.text, "the store's URL: ", 17) == 0);
        assert_null(strstr(err.text, "ses")); /* no part of what may be a password */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
