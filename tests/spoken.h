/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spoken: a wake said in a dialect, and read back as the receiver would get it.
 */
#ifndef WAKEGATE_TESTS_SPOKEN_H
#define WAKEGATE_TESTS_SPOKEN_H

#include "tests/vector.h"

enum { SPOKEN_BYTES = 4 * 1024 * 1024 };

#define SPOKEN_NOW_MS INT64_C(1794474000123)

/* The prefixed secret has a raw key and a decoded one, the other is an Ed25519 key. */
#define SPOKEN_SECRET      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define SPOKEN_PRIVATE_KEY "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

struct spoken {
    const struct dialect *dialect;
    struct secret secret;
    struct trigger_speech speech;
    struct outgoing out;
    struct request request; /* what was written, taken apart; borrows from `out` */
    struct err err;
};

static inline void spoken_init(struct spoken *spoken, const struct dialect *dialect)
{
    *spoken = (struct spoken){
        .dialect = dialect,
        .out = {.headers = BUF_INIT(SPOKEN_BYTES), .body = BUF_INIT(SPOKEN_BYTES)},
    };
    assert_true(secret_init(&spoken->secret, slice_from(SPOKEN_SECRET), NULL));
    spoken->speech.prompt = SLICE("Read the tray.");
    spoken->speech.handle = SLICE("@route");
}

static inline void spoken_release(struct spoken *spoken)
{
    secret_release(&spoken->secret);
    json_decref(spoken->speech.fields);
    buf_release(&spoken->out.headers);
    buf_release(&spoken->out.body);
}

static inline void spoken_take_apart(struct spoken *spoken)
{
    struct slice rest = buf_slice(&spoken->out.headers), line, name, value;

    spoken->request = (struct request){.body = buf_slice(&spoken->out.body)};
    while (rest.len > 0) {
        assert_true(slice_cut(rest, '\0', &line, &rest));
        assert_null(memchr(line.data, '\n', line.len));
        assert_true(slice_cut(line, ':', &name, &value));
        assert_true(slice_is_visible(name));
        assert_true(spoken->request.header_count < LIMIT_HEADERS);
        spoken->request.headers[spoken->request.header_count++] =
            (struct header){.name = name, .value = slice_trim(value)};
    }
}

/* Says the wake; false as frame says it. */
static inline bool spoken_say(struct spoken *spoken, const struct wake *wake, const char *key)
{
    buf_clear(&spoken->out.headers);
    buf_clear(&spoken->out.body);
    spoken->err.text[0] = '\0';
    spoken->speech.secret = &spoken->secret;
    if (!spoken->dialect->frame(wake, &spoken->speech, slice_from(key), SPOKEN_NOW_MS, &spoken->out,
                                &spoken->err)) {
        assert_true(spoken->err.text[0]);
        return false;
    }
    spoken_take_apart(spoken);
    return true;
}

static inline enum proof spoken_verify(struct spoken *spoken, unsigned schemes,
                                       struct proven *proven)
{
    const struct keyring keyring = {
        .secrets = &spoken->secret, .count = 1, .schemes = schemes, .tolerance_s = 300};

    return spoken->dialect->verify(&spoken->request, &keyring, SPOKEN_NOW_MS, proven, NULL);
}

/* A header of the request, "" when it is not there. A repeated one fails the test. */
static inline struct slice spoken_header(const struct spoken *spoken, const char *name)
{
    struct slice value = SLICE("");

    assert_int_not_equal(request_header(&spoken->request, slice_from(name), &value),
                         HEADER_REPEATED);
    return value;
}

#endif
