/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speech: what the targets that verify, decode and frame share: secrets of every kind, requests as
 * text, and how a framed request is read back.
 */
#ifndef WAKEGATE_TESTS_FUZZ_SPEECH_H
#define WAKEGATE_TESTS_FUZZ_SPEECH_H

#include "dialects/dialect.h"
#include "tests/fuzz/fuzz.h"

#define SPEECH_NOW_MS INT64_C(1794474000123)

/* Those that tests/vectors/ were signed with come first. */
static const char *const speech_secrets[] = {
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    "token-of-the-route",
};
enum { SPEECH_SECRETS = sizeof(speech_secrets) / sizeof(speech_secrets[0]) };

/* Every secret, made once for the process. */
static inline struct secret *speech_keys(void)
{
    static struct secret keys[SPEECH_SECRETS];

    for (size_t i = 0; i < SPEECH_SECRETS && !keys[i].raw; i++)
        assert(secret_init(&keys[i], slice_from(speech_secrets[i]), NULL));
    return keys;
}

static inline struct keyring speech_keyring(unsigned schemes)
{
    return (struct keyring){
        .secrets = speech_keys(), .count = SPEECH_SECRETS, .schemes = schemes, .tolerance_s = 300};
}

static inline const struct dialect *speech_dialect(unsigned number)
{
    size_t count = 0;

    while (dialects[count])
        count++;
    return dialects[number % count];
}

/* "Name: value" lines up to an empty one; the body follows. */
static inline void speech_request(struct slice text, struct request *request)
{
    request->header_count = 0;
    while (text.len > 0) {
        struct slice line = fuzz_line(&text), name, value;
        if (line.len == 0)
            break;
        slice_cut(line, ':', &name, &value);
        if (request->header_count < LIMIT_HEADERS)
            request->headers[request->header_count++] =
                (struct header){.name = name, .value = slice_trim(value)};
    }
    request->body = text;
}

/* What frame wrote, as its receiver gets it. No byte of it may end a line. */
static inline void speech_read_back(const struct outgoing *out, struct request *request)
{
    struct slice rest = buf_slice(&out->headers), line, name, value;

    request->header_count = 0;
    request->body = buf_slice(&out->body);
    while (rest.len > 0) {
        assert(slice_cut(rest, '\0', &line, &rest));
        assert(!memchr(line.data, '\n', line.len) && !memchr(line.data, '\r', line.len));
        assert(slice_cut(line, ':', &name, &value) && slice_is_visible(name));
        assert(request->header_count < LIMIT_HEADERS);
        request->headers[request->header_count++] =
            (struct header){.name = name, .value = slice_trim(value)};
    }
}

/* Does this scheme prove the caller alone, not the bytes? */
static inline bool speech_is_token(const struct dialect *dialect, unsigned scheme)
{
    static const char *const tokens[] = {"bearer", "gitlab", "x-openclaw-token"};

    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++)
        if (strcmp(dialect->schemes[scheme], tokens[i]) == 0)
            return true;
    return false;
}

#endif
