/* SPDX-License-Identifier: Apache-2.0 */
/* URLs taken apart, and which of them can be a webhook's. */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/limits.h"
#include "gateway/net/url.h"
#include "gateway/public_url.h"

static void assert_slice(struct slice slice, const char *text)
{
    assert_int_equal(slice.len, strlen(text));
    assert_memory_equal(slice.data ? slice.data : "", text, slice.len);
}

static void urls_are_taken_apart(void **state)
{
    static const struct {
        const char *url, *host, *port, *path;
        bool tls;
    } good[] = {
        {"https://example.com", "example.com", "", "", true},
        {"HTTPS://example.com:8443/a/b?c=d@e", "example.com", "8443", "/a/b?c=d@e", true},
        {"http://[::1]:80?x", "[::1]", "80", "?x", false},
        {"http://127.0.0.1:/", "127.0.0.1", "", "/", false},
    };
    static const char *const bad[] = {
        "",
        "example.com",
        "ftp://example.com",
        "https://",
        "https:///",
        "https://a:0",
        "https://a:65536",
        "https://a:b",
        "http://#",
        "https://u@a",
        "https://u:p@a/",
        "https://[::1",
        "http://?x",
        "https://[a]:1",
        "https://[::1]x",
        "https://a%2e",
        "https://a/#fragment",
    };
    struct url_parts parts;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(url_split(slice_from(good[i].url), &parts, &err));
        assert_int_equal(parts.tls, good[i].tls);
        assert_slice(parts.host, good[i].host);
        assert_slice(parts.port, good[i].port);
        assert_slice(parts.path, good[i].path);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (url_split(slice_from(bad[i]), &parts, &err))
            fail_msg("%s was taken", bad[i]);
}

static void a_webhook_is_public_https_of_2048_characters(void **state)
{
    static const char *const bad[] = {
        "http://wake.example.com/",
        "https://127.0.0.1/",
        "https://localhost/x",
        "https://10.1.2.3/",
        "https://169.254.169.254/",
        "https://[fd00::1]/",
        "https://a/b c",
        "https://a/\xc3\xa4",
        "",
    };
    char *longest = malloc(PUBLIC_URL_BYTES + 2);
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (public_url_check(slice_from(bad[i]), &err))
            fail_msg("%s was taken", bad[i]);
    assert_true(public_url_check(SLICE("https://wake.example.com/x?y=z"), &err));
    assert_false(public_url_check_base(SLICE("https://wake.example.com/x?y=z"), &err));
    memset(longest, 'x', PUBLIC_URL_BYTES + 1);
    memcpy(longest, "https://a/", 10);
    longest[PUBLIC_URL_BYTES + 1] = '\0';
    assert_false(public_url_check(slice_from(longest), &err));
    longest[PUBLIC_URL_BYTES] = '\0';
    assert_true(public_url_check(slice_from(longest), &err));
    assert_false(public_url_check_base(slice_from(longest), &err));
    free(longest);
}

/* Whatever base is taken, the URL of any route below it can be registered. */
static void every_route_fits_below_a_base(void **state)
{
    char name[LIMIT_NAME_BYTES + 1];
    char *base = malloc(PUBLIC_URL_BYTES + 1);
    struct err err;

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    name[LIMIT_NAME_BYTES] = '\0';
    memset(base, 'x', PUBLIC_URL_BYTES);
    memcpy(base, "https://a/", 10);
    base[PUBLIC_URL_BYTES] = '\0';
    while (!public_url_check_base(slice_from(base), &err))
        base[strlen(base) - 1] = '\0';
    struct buf url = BUF_INIT(2 * PUBLIC_URL_BYTES);
    public_url_of(slice_from(base), slice_from(name), &url);
    assert_true(public_url_check(buf_slice(&url), &err));
    assert_in_range(url.len, PUBLIC_URL_BYTES - 2, PUBLIC_URL_BYTES);
    buf_clear(&url);
    public_url_of(SLICE("https://a/b//"), SLICE("relay"), &url);
    assert_string_equal(buf_text(&url), "https://a/b/wake/relay");
    buf_release(&url);
    free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_are_taken_apart),
        cmocka_unit_test(a_webhook_is_public_https_of_2048_characters),
        cmocka_unit_test(every_route_fits_below_a_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
