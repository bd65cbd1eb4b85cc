/* SPDX-License-Identifier: Apache-2.0 */
#include "dialects/bearer.h"

#include "dialects/proof.h"

const char *const bearer_schemes[] = {"bearer", NULL};

enum proof bearer_token(const struct request *request, struct slice *token, struct err *err)
{
    struct slice value, word, rest;

    enum proof proof = proof_header(request, "Authorization", &value, err);
    if (proof != PROOF_OK)
        return proof;
    slice_cut(value, ' ', &word, &rest);
    if (!slice_eq_nocase(word, SLICE("bearer")))
        return proof_refuse(PROOF_MISSING, err, "Authorization is not of the scheme Bearer");
    rest = slice_trim(rest);
    if (rest.len == 0)
        return proof_refuse(PROOF_MISSING, err, "the bearer token is empty");
    *token = rest;
    return PROOF_OK;
}

enum proof bearer_check(const struct keyring *keyring, struct slice token, unsigned *secret,
                        struct err *err)
{
    for (size_t i = 0; i < keyring->count; i++) {
        if (!secret_equal(token, keyring->secrets[i].text))
            continue;
        *secret = (unsigned)i;
        return PROOF_OK;
    }
    return proof_refuse(PROOF_WRONG, err, "the token is none of the route's secrets");
}

enum proof bearer_verify(const struct request *request, const struct keyring *keyring,
                         int64_t now_ms, struct proven *proven, struct err *err)
{
    struct slice token;
    unsigned secret = 0;

    (void)now_ms;
    if (!proof_accepts(keyring, 0))
        return proof_refuse(PROOF_MISSING, err, "the route accepts no scheme");
    enum proof proof = bearer_token(request, &token, err);
    if (proof == PROOF_OK)
        proof = bearer_check(keyring, token, &secret, err);
    if (proof == PROOF_OK)
        *proven = (struct proven){.secret = secret};
    return proof;
}

bool bearer_secret_fits(const struct secret *secret, struct err *err)
{
    for (size_t i = 0; i < secret->text.len; i++)
        if (secret->text.data[i] < 0x20 || secret->text.data[i] > 0x7e)
            return err_set(err, "is not printable ASCII, as a token in a header must be");
    return true;
}
