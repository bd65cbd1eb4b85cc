/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/core/secret.h"

#include <stdlib.h>

#include "gateway/core/buf.h"
#include "gateway/core/codec.h"
#include "gateway/core/limits.h"

enum { LEAST_DECODED_BYTES = 16 };

static bool has_control(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f)
            return true;
    return false;
}

static bool is_usable(struct slice text, struct err *err)
{
    if (text.len == 0)
        return err_set(err, "is empty");
    if (text.len > LIMIT_SECRET_BYTES)
        return err_set(err, "is longer than %d bytes", LIMIT_SECRET_BYTES);
    if (has_control(text))
        return err_set(err, "has a control character, such as a line break, in it");
    if (slice_trim(text).len == 0)
        return err_set(err, "is blank");
    if (slice_trim(text).len != text.len)
        return err_set(err, "begins or ends with a blank");
    return true;
}

/* The key that the text says in base64; NULL when it says none of a usable length. */
static struct hmac_key *decoded_key(struct slice text)
{
    unsigned char bytes[LIMIT_SECRET_BYTES];
    struct hmac_key *key = NULL;
    size_t len = 0;

    if (base64_decode(text, bytes, sizeof(bytes), &len) && len >= LEAST_DECODED_BYTES)
        key = hmac_key_new((struct slice){.data = (const char *)bytes, .len = len});
    digest_wipe(bytes, sizeof(bytes));
    return key;
}

static bool same_pair(const struct ed25519_key *private, const struct ed25519_key *public)
{
    unsigned char signature[ED25519_SIGNATURE_BYTES];

    ed25519_sign(private, SLICE("pair"), signature);
    return ed25519_verify(public, SLICE("pair"), signature);
}

/* A private key is the seed alone, or the seed and its public key, as Svix writes it. */
static struct ed25519_key *private_key(struct slice text)
{
    unsigned char bytes[2 * ED25519_KEY_BYTES];
    struct ed25519_key *private = NULL, *public = NULL;
    size_t len = 0;

    bool fine = base64_decode(text, bytes, sizeof(bytes), &len) &&
                (len == ED25519_KEY_BYTES || len == sizeof(bytes));
    if (fine)
    private = ed25519_private_new(bytes);
    if (fine && len == sizeof(bytes)) {
        public = ed25519_public_new(bytes + ED25519_KEY_BYTES);
        fine = same_pair(private, public);
    }
    if (!fine) {
        ed25519_key_free(private);
        private = NULL;
    }
    ed25519_key_free(public);
    digest_wipe(bytes, sizeof(bytes));
    return private;
}

static struct ed25519_key *public_key(struct slice text)
{
    unsigned char bytes[ED25519_KEY_BYTES];
    size_t len = 0;

    if (!base64_decode(text, bytes, sizeof(bytes), &len) || len != sizeof(bytes))
        return NULL;
    return ed25519_public_new(bytes);
}

static bool read_keys(struct secret *secret, struct err *err)
{
    const struct slice hmac = SLICE("whsec_"), public = SLICE("whpk_"), private = SLICE("whsk_");
    struct slice rest = slice_from_at(secret->text, public.len);

    if (slice_starts(secret->text, private)) {
        secret->ed25519 = private_key(rest);
        secret->ed25519_private = true;
        return secret->ed25519 ||
               err_set(err, "has no private key of %d bytes in base64 after \"whsk_\"",
                       ED25519_KEY_BYTES);
    }
    if (slice_starts(secret->text, public)) {
        secret->ed25519 = public_key(rest);
        return secret->ed25519 ||
               err_set(err, "has no public key of %d bytes in base64 after \"whpk_\"",
                       ED25519_KEY_BYTES);
    }
    secret->prefixed = slice_starts(secret->text, hmac);
    secret->decoded =
        decoded_key(secret->prefixed ? slice_from_at(secret->text, hmac.len) : secret->text);
    return secret->decoded || !secret->prefixed ||
           err_set(err, "has no strict base64 of %d bytes or more after \"whsec_\"",
                   LEAST_DECODED_BYTES);
}

bool secret_init(struct secret *secret, struct slice text, struct err *err)
{
    if (!is_usable(text, err))
        return false;
    struct secret made = {.text = {.data = mem_text(text), .len = text.len}};
    if (!read_keys(&made, err)) {
        secret_release(&made);
        return false;
    }
    made.raw = hmac_key_new(made.text);
    *secret = made;
    return true;
}

void secret_release(struct secret *secret)
{
    if (!secret)
        return;
    char *text = (char *)(uintptr_t)secret->text.data; /* ours, though slices are const */
    if (text)
        digest_wipe(text, secret->text.len);
    free(text);
    hmac_key_free(secret->raw);
    hmac_key_free(secret->decoded);
    ed25519_key_free(secret->ed25519);
    *secret = (struct secret){0};
}
