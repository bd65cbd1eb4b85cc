/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/cli/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gateway/cli/api_words.h"
#include "gateway/core/outcome.h"
#include "gateway/net/reach.h"
#include "gateway/net/url.h"
#include "relay/conceal.h"

enum { TIMEOUT_MS = 30000, HEADER_BYTES = 4096, BODY_BYTES = 65536, LEAST_PAUSE_MS = 1000 };

static bool is_loopback(struct slice host)
{
    enum reach reach;

    return reach_of_host(host, &reach) && reach == REACH_PRIVATE &&
           (slice_starts(host, SLICE("127.")) || slice_eq(host, SLICE("[::1]")) ||
            slice_eq_nocase(host, SLICE("localhost")));
}

bool api_check_base(const char *base, bool private_too, struct err *err)
{
    struct url_parts parts;

    if (!slice_is_visible(slice_from(base)))
        return err_set(err, "is empty, or has blanks in it");
    if (!url_split(slice_from(base), &parts, err))
        return false;
    if (!parts.tls && !(private_too && is_loopback(parts.host)))
        return err_set(err, "is plain http, which would show the key to others; write https:// (a "
                            "loopback address may be plain with --private)");
    return strchr(base, '?') == NULL || err_set(err, "has a query; leave it out");
}

void api_conceal(const struct api *api, const struct secret *secret, const char *text, size_t len,
                 char *shown, size_t size)
{
    struct conceal request = {.secret = api->key->text, .url = ""};

    outcome_text(shown, size, text, len);
    conceal(&request, shown);
    if (!secret)
        return;
    request.secret = secret->text;
    conceal(&request, shown);
}

static void write_headers(const struct api *api, struct buf *headers)
{
    buf_append(headers, SLICE("Authorization: Bearer "));
    buf_append(headers, api->key->text);
    buf_append(headers, SLICE("\0Accept: application/json"));
    buf_append(headers, SLICE("\0Content-Type: application/json\0"));
}

static int append(const char *bytes, size_t len, void *body)
{
    buf_append(body, (struct slice){.data = bytes, .len = len});
    return 0;
}

static void forget(struct buf *buf)
{
    if (buf->data)
        digest_wipe(buf->data, buf->len);
    buf_release(buf);
}

static void ask_once(const struct api *api, const struct api_request *request,
                     struct http_call *call)
{
    struct buf url = BUF_INIT(BODY_BYTES), headers = BUF_INIT(HEADER_BYTES),
               body = BUF_INIT(BODY_BYTES);

    buf_appendf(&url, "%s%s", api->base, request->path);
    write_headers(api, &headers);
    if (request->body)
        json_dump_callback(request->body, append, &body, JSON_COMPACT);
    *call = (struct http_call){.url = buf_text(&url),
                               .method = request->method,
                               .headers = buf_slice(&headers),
                               .body = buf_slice(&body),
                               .wanted = api_told_headers,
                               .timeout_ms = TIMEOUT_MS};
    fetch(&api->from, call);
    buf_release(&url);
    forget(&headers);
    forget(&body);
}

/* Waits as long as a limit says. false: it does not say, or for longer than there is patience. */
static bool wait_for_limit(const struct http_call *call, int64_t *left_ms)
{
    if (call->result != HTTP_ANSWERED || call->status != 429 || !call->has_retry_after)
        return false;
    int64_t pause_ms =
        call->retry_after_ms > LEAST_PAUSE_MS ? call->retry_after_ms : LEAST_PAUSE_MS;
    if (pause_ms > *left_ms)
        return false;
    *left_ms -= pause_ms;
    fprintf(stderr, "AgentChat takes no more requests for %lld s; waiting\n",
            (long long)(pause_ms + 999) / 1000);
    nanosleep(
        &(struct timespec){.tv_sec = pause_ms / 1000, .tv_nsec = (long)(pause_ms % 1000) * 1000000},
        NULL);
    return true;
}

static void release(struct http_call *call)
{
    forget(&call->answer);
    buf_release(&call->kept);
}

bool api_ask(struct api *api, const struct api_request *request, json_t **answer)
{
    struct http_call call;

    *answer = NULL;
    for (ask_once(api, request, &call); wait_for_limit(&call, &api->patience_ms);) {
        release(&call);
        ask_once(api, request, &call);
    }
    bool good = call.result == HTTP_ANSWERED && call.status >= 200 && call.status < 300;
    if (call.result == HTTP_ANSWERED)
        api_tell_deprecation(request, buf_slice(&call.kept));
    if (good)
        *answer = json_loadb(buf_text(&call.answer), call.answer.len, 0, NULL);
    else
        api_tell_failure(api, request, &call);
    release(&call);
    return good;
}
