/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set --rotate: from the route's first secret to a new one, without losing a wake.
 *
 *   the route's secrets     what is done
 *   [old, old]              the new one is written into the second file
 *   [old, new]              once every gateway takes the new one, AgentChat is given it
 *   [new, new]              written into the first file; once no gateway takes the old one, done
 *
 * The files themselves say how far it came, so it goes on from wherever it was broken off: where
 * the second secret is another than the first, that is the new one, and giving it to AgentChat once
 * more changes nothing. What wakegate cannot write (a variable, a file of somebody else) is said as
 * a step for whoever runs it, and waited for.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gateway/cli/cli.h"
#include "gateway/cli/fresh_secret.h"
#include "gateway/cli/secret_file.h"
#include "gateway/cli/subscription.h"

enum place { OLD, NEW }; /* in the route's secrets */

/* The path of the secret's file, NULL: it is in none. */
static const char *file_of(const struct subscription *subscription, enum place place)
{
    const json_t *list = json_object_get(subscription->settings, "secrets");

    return json_string_value(json_object_get(json_array_get(list, place), "file"));
}

static void say(const struct subscription *subscription, const char *text)
{
    printf("%s: %s\n", subscription->route->name, text);
    fflush(stdout);
}

/* false after saying what is to be done: nothing is there that a new secret could be written to. */
static bool has_room(const struct subscription *subscription)
{
    const char *old = file_of(subscription, OLD), *new = file_of(subscription, NEW);

    if (subscription->route->keyring.count < 2)
        fprintf(stderr,
                "%s has one secret. Give it a second place, such as {\"file\": \"%s-next\"}, in "
                "the config of every gateway, with the same secret in it for now; reload; then run "
                "the command again\n",
                subscription->route->name, old ? old : "/run/secrets/wake");
    else if (!new)
        fprintf(stderr,
                "the second of %s's secrets is not in a file, so the new one cannot be written. "
                "Put one that `wakegate secret` prints there, on every gateway, restart or reload "
                "them, and run the command again\n",
                subscription->route->name);
    else if (old && strcmp(old, new) == 0)
        fprintf(stderr, "both secrets of %s are in one file; give each its own\n",
                subscription->route->name);
    else
        return true;
    return false;
}

/* Writes a new one into the second file. false after a complaint. */
static bool begin(const struct subscription *subscription, struct secret *fresh)
{
    char text[FRESH_SECRET_SIZE];
    struct err err;

    if (!has_room(subscription))
        return false;
    fresh_secret(subscription->route->dialect, text);
    bool good = secret_init(fresh, slice_from(text), &err) &&
                secret_file_write(file_of(subscription, NEW), fresh->text, &err);
    digest_wipe(text, sizeof(text));
    if (good)
        printf("%s: a new secret stands in %s\n", subscription->route->name,
               file_of(subscription, NEW));
    else
        fprintf(stderr,
                "%s; put a secret that `wakegate secret` prints there, on every gateway, reload "
                "them, and run the command again\n",
                err.text);
    fflush(stdout);
    return good;
}

/* Wakes that were signed with the old one may still be on their way. */
static void linger(const struct subscription *subscription)
{
    if (subscription->linger_ms == 0)
        return;
    printf("%s: the old secret stays valid for %lld s more\n", subscription->route->name,
           (long long)subscription->linger_ms / 1000);
    fflush(stdout);
    nanosleep(&(struct timespec){.tv_sec = subscription->linger_ms / 1000}, NULL);
}

static bool drop_old(const struct subscription *subscription, const struct secret *new)
{
    const struct secret *old = &subscription->route->keyring.secrets[OLD];
    const char *path = file_of(subscription, OLD);
    struct err err = {"its first secret is in no file"};

    if (path && secret_file_write(path, new->text, &err))
        say(subscription, "the old secret is gone from the first file");
    else
        fprintf(stderr,
                "%s; put the new secret in the first place too, or take the old one out, on every "
                "gateway, and reload them\n",
                err.text);
    if (subscription_await(subscription, old, "old secret", false))
        return true;
    fprintf(stderr,
            "%s: AgentChat signs with the new secret and no wake is lost, but the old one "
            "is still taken there. Give these gateways the files as they are now, and send "
            "them SIGHUP\n",
            subscription->route->name);
    return false;
}

/* From [old, new] on. */
static int go_on(struct subscription *subscription, const struct secret *new)
{
    if (!subscription_await(subscription, new, "new secret", true)) {
        fprintf(stderr,
                "%s: AgentChat still signs with the old secret and no wake is lost. Give "
                "these gateways the new one (the second file), send them SIGHUP, and run "
                "the command again\n",
                subscription->route->name);
        return CLI_FAILED;
    }
    if (!subscription_put(subscription, new))
        return CLI_FAILED;
    linger(subscription);
    if (!drop_old(subscription, new))
        return CLI_FAILED;
    say(subscription, "the secret is replaced");
    return CLI_OK;
}

int subscription_rotate(struct subscription *subscription)
{
    const struct keyring *keyring = &subscription->route->keyring;
    struct secret fresh = {.ed25519 = NULL};

    if (keyring->count > NEW &&
        !secret_equal(keyring->secrets[OLD].text, keyring->secrets[NEW].text)) {
        say(subscription, "the second secret is another than the first: it is taken for the new "
                          "one, and the rotation goes on");
        return go_on(subscription, &keyring->secrets[NEW]);
    }
    int status = begin(subscription, &fresh) ? go_on(subscription, &fresh) : CLI_FAILED;
    secret_release(&fresh);
    return status;
}
