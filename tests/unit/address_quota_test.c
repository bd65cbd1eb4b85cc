/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <stdio.h>

#include "gateway/net/address_quota.h"

static bool enter(struct address_quota *quota, const char *host, struct tally **tally)
{
    union address address;

    assert_true(address_parse(slice_from(host), &address, NULL));
    return address_quota_enter(quota, &address.any, tally);
}

static void test_limit(void **state)
{
    struct address_quota *quota = address_quota_new(2, NULL, 0);
    struct tally *one, *two, *three, *other;

    (void)state;
    assert_true(enter(quota, "192.0.2.1:1", &one));
    assert_true(enter(quota, "[::ffff:192.0.2.1]:2", &two)); /* the same host */
    assert_false(enter(quota, "192.0.2.1:3", &three));
    assert_true(enter(quota, "192.0.2.2:1", &other));
    address_quota_leave(quota, one);
    assert_true(enter(quota, "192.0.2.1:3", &three));
    address_quota_leave(quota, two);
    address_quota_leave(quota, three);
    address_quota_leave(quota, other);
    address_quota_free(quota);
}

static void test_ipv6_counts_by_64(void **state)
{
    struct address_quota *quota = address_quota_new(1, NULL, 0);
    struct tally *one, *two, *other;

    (void)state;
    assert_true(enter(quota, "[2001:db8:0:1::1]:1", &one));
    assert_false(enter(quota, "[2001:db8:0:1:ffff::2]:1", &two));
    assert_true(enter(quota, "[2001:db8:0:2::1]:1", &other));
    address_quota_leave(quota, one);
    address_quota_leave(quota, other);
    address_quota_free(quota);
}

static void test_not_counted(void **state)
{
    struct address_block proxy;
    struct tally *tally;

    (void)state;
    assert_true(address_block_parse(SLICE("10.0.0.0/8"), &proxy, NULL));
    struct address_quota *quota = address_quota_new(1, &proxy, 1);
    for (int i = 0; i < 3; i++) {
        assert_true(enter(quota, "10.1.2.3:1", &tally));
        assert_null(tally);
        assert_true(enter(quota, "unix:/x", &tally));
        assert_null(tally);
    }
    address_quota_leave(quota, NULL);
    address_quota_free(quota);
}

static void test_many(void **state)
{
    enum { MANY = 20000 };
    static struct tally *tallies[MANY];
    struct address_quota *quota = address_quota_new(1, NULL, 0);
    struct tally *again;
    char host[32];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        snprintf(host, sizeof(host), "10.0.%d.%d:1", i / 256, i % 256);
        assert_true(enter(quota, host, &tallies[i]));
        assert_false(enter(quota, host, &again));
    }
    for (int i = 0; i < MANY; i++)
        address_quota_leave(quota, tallies[i]);
    address_quota_free(quota);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_ipv6_counts_by_64),
        cmocka_unit_test(test_not_counted),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
