/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any request, verified and decoded in every dialect.
 *
 * A digit chooses the dialect; headers as lines, an empty line and the body follow. The seeds are
 * the signed requests of tests/vectors/. What is accepted must show a token of the route, or lose
 * its proof with any bit of its body; what is refused says why and changes nothing.
 */
#include "tests/fuzz/speech.h"

static bool shows_token(const struct request *request, struct slice token)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (slice_ends(request->headers[i].value, token))
            return true;
    return false;
}

static void check_accepted(const struct dialect *dialect, const struct request *request,
                           const struct keyring *keyring, const struct proven *proven)
{
    struct proven ignored;

    assert(proven->secret < keyring->count);
    if (speech_is_token(dialect, proven->scheme)) {
        assert(shows_token(request, keyring->secrets[proven->secret].text));
        return;
    }
    struct request changed = *request;
    char *body = fuzz_copy(request->body);
    changed.body.data = body;
    for (size_t bit = 0; bit < 8 * request->body.len; bit += 1 + request->body.len / 8) {
        body[bit / 8] ^= (char)(1 << bit % 8);
        assert(dialect->verify(&changed, keyring, SPEECH_NOW_MS, &ignored, NULL) != PROOF_OK);
        body[bit / 8] ^= (char)(1 << bit % 8);
    }
    free(body);
}

static void decode(const struct dialect *dialect, const struct request *request)
{
    struct err err = {.text = ""};
    struct wake wake = {0};

    if (dialect->decode(request, &wake, &err)) {
        assert(wake_is_delivery_id(wake.delivery_id));
        assert(dialect->carries_text || slice_eq(wake.raw, request->body));
    } else {
        assert(err.text[0]);
    }
    wake_release(&wake);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct proven untouched = {.secret = 77, .scheme = 88};
    struct slice input = fuzz_slice(data, size);
    const struct dialect *dialect = speech_dialect(fuzz_byte(&input) - '0');
    const struct keyring keyring = speech_keyring(~0u);
    struct proven proven = untouched;
    struct err err = {.text = ""};
    struct request request;

    fuzz_line(&input);
    char *text = fuzz_copy(input);
    speech_request((struct slice){.data = text, .len = input.len}, &request);
    if (dialect->verify(&request, &keyring, SPEECH_NOW_MS, &proven, &err) == PROOF_OK) {
        check_accepted(dialect, &request, &keyring, &proven);
    } else {
        assert(err.text[0]);
        assert(proven.secret == untouched.secret && proven.scheme == untouched.scheme);
    }
    decode(dialect, &request);
    free(text);
    return 0;
}
