/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <string.h>

#include "gateway/net/address.h"

static void test_listen_addresses(void **state)
{
    static const struct {
        const char *text, *url;
    } good[] = {
        {"127.0.0.1:8080", "http://127.0.0.1:8080"},   {"0.0.0.0:80", "http://127.0.0.1:80"},
        {"[::]:8080", "http://127.0.0.1:8080"},        {"[::1]:0", "http://[::1]:0"},
        {"[fd00::1]:65535", "http://[fd00::1]:65535"}, {"unix:/run/w.sock", "unix:/run/w.sock"},
    };
    static const char *const bad[] = {
        "",
        "8080",
        ":8080",
        "localhost:80",
        "127.0.0.1",
        "127.0.0.1:",
        "1.2.3:80",
        "1.2.3.4:65536",
        "1.2.3.4:-1",
        "1.2.3.4:80 ",
        "::1:80",
        "[::1]80",
        "[::1]",
        "[::1:80",
        "::1]:80",
        "[127.0.0.1]:80",
        "unix:",
        "[::g]:80",
        "[fd00:0000:0000:0000:0000:0000:0000:0000:0000:0001]:80",
    };
    union address address;
    char url[ADDRESS_URL_SIZE];
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        assert_true(address_parse(slice_from(good[i].text), &address, &err));
        address_url(&address, "http", url);
        assert_string_equal(url, good[i].url);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (address_parse(slice_from(bad[i]), &address, &err))
            fail_msg("accepted: %s", bad[i]);
}

static void test_clashes(void **state)
{
    static const struct {
        const char *a, *b;
        bool clash;
    } cases[] = {
        {"127.0.0.1:80", "127.0.0.1:80", true},  {"127.0.0.1:80", "127.0.0.1:81", false},
        {"127.0.0.1:80", "127.0.0.2:80", false}, {"127.0.0.1:80", "0.0.0.0:80", true},
        {"127.0.0.1:80", "[::]:80", true},       {"0.0.0.0:80", "[::]:80", true},
        {"[::1]:80", "[::]:80", true},           {"[::1]:80", "0.0.0.0:80", false},
        {"[::1]:80", "127.0.0.1:80", false},     {"127.0.0.1:80", "[::ffff:127.0.0.1]:80", true},
        {"127.0.0.1:0", "127.0.0.1:0", false},   {"unix:/a", "unix:/a", true},
        {"unix:/a", "unix:/b", false},           {"unix:/a", "127.0.0.1:80", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        union address a, b;
        assert_true(address_parse(slice_from(cases[i].a), &a, NULL));
        assert_true(address_parse(slice_from(cases[i].b), &b, NULL));
        if (address_clash(&a, &b) != cases[i].clash || address_clash(&b, &a) != cases[i].clash)
            fail_msg("%s and %s", cases[i].a, cases[i].b);
    }
}

static void test_path_too_long(void **state)
{
    union address address;
    struct err err;
    char path[200] = "unix:";

    (void)state;
    memset(path + 5, 'a', 107);
    assert_true(address_parse(slice_from(path), &address, &err));
    memset(path + 5, 'a', 108);
    assert_false(address_parse(slice_from(path), &address, &err));
}

/* The C library would read what stands before it. */
static void test_nul(void **state)
{
    union address address;
    struct address_block block;

    (void)state;
    assert_false(address_parse(SLICE("127.0.0.1\0x:80"), &address, NULL));
    assert_false(address_parse(SLICE("[::1\0x]:80"), &address, NULL));
    assert_false(address_parse(SLICE("unix:/a\0b"), &address, NULL));
    assert_false(address_block_parse(SLICE("10.0.0.0\0x/8"), &block, NULL));
    assert_false(address_block_parse(SLICE(""), &block, NULL));
}

static void test_ipv6(void **state)
{
    (void)state;
    assert_true(address_is_ipv6(SLICE("2001:db8::1")));
    assert_true(address_is_ipv6(SLICE("fe80::1%eth0")));
    assert_false(address_is_ipv6(SLICE("127.0.0.1")));
    assert_false(address_is_ipv6(SLICE("[::1")));
    assert_false(address_is_ipv6(SLICE("%eth0")));
    assert_false(address_is_ipv6(SLICE("")));
}

static void assert_text(const char *listen, const char *text)
{
    union address address;
    char found[ADDRESS_TEXT_SIZE];

    assert_true(address_parse(slice_from(listen), &address, NULL));
    address_text(&address.any, found);
    assert_string_equal(found, text);
}

static void test_text(void **state)
{
    (void)state;
    assert_text("192.0.2.7:1", "192.0.2.7");
    assert_text("[::ffff:192.0.2.7]:1", "192.0.2.7");
    assert_text("[2001:db8::1]:1", "2001:db8::1");
    assert_text("unix:/x", "unix");
}

static bool block_has(const char *block, const char *host)
{
    struct address_block parsed;
    union address address;
    struct address_key key;

    assert_true(address_block_parse(slice_from(block), &parsed, NULL));
    assert_true(address_parse(slice_from(host), &address, NULL));
    assert_true(address_key(&address.any, &key));
    return address_block_has(&parsed, &key);
}

static void test_blocks(void **state)
{
    static const char *const bad[] = {"",          "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1",
                                      "10.0.0/8",  "fd00::/129",  "proxy",     "10.0.0.0/8/8",
                                      "[fd00::]/8"};
    struct address_block block;

    (void)state;
    assert_true(block_has("10.0.0.0/8", "10.255.0.1:1"));
    assert_false(block_has("10.0.0.0/8", "11.0.0.1:1"));
    assert_true(block_has("10.0.0.0/8", "[::ffff:10.1.2.3]:1"));
    assert_true(block_has("192.0.2.128/25", "192.0.2.129:1"));
    assert_false(block_has("192.0.2.128/25", "192.0.2.127:1"));
    assert_true(block_has("192.0.2.1", "192.0.2.1:1"));
    assert_false(block_has("192.0.2.1", "192.0.2.2:1"));
    assert_true(block_has("0.0.0.0/0", "192.0.2.2:1"));
    assert_false(block_has("0.0.0.0/0", "[2001:db8::1]:1"));
    assert_true(block_has("::/0", "192.0.2.2:1"));
    assert_true(block_has("fd00::/7", "[fcff::1]:1"));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (address_block_parse(slice_from(bad[i]), &block, NULL))
            fail_msg("accepted: %s", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listen_addresses),
        cmocka_unit_test(test_clashes),
        cmocka_unit_test(test_path_too_long),
        cmocka_unit_test(test_nul),
        cmocka_unit_test(test_ipv6),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
