/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/room/credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialects/bearer.h"

static const char *const right_names[] = {"read", "answer", "cancel", "start", NULL};
static const char anonymous[] = "anonymous";

/* --- reading --- */

static bool is_right(struct slice name, struct err *err)
{
    for (size_t i = 0; right_names[i]; i++)
        if (slice_eq(name, slice_from(right_names[i])))
            return true;
    return err_set(err, "is none of read, answer, cancel, start");
}

static unsigned read_rights(struct settings *settings)
{
    struct names names;
    unsigned rights = 0;

    if (!settings_has(settings, "rights"))
        return RIGHT_READ;
    names_read(settings, "rights", sizeof(right_names) / sizeof(right_names[0]), is_right, &names);
    for (size_t i = 0; right_names[i]; i++)
        if (names_have(&names, slice_from(right_names[i])))
            rights |= 1U << i;
    names_release(&names);
    return rights;
}

static void read_common(struct settings *settings, struct credential *credential)
{
    names_read(settings, "threads", CREDENTIAL_PATTERNS, names_is_pattern, &credential->threads);
    if (!settings_has(settings, "threads"))
        settings_mistake(settings, "threads", "is missing; write for example [\"wakes\", \"a-*\"]");
    credential->rights = read_rights(settings);
}

static void read_token(struct settings *settings, struct credential *credential)
{
    struct secret secret;
    struct err err;

    if (!settings_secret(settings, "token", true, &secret))
        return;
    if (!bearer_secret_fits(&secret, &err))
        settings_mistake(settings, "token", "%s; give one that fits a header", err.text);
    sha256(secret.text, credential->digest);
    secret_release(&secret);
}

static struct credential *add(struct credentials *credentials)
{
    return &credentials->list[credentials->count++];
}

/* Two clients of one name could not be told apart, nor two of one token. */
static void check_alone(struct settings *settings, const struct credentials *credentials)
{
    const struct credential *last = &credentials->list[credentials->count - 1];

    for (size_t i = 0; i + 1 < credentials->count; i++) {
        const struct credential *other = &credentials->list[i];
        if (strcmp(other->client, last->client) == 0)
            settings_mistake(settings, "client", "\"%s\" is another client's name too; change one",
                             last->client);
        if (digest_equal(other->digest, last->digest, DIGEST_BYTES))
            settings_mistake(settings, "token", "is that of \"%s\" too; give each client its own",
                             other->client);
    }
}

static void read_client(struct settings *parent, size_t index, json_t *value,
                        struct credentials *credentials)
{
    char key[32], path[SETTINGS_PATH_SIZE];
    struct settings settings;

    snprintf(key, sizeof(key), "tokens[%zu]", index);
    settings_path(parent, key, path);
    settings_begin(&settings, parent->report, path, value);
    if (!settings.object)
        return;
    struct credential *credential = add(credentials);
    credential->client = mem_text(settings_name(&settings, "client"));
    if (!settings_has(&settings, "client"))
        settings_mistake(&settings, "client", "is missing; give the client a name");
    if (strcmp(credential->client, anonymous) == 0)
        settings_mistake(&settings, "client", "is what those without a token are called");
    unsigned mistakes = settings.report->mistake_count;
    read_token(&settings, credential);
    read_common(&settings, credential);
    if (settings.report->mistake_count == mistakes)
        check_alone(&settings, credentials);
    settings_end(&settings);
}

static void read_anonymous(struct settings *parent, struct credentials *credentials)
{
    char path[SETTINGS_PATH_SIZE];
    struct settings settings;
    json_t *object = settings_object(parent, "anonymous");

    if (!object)
        return;
    settings_path(parent, "anonymous", path);
    settings_begin(&settings, parent->report, path, object);
    struct credential *credential = add(credentials);
    credential->client = mem_text(slice_from(anonymous));
    credential->anonymous = true;
    read_common(&settings, credential);
    if (credential->rights & ~(unsigned)RIGHT_READ)
        settings_warning(&settings, "rights", "lets anybody do more than read; is that meant?");
    settings_end(&settings);
}

void credentials_read(struct settings *settings, struct credentials *credentials)
{
    json_t *array = settings_array(settings, "tokens");
    size_t count = json_array_size(array);

    if (count > CREDENTIALS_MAX) {
        settings_mistake(settings, "tokens", "has %zu tokens; write at most %d", count,
                         CREDENTIALS_MAX);
        count = CREDENTIALS_MAX;
    }
    *credentials = (struct credentials){.list = mem_new((count + 1) * sizeof(struct credential))};
    for (size_t i = 0; i < count; i++)
        read_client(settings, i, json_array_get(array, i), credentials);
    read_anonymous(settings, credentials);
    if (count == 0 && !settings_has(settings, "anonymous"))
        settings_warning(settings, NULL,
                         "lets nobody in; add \"tokens\", or \"anonymous\" for all who have none");
}

void credentials_release(struct credentials *credentials)
{
    for (size_t i = 0; i < credentials->count; i++) {
        struct credential *credential = &credentials->list[i];
        free(credential->client);
        names_release(&credential->threads);
        digest_wipe(credential->digest, sizeof(credential->digest));
    }
    free(credentials->list);
    *credentials = (struct credentials){0};
}

/* --- finding --- */

static const struct credential *with_digest(const struct credentials *credentials,
                                            const unsigned char *digest)
{
    const struct credential *found = NULL;

    for (size_t i = 0; i < credentials->count; i++) {
        const struct credential *credential = &credentials->list[i];
        bool equal = digest_equal(credential->digest, digest, DIGEST_BYTES);
        if (equal && !credential->anonymous)
            found = credential;
    }
    return found;
}

static const struct credential *without_token(const struct credentials *credentials)
{
    for (size_t i = 0; i < credentials->count; i++)
        if (credentials->list[i].anonymous)
            return &credentials->list[i];
    return NULL;
}

const struct credential *credentials_find(const struct credentials *credentials, const json_t *auth,
                                          const struct request *handshake, struct err *why)
{
    const json_t *shown = json_object_get(auth, "token");
    const struct credential *credential = NULL;
    unsigned char digest[DIGEST_BYTES];
    struct slice token = {.data = json_string_value(shown), .len = json_string_length(shown)};

    enum proof proof = shown ? PROOF_OK : bearer_token(handshake, &token, NULL);
    if (proof == PROOF_OK && token.data) {
        sha256(token, digest);
        credential = with_digest(credentials, digest);
    } else if (proof == PROOF_MISSING) {
        credential = without_token(credentials);
    }
    if (!credential)
        err_set(why, "Not authorized");
    return credential;
}

const struct credential *credentials_again(const struct credentials *later,
                                           const struct credential *credential)
{
    return credential->anonymous ? without_token(later) : with_digest(later, credential->digest);
}

bool credential_allows(const struct credential *credential, struct slice thread)
{
    for (size_t i = 0; i < credential->threads.count; i++)
        if (names_pattern_fits(slice_from(credential->threads.list[i]), thread))
            return true;
    return false;
}
