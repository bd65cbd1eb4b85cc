/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URLs of triggers and of stores.
 *
 * Of a trigger's URL, libcurl and we must understand the same: a URL that was accepted as public
 * https is https to libcurl too, with a host that is no private address. A store's URL says what
 * its parts say when they are written again, and no complaint quotes it.
 */
#include "tests/fuzz/fuzz.h"

#include <curl/curl.h>

#include "gateway/core/codec.h"
#include "gateway/core/limits.h"
#include "gateway/net/reach.h"
#include "gateway/store/redis_url.h"
#include "relay/trigger.h"

static char *part_of(CURLU *url, CURLUPart part)
{
    char *text = NULL;

    return curl_url_get(url, part, &text, 0) == CURLUE_OK ? text : NULL;
}

/* Flags as libcurl itself uses them when it connects. */
static void check_with_curl(const char *text)
{
    CURLU *url = curl_url();
    enum reach reach = REACH_PUBLIC;

    assert(url);
    assert(curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK);
    char *scheme = part_of(url, CURLUPART_SCHEME), *host = part_of(url, CURLUPART_HOST);
    char *user = part_of(url, CURLUPART_USER);
    assert(scheme && strcmp(scheme, "https") == 0 && host && !user);
    reach_of_host(slice_from(host), &reach);
    assert(reach == REACH_PUBLIC);
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    curl_url_cleanup(url);
}

static void check_trigger(struct slice text)
{
    const struct route_facts route = {.name = SLICE("relay")};
    struct settings_report report;
    struct settings settings;
    json_t *object = json_pack("{s:s, s:s%, s:{s:s}}", "dialect", "claude-code", "url",
                               text.data ? text.data : "", text.len, "token", "literal", "t0ken");

    if (!object) /* no UTF-8, so no JSON either */
        return;
    settings_report_init(&report, "url");
    settings_begin(&settings, &report, "trigger", object);
    struct trigger *trigger = trigger_read(&settings, &route);
    assert((trigger != NULL) == (report.mistake_count == 0));
    if (trigger) {
        check_with_curl(trigger->url);
        free(trigger->target.id);
        trigger_free(trigger);
    }
    settings_report_release(&report);
    json_decref(object);
}

/* Every byte of it escaped. */
static void append_escaped(struct buf *out, const char *text)
{
    for (; *text; text++)
        buf_appendf(out, "%%%02X", (unsigned char)*text);
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void check_parts(const struct redis_url *url)
{
    struct buf text = BUF_INIT(64 * 1024);
    struct redis_url again;

    buf_append(&text, slice_from(!url->server.port ? "redis+unix://"
                                 : url->tls        ? "rediss://"
                                                   : "redis://"));
    if (url->login.user)
        append_escaped(&text, url->login.user);
    if (url->login.password) {
        buf_append_char(&text, ':');
        append_escaped(&text, url->login.password);
        buf_append_char(&text, '@');
    }
    if (url->server.port) {
        buf_append(&text, slice_from(url->place));
        buf_appendf(&text, "/%llu", (unsigned long long)url->db);
    } else {
        buf_append_char(&text, '/');
        append_escaped(&text, url->server.host + 1);
        buf_appendf(&text, "?db=%llu", (unsigned long long)url->db);
    }
    if (url->ca_file) {
        buf_append(&text, SLICE("?ca_file="));
        append_escaped(&text, url->ca_file);
    }
    if (text.len <= LIMIT_URL_BYTES) {
        assert(redis_url_init(&again, buf_slice(&text), NULL));
        assert(same(again.server.host, url->server.host) &&
               same(again.server.port, url->server.port));
        assert(same(again.login.user, url->login.user) &&
               same(again.login.password, url->login.password));
        assert(same(again.ca_file, url->ca_file) && again.db == url->db && again.tls == url->tls);
        redis_url_release(&again);
    }
    buf_release(&text);
}

static void check_store(struct slice text)
{
    struct err err = {.text = ""};
    struct redis_url url;

    if (!redis_url_init(&url, text, &err)) {
        assert(err.text[0]);
        const struct slice piece = slice_first(slice_from_at(text, 10), 24);
        assert(piece.len < 24 || !memmem(err.text, strlen(err.text), piece.data, piece.len));
        return;
    }
    assert(url.place[0] && (url.master ? url.sentinel_count > 0 : url.server.host[0] != '\0'));
    if (!url.master && !url.cert_file)
        check_parts(&url);
    struct redis_url copy = redis_url_copy(&url);
    assert(same(copy.login.password, url.login.password) &&
           same(copy.server.host, url.server.host) && copy.db == url.db);
    redis_url_release(&copy);
    redis_url_release(&url);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = fuzz_copy(fuzz_slice(data, size));
    const struct slice input = {.data = copy, .len = size};

    check_trigger(input);
    check_store(input);
    free(copy);
    return 0;
}
