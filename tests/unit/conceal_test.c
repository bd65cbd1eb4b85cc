/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

#include "relay/conceal.h"

static const struct conceal request = {
    .secret = SLICE("tok-0123456789abcdef"),
    .headers = SLICE("Authorization: Bearer tok-0123456789abcdef\0X-Timestamp: 1767225600\0"
                     "X-Signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=\0"
                     "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\0"
                     "X-Request-ID: 0b7c7d2e-0000-4000-8000-000000000000\0"),
    .key = SLICE("0b7c7d2e-0000-4000-8000-000000000000"),
    .url = "https://runtime.example:8443/hooks/s3cr3t-path?key=abcdefgh",
};

static void expect(const struct conceal *of, const char *before, const char *after)
{
    char text[200];

    snprintf(text, sizeof(text), "%s", before);
    conceal(of, text);
    assert_string_equal(text, after);
}

static void test_what_is_hidden(void **state)
{
    (void)state;
    expect(&request, "401 tok-0123456789abcdef", "401 ***");
    expect(&request, "wrong:tok-0123456789abcdef.", "wrong:***.");
    expect(&request, "401 tok-0123", "401 ***");
    expect(&request, "x89abcdefx tok-01234", "x***x ***");
    expect(&request, "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=", "***");
    expect(&request, "sig UVu1EsfQmfVNQhnkZ2pj9o9N bad", "sig *** bad");
    expect(&request, "at /hooks/s3cr3t-path?key=abcdefgh", "at ***");
    expect(&request, "no s3cr3t-path here", "no *** here");
}

static void test_what_stays(void **state)
{
    static const char *const texts[] = {
        "",
        "200",
        "401 authentication_error",
        "run_1767225600123", /* the second of the request, too */
        "0b7c7d2e-0000-4000-8000-000000000000",
        "4bf92f3577b34da6a3ce929d0e0e4736",
        "tok-012", /* too short to say anything */
        "Failed to connect to runtime.example port 8443",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        expect(&request, texts[i], texts[i]);
}

static void test_host_of_a_secret_url(void **state)
{
    struct conceal whole = request;

    (void)state;
    whole.host_too = true;
    expect(&whole, "Could not resolve host: runtime.example", "Could not resolve host: ***");
    whole.url = "http://[2001:db8::7]/x";
    expect(&whole, "connect to 2001:db8::7 port 80", "connect to *** port 80");
    whole.url = "http://a.io";
    expect(&whole, "connect to a.io port 80", "connect to *** port 80");
    whole.url = "http://ab/";
    expect(&whole, "a table", "a table");
}

static void test_short_secrets(void **state)
{
    struct conceal small = request;

    (void)state;
    small.secret = SLICE("s3cr");
    expect(&small, "401 s3cr", "401 ***");
    expect(&small, "s3", "s3");
    small.secret = SLICE("4");
    expect(&small, "401 no", "401 no");
    small.secret = SLICE("");
    expect(&small, "401 no", "401 no");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_hidden),
        cmocka_unit_test(test_what_stays),
        cmocka_unit_test(test_host_of_a_secret_url),
        cmocka_unit_test(test_short_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
