/* SPDX-License-Identifier: Apache-2.0 */
/* What servers say of themselves, in the words of each kind. */
#include "tests/check.h"

#include <string.h>

#include "gateway/store/redis_info.h"

static void expect_fits(const char *info)
{
    struct err why = {0};

    if (!redis_info_fits(slice_from(info), &why))
        fail_msg("%s: %s", info, why.text);
}

static void expect_refused(const char *info, const char *expected)
{
    struct err why = {0};

    assert_false(redis_info_fits(slice_from(info), &why));
    assert_string_equal(why.text, expected);
}

static void test_versions(void **state)
{
    (void)state;
    expect_fits("# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n");
    expect_fits("redis_version:6.2.14\r\n");
    expect_fits("redis_version:6.0.16\r\n");
    expect_fits("redis_version:8.0.2\r\ncluster_enabled:0\r\n");
    expect_fits("redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.1\r\n");
    expect_fits("redis_version:6.3.4\r\nredis_git_sha1:0\r\nserver_threads:2\r\n"); /* KeyDB */
    expect_fits("redis_version:255.255.255\r\n");
    expect_fits("redis_version:0.0.0\r\n");
    expect_fits("redis_version:7.4.0\r\ndragonfly_version:df-v1.27.1\r\nredis_mode:standalone\r\n");
    expect_fits("redis_version:unknown\r\n");
    expect_fits("");
    expect_fits("\n\n:\n");
    expect_refused("redis_version:5.0.14\r\n", "it is version 5.0.14; Redis 6 or later is needed");
    expect_refused("redis_version:4\r\n", "it is version 4; Redis 6 or later is needed");
    expect_refused("redis_version:3.\x1b[1m\r\n", "it is version ?; Redis 6 or later is needed");
}

static void test_kinds(void **state)
{
    (void)state;
    expect_refused("redis_version:7.0.15\r\nredis_mode:sentinel\r\n",
                   "this is a Sentinel; its URL is redis+sentinel://host:port/master");
    expect_refused("redis_mode:cluster\r\n# Cluster\r\ncluster_enabled:1\r\n",
                   "Redis Cluster is not supported; name a server without cluster mode");
}

static void expect_warning(const char *info, const char *expected)
{
    struct err warning = redis_info_warning(slice_from(info));

    if (expected)
        assert_non_null(strstr(warning.text, expected));
    else
        assert_string_equal(warning.text, "");
}

static void test_policies(void **state)
{
    (void)state;
    expect_warning("# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n", NULL);
    expect_warning("maxmemory_policy:noeviction", NULL);
    expect_warning("maxmemory_policy:allkeys-lru\r\n",
                   "maxmemory-policy allkeys-lru and may forget");
    expect_warning("maxmemory_policy:eviction\r\n", "maxmemory-policy eviction");
    expect_warning("maxmemory_policy:a b\r\n", "maxmemory-policy ? and");
    expect_warning("maxmemory_policy_human:noeviction\r\n", "does not tell its maxmemory-policy");
    expect_warning("", "does not tell its maxmemory-policy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
