/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "gateway/net/reach.h"

struct expected {
    const char *text;
    enum reach reach;
};

static void read_address(const char *text, struct sockaddr_storage *address)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;

    *address = (struct sockaddr_storage){.ss_family = strchr(text, ':') ? AF_INET6 : AF_INET};
    void *to = address->ss_family == AF_INET6 ? (void *)&v6->sin6_addr : (void *)&v4->sin_addr;
    assert_int_equal(inet_pton(address->ss_family, text, to), 1);
}

static const struct expected addresses[] = {
    {"8.8.8.8", REACH_PUBLIC},
    {"1.0.0.0", REACH_PUBLIC},
    {"0.0.0.0", REACH_FORBIDDEN},
    {"0.255.255.255", REACH_FORBIDDEN},
    {"9.255.255.255", REACH_PUBLIC},
    {"10.0.0.0", REACH_PRIVATE},
    {"10.255.255.255", REACH_PRIVATE},
    {"11.0.0.0", REACH_PUBLIC},
    {"100.63.255.255", REACH_PUBLIC},
    {"100.64.0.0", REACH_PRIVATE},
    {"100.100.100.200", REACH_FORBIDDEN},
    {"100.127.255.255", REACH_PRIVATE},
    {"100.128.0.0", REACH_PUBLIC},
    {"126.255.255.255", REACH_PUBLIC},
    {"127.0.0.1", REACH_PRIVATE},
    {"127.255.255.255", REACH_PRIVATE},
    {"128.0.0.0", REACH_PUBLIC},
    {"168.63.129.16", REACH_FORBIDDEN},
    {"168.63.129.17", REACH_PUBLIC},
    {"169.253.255.255", REACH_PUBLIC},
    {"169.254.0.0", REACH_FORBIDDEN},
    {"169.254.169.254", REACH_FORBIDDEN},
    {"169.255.0.0", REACH_PUBLIC},
    {"172.15.255.255", REACH_PUBLIC},
    {"172.16.0.0", REACH_PRIVATE},
    {"172.31.255.255", REACH_PRIVATE},
    {"172.32.0.0", REACH_PUBLIC},
    {"192.0.0.192", REACH_FORBIDDEN},
    {"192.0.1.0", REACH_PUBLIC},
    {"192.0.2.1", REACH_PRIVATE},
    {"192.0.3.0", REACH_PUBLIC},
    {"192.88.98.255", REACH_PUBLIC},
    {"192.88.99.1", REACH_FORBIDDEN},
    {"192.88.100.0", REACH_PUBLIC},
    {"192.167.255.255", REACH_PUBLIC},
    {"192.168.0.0", REACH_PRIVATE},
    {"192.169.0.0", REACH_PUBLIC},
    {"198.17.255.255", REACH_PUBLIC},
    {"198.19.255.255", REACH_PRIVATE},
    {"198.51.99.255", REACH_PUBLIC},
    {"198.51.100.1", REACH_PRIVATE},
    {"203.0.112.255", REACH_PUBLIC},
    {"203.0.113.1", REACH_PRIVATE},
    {"203.0.114.0", REACH_PUBLIC},
    {"223.255.255.255", REACH_PUBLIC},
    {"224.0.0.1", REACH_FORBIDDEN},
    {"240.0.0.1", REACH_FORBIDDEN},
    {"255.255.255.255", REACH_FORBIDDEN},
    {"::", REACH_FORBIDDEN},
    {"::1", REACH_PRIVATE},
    {"::127.0.0.1", REACH_PRIVATE},
    {"::8.8.8.8", REACH_PUBLIC},
    {"::ffff:127.0.0.1", REACH_PRIVATE},
    {"::ffff:10.1.2.3", REACH_PRIVATE},
    {"::ffff:100.64.0.1", REACH_PRIVATE},
    {"::ffff:0.0.0.0", REACH_FORBIDDEN},
    {"::ffff:224.0.0.1", REACH_FORBIDDEN},
    {"::ffff:100.100.100.200", REACH_FORBIDDEN},
    {"::ffff:8.8.8.8", REACH_PUBLIC},
    {"::ffff:169.254.169.254", REACH_FORBIDDEN},
    {"::ffff:0:169.254.169.254", REACH_FORBIDDEN},
    {"64:ff9b::127.0.0.1", REACH_PRIVATE},
    {"64:ff9b::8.8.8.8", REACH_PUBLIC},
    {"64:ff9b::169.254.169.254", REACH_FORBIDDEN},
    {"64:ff9b:1::8.8.8.8", REACH_PRIVATE},
    {"64:ff9b:1::169.254.169.254", REACH_FORBIDDEN},
    {"64:ff9b::100.64.0.1", REACH_PRIVATE},
    {"64:ff9b::224.0.0.1", REACH_FORBIDDEN},
    {"64:ff9b::0.0.0.0", REACH_FORBIDDEN},
    {"64:ff9c::1", REACH_PUBLIC},
    {"100::1", REACH_FORBIDDEN},
    {"100:0:0:1::1", REACH_PUBLIC},
    {"2001::1", REACH_FORBIDDEN},
    {"2001:0:808:808::1", REACH_FORBIDDEN},
    {"2001:1::1", REACH_PRIVATE},
    {"2001:1ff:ffff::1", REACH_PRIVATE},
    {"2001:200::1", REACH_PUBLIC},
    {"2001:db7:ffff::1", REACH_PUBLIC},
    {"2001:db8::1", REACH_PRIVATE},
    {"2001:db9::1", REACH_PUBLIC},
    {"2002:0:0:1::1", REACH_FORBIDDEN},
    {"2002:6440:1::1", REACH_PRIVATE},
    {"2002:e000:1::1", REACH_FORBIDDEN},
    {"3fff:fff::1", REACH_PRIVATE},
    {"3fff:1000::1", REACH_PUBLIC},
    {"5f00::1", REACH_PRIVATE},
    {"5f01::1", REACH_PUBLIC},
    {"2001:4860:4860::8888", REACH_PUBLIC},
    {"2002:7f00:1::", REACH_PRIVATE},
    {"2002:a9fe:a9fe::1", REACH_FORBIDDEN},
    {"2002:808:808::1", REACH_PUBLIC},
    {"2606:4700::1111", REACH_PUBLIC},
    {"fbff::1", REACH_PUBLIC},
    {"fc00::1", REACH_PRIVATE},
    {"fd12:3456::1", REACH_PRIVATE},
    {"fd00:ec2::254", REACH_FORBIDDEN},
    {"fd00:ec2::23", REACH_FORBIDDEN},
    {"fd00:ec1::254", REACH_PRIVATE},
    {"fd00:c1::a9fe:a9fe", REACH_FORBIDDEN},
    {"fd00:c1::1", REACH_PRIVATE},
    {"fd00:42::42", REACH_FORBIDDEN},
    {"fd00:a9fe:a9fe::1", REACH_FORBIDDEN},
    {"fd00:100::100:200", REACH_FORBIDDEN},
    {"fd00:100::100:201", REACH_PRIVATE},
    {"fd00::254", REACH_PRIVATE},
    {"fd20:ce::254", REACH_FORBIDDEN},
    {"fe7f::1", REACH_PUBLIC},
    {"fe80::1", REACH_FORBIDDEN},
    {"febf::1", REACH_FORBIDDEN},
    {"fec0::1", REACH_PRIVATE},
    {"ff02::1", REACH_FORBIDDEN},
};

static void test_addresses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        struct sockaddr_storage address;
        read_address(addresses[i].text, &address);
        enum reach reach = reach_of((struct sockaddr *)&address);
        if (reach != addresses[i].reach)
            fail_msg("%s is judged %d", addresses[i].text, (int)reach);
    }
}

static void test_other_families(void **state)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "/run/x"};

    (void)state;
    assert_int_equal(reach_of((struct sockaddr *)&local), REACH_FORBIDDEN);
}

static const struct expected hosts[] = {
    {"127.0.0.1", REACH_PRIVATE},
    {"127.1", REACH_PRIVATE},
    {"0x7f.1", REACH_PRIVATE},
    {"0X7F.0x0.0x0.0x1", REACH_PRIVATE},
    {"017700000001", REACH_PRIVATE},
    {"10.1", REACH_PRIVATE},
    {"0", REACH_FORBIDDEN},
    {"0x0", REACH_FORBIDDEN},
    {"0251.0376.0251.0376", REACH_FORBIDDEN},
    {"169.16689662", REACH_FORBIDDEN},
    {"0xa9fea9fe", REACH_FORBIDDEN},
    {"0x7f000001", REACH_PRIVATE},
    {"2130706433", REACH_PRIVATE},
    {"0177.0.0.1", REACH_PRIVATE},
    {"000000000000000000000000000000000000000000000000000000000000000000000000000177.1",
     REACH_PRIVATE},
    {"2852039166", REACH_FORBIDDEN}, /* 169.254.169.254 */
    {"8.8.8.8", REACH_PUBLIC},
    {"[::1]", REACH_PRIVATE},
    {"[fe80::1%25eth0]", REACH_FORBIDDEN},
    {"[fe80::1%eth0]", REACH_FORBIDDEN},
    {"[::1%25lo]", REACH_PRIVATE},
    {"[0:0:0:0:0:ffff:7f00:1]", REACH_PRIVATE},
    {"[::ffff:169.254.169.254]", REACH_FORBIDDEN},
    {"localhost", REACH_PRIVATE},
    {"LocalHost.", REACH_PRIVATE},
    {"api.localhost", REACH_PRIVATE},
};

static void test_hosts(void **state)
{
    static const char *const names[] = {"example.com", "notlocalhost", "127.0.0.1.sslip.io", "",
                                        "localhost.example.com"};
    enum reach reach = REACH_FORBIDDEN;

    (void)state;
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
        if (!reach_of_host(slice_from(hosts[i].text), &reach) || reach != hosts[i].reach)
            fail_msg("%s is judged %d", hosts[i].text, (int)reach);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_false(reach_of_host(slice_from(names[i]), &reach));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_other_families),
        cmocka_unit_test(test_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
