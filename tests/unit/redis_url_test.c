/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <stdio.h>
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
    expect_text(url.server.host, expected->server.host);
    expect_text(url.server.port, expected->server.port);
    expect_text(url.login.user, expected->login.user);
    expect_text(url.login.password, expected->login.password);
    expect_text(url.ca_file, expected->ca_file);
    expect_text(url.cert_file, expected->cert_file);
    expect_text(url.key_file, expected->key_file);
    expect_text(url.master, expected->master);
    expect_text(url.sentinel_login.user, expected->sentinel_login.user);
    expect_text(url.sentinel_login.password, expected->sentinel_login.password);
    assert_int_equal(url.sentinel_count, expected->sentinel_count);
    for (size_t i = 0; i < url.sentinel_count; i++) {
        expect_text(url.sentinels[i].host, expected->sentinels[i].host);
        expect_text(url.sentinels[i].port, expected->sentinels[i].port);
    }
    expect_text(url.place, expected->place);
    assert_int_equal(url.db, expected->db);
    assert_int_equal(url.tls, expected->tls);
    redis_url_release(&url);
}

static void test_good(void **state)
{
    (void)state;
    expect(
        "redis://redis",
        &(struct redis_url){.server.host = "redis", .server.port = "6379", .place = "redis:6379"});
    expect("redis://redis:7000/3",
           &(struct redis_url){
               .server.host = "redis", .server.port = "7000", .place = "redis:7000", .db = 3});
    expect(
        "redis://redis/",
        &(struct redis_url){.server.host = "redis", .server.port = "6379", .place = "redis:6379"});
    expect("redis://[::1]:7000",
           &(struct redis_url){.server.host = "::1", .server.port = "7000", .place = "[::1]:7000"});
    expect("redis://[fe80::1]/2", &(struct redis_url){.server.host = "fe80::1",
                                                      .server.port = "6379",
                                                      .place = "[fe80::1]:6379",
                                                      .db = 2});
    expect("redis://:p%40ss@h", &(struct redis_url){.server.host = "h",
                                                    .server.port = "6379",
                                                    .place = "h:6379",
                                                    .login.password = "p@ss"});
    expect("redis://u%3A:p@s:s@h:1/0", &(struct redis_url){.server.host = "h",
                                                           .server.port = "1",
                                                           .place = "h:1",
                                                           .login.user = "u:",
                                                           .login.password = "p@s:s"});
    expect("rediss://h?ca_file=/etc/ca%20file.pem",
           &(struct redis_url){.server.host = "h",
                               .server.port = "6379",
                               .place = "h:6379",
                               .tls = true,
                               .ca_file = "/etc/ca file.pem"});
    expect("redis+unix:///run/redis.sock",
           &(struct redis_url){.server.host = "/run/redis.sock", .place = "/run/redis.sock"});
    expect("redis+unix://u:p@/run/a:b?db=5", &(struct redis_url){.server.host = "/run/a:b",
                                                                 .place = "/run/a:b",
                                                                 .login.user = "u",
                                                                 .login.password = "p",
                                                                 .db = 5});
}

/* Every byte may be in a password, as it is in UTF-8, percent-encoded; most may be as they are. */
static void test_passwords(void **state)
{
    char text[8], plain[2] = "";

    (void)state;
    for (unsigned byte = 1; byte < 256; byte++) {
        char url[64];
        snprintf(text, sizeof(text), byte % 2 ? "%%%02x" : "%%%02X", byte);
        plain[0] = (char)byte;
        snprintf(url, sizeof(url), "redis://%s:%s@h", text, text);
        expect(url, &(struct redis_url){
                        .server = {"h", "6379"}, .login = {plain, plain}, .place = "h:6379"});
        if (byte <= 0x20 || byte > 0x7e || strchr("@:/?%", (int)byte))
            continue;
        snprintf(url, sizeof(url), "redis://%c:%c@h", (int)byte, (int)byte);
        expect(url, &(struct redis_url){
                        .server = {"h", "6379"}, .login = {plain, plain}, .place = "h:6379"});
    }
    expect("redis://:p%C3%A4ss%2F%3F%23%25%40%3A@h",
           &(struct redis_url){
               .server = {"h", "6379"}, .login = {NULL, "p\xc3\xa4ss/?#%@:"}, .place = "h:6379"});
}

static void test_sentinels(void **state)
{
    (void)state;
    expect("redis+sentinel://h/mymaster", &(struct redis_url){.place = "mymaster",
                                                              .master = "mymaster",
                                                              .sentinels = {{"h", "26379"}},
                                                              .sentinel_count = 1});
    expect("redis+sentinel://u:p%2C@a:1,[::1]:2,c/my%2Fmaster/3"
           "?sentinel_username=su&sentinel_password=s%26p",
           &(struct redis_url){.place = "my/master",
                               .master = "my/master",
                               .login = {"u", "p,"},
                               .sentinels = {{"a", "1"}, {"::1", "2"}, {"c", "26379"}},
                               .sentinel_count = 3,
                               .sentinel_login = {"su", "s&p"},
                               .db = 3});
    expect("rediss+sentinel://a/m/?sentinel_password=s&ca_file=/c&cert_file=/d&key_file=/e",
           &(struct redis_url){.place = "m",
                               .master = "m",
                               .tls = true,
                               .sentinels = {{"a", "26379"}},
                               .sentinel_count = 1,
                               .sentinel_login = {NULL, "s"},
                               .ca_file = "/c",
                               .cert_file = "/d",
                               .key_file = "/e"});
}

/* What the message says of a mistake that people make. */
static void test_hints(void **state)
{
    static const struct {
        const char *url, *hint;
    } cases[] = {
        {"redis://:a/b@h", "an @ behind a / or a ?: in a password these must be percent-enc"},
        {"redis://:a?b@h/0", "an @ behind a / or a ?: in a password these must be percent-enc"},
        {"redis://u:12/34@h/0", "an @ behind a / or a ?: in a password these must be percent-"},
        {"redis://:100%@h", "the password has a % that is not followed by two hex digits"},
        {"redis://:p\xc3\xa4ss@h", "percent-encode them"},
        {"redis://user@h", "there is an @ but no password"},
        {"redis+sentinel://a,b", "there is no name of a master after the Sentinels (/mymaster)"},
        {"redis+sentinel://a,,b/m", "Sentinel 2: there is no host"},
        {"redis+sentinel://a,b:x/m", "Sentinel 2: the port is not a number"},
        {"redis+sentinel://a/m/x", "the database is not"},
        {"redis+sentinel://a/m?password=p", "only sentinel_username, sentinel_password"},
        {"rediss+sentinel://a/m?x=p", "only ca_file, cert_file, key_file, sentinel_username, s"},
        {"redis+sentinel://a/m?sentinel_username=u", "sentinel_username but no sentinel_password"},
        {"redis+sentinel://a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a/m", "more than 16 Sentinels"},
        {"rediss://h?cert_file=/c", "there is a cert_file but no key_file"},
        {"rediss://h?key_file=/c", "there is a key_file but no cert_file"},
        {"redis://h?ca_file=/c", "after the ? may stand only nothing"},
        {"rediss://h?db=1", "after the ? may stand only ca_file, cert_file, key_file"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct redis_url url;
        struct err err = {0};
        assert_false(redis_url_init(&url, slice_from(cases[i].url), &err));
        if (!strstr(err.text, cases[i].hint))
            fail_msg("%s: %s", cases[i].url, err.text);
    }
}

static void test_copy(void **state)
{
    struct redis_url url, copy;
    struct err err = {0};

    (void)state;
    assert_true(redis_url_init(&url, SLICE("redis+sentinel://u:p@a,b/m/3"), &err));
    copy = redis_url_copy(&url);
    redis_url_release(&url);
    assert_string_equal(copy.login.password, "p");
    assert_string_equal(copy.sentinels[1].host, "b");
    assert_int_equal(copy.db, 3);
    redis_url_release(&copy);
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
        "redis+sentinel://",
        "redis+sentinel://h/",
        "redis+sentinel:///m",
        "redis+sentinel://:sesame@/m",
        "redis+sentinel://h/m?sentinel_password=",
        "redis+sentinel://h/m?sentinel_password=sesame&sentinel_password=sesame",
        "redis+sentinel://h/m?sentinel_password=%sesame",
        "rediss+unix:///p?ca_file=/x",
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
        cmocka_unit_test(test_good),      cmocka_unit_test(test_passwords),
        cmocka_unit_test(test_sentinels), cmocka_unit_test(test_hints),
        cmocka_unit_test(test_copy),      cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
