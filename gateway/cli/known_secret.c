/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/cli/known_secret.h"

#include <string.h>

#include "gateway/core/clock.h"
#include "gateway/core/digest.h"
#include "gateway/public_url.h"

enum { TIMEOUT_MS = 5000, HEADER_BYTES = 16384, BODY_BYTES = 65536 };

/* An object that is no payload, or a text that names no cycle: genuine, and nothing to relay. The
 * key is one that a delivery_id cannot be, since some dialects put it where an id is looked for. */
static bool frame(const struct route *route, const struct secret *secret, struct outgoing *out,
                  struct err *err)
{
    const struct wake wake = {.raw = SLICE("{}"),
                              .summary = SLICE("Is this secret known? No wake, nothing to do.")};
    struct trigger_speech speech = {.secret = secret};

    while (speech.scheme < 31 && !(route->keyring.schemes >> speech.scheme & 1u))
        speech.scheme++;
    return route->dialect->frame(&wake, &speech, SLICE("no/wake"), clock_wall_ms(), out, err);
}

static enum knows read_answer(const struct http_call *call, struct err *err)
{
    json_t *body = json_loadb(buf_text(&call->answer), call->answer.len, 0, NULL);
    struct slice code = slice_from(json_string_value(json_object_get(body, "code")));
    enum knows knows = KNOWS_UNCLEAR;

    if (call->status == 400 && slice_eq(code, SLICE("invalid_wake")))
        knows = KNOWS_IT;
    else if (call->status == 401 && slice_eq(code, SLICE("unauthorized")))
        knows = KNOWS_NOT;
    else if (call->status == 404)
        err_set(err, "it has no such route, or is no gateway");
    else
        err_set(err, "it answered %u", call->status);
    json_decref(body);
    return knows;
}

enum knows known_secret(const struct fetch_from *from, const char *gateway,
                        const struct route *route, const struct secret *secret, struct err *err)
{
    struct outgoing out = {.headers = BUF_INIT(HEADER_BYTES), .body = BUF_INIT(BODY_BYTES)};
    struct buf url = BUF_INIT(BODY_BYTES);
    enum knows knows = KNOWS_UNCLEAR;

    if (frame(route, secret, &out, err)) {
        public_url_of(slice_from(gateway), slice_from(route->name), &url);
        struct http_call call = {.url = buf_text(&url),
                                 .method = "POST",
                                 .headers = buf_slice(&out.headers),
                                 .body = buf_slice(&out.body),
                                 .timeout_ms = TIMEOUT_MS};
        fetch(from, &call);
        if (call.result == HTTP_ANSWERED)
            knows = read_answer(&call, err);
        else
            *err = call.err;
        buf_release(&call.answer);
    }
    if (out.headers.data)
        digest_wipe(out.headers.data, out.headers.len);
    buf_release(&out.headers);
    buf_release(&out.body);
    buf_release(&url);
    return knows;
}
