/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the config says of one trigger. Every mistake that can be known before the first wake is
 * found here: the last step speaks the dialect once for a made-up wake.
 *
 * The URL may be a secret, so no message repeats any of it.
 */
#include "relay/trigger.h"

#include <stdio.h>
#include <stdlib.h>

#include "gateway/core/codec.h"
#include "gateway/core/digest.h"
#include "gateway/core/limits.h"
#include "gateway/net/address.h"
#include "gateway/net/reach.h"
#include "gateway/net/url.h"
#include "relay/preset.h"
#include "relay/texts.h"

enum { VARIANTS = 8, ID_HASH_BYTES = 4 };

/* The URL. */

static void check_url(struct settings *settings, struct slice url, bool private_too)
{
    struct url_parts parts;
    struct err err;
    enum reach reach = REACH_PUBLIC;

    if (!url_split(url, &parts, &err)) {
        settings_mistake(settings, "url", "%s", err.text);
        return;
    }
    if (!parts.tls && !private_too)
        settings_mistake(settings, "url",
                         "is plain http; write https://, or set \"private\": true for a runtime "
                         "in your own network");
    reach_of_host(parts.host, &reach);
    if (reach == REACH_FORBIDDEN)
        settings_mistake(settings, "url",
                         "names an address that is link-local, reserved or a metadata service; no "
                         "wake is ever sent there");
    if (reach == REACH_PRIVATE && !private_too)
        settings_mistake(settings, "url",
                         "names a private or loopback address; set \"private\": true if that is "
                         "meant");
}

static char *read_url(struct settings *settings, bool private_too)
{
    char *url = settings_address(settings, "url", NULL);

    if (!settings_has(settings, "url"))
        settings_mistake(settings, "url", "is missing; write the address of the trigger");
    if (url)
        check_url(settings, slice_from(url), private_too);
    return url;
}

/* How the dialect is spoken. */

/* One secret under the name that fits the dialect. */
static void read_secret(struct settings *settings, const struct dialect *dialect,
                        struct secret *secret)
{
    const char *name = dialect && dialect->sends_token ? "token" : "secret";
    const char *other = dialect && dialect->sends_token ? "secret" : "token";
    struct err err;
    bool misnamed = settings_has(settings, other);

    if (!dialect) { /* reported already; both are known names */
        settings_has(settings, name);
        return;
    }
    if (misnamed)
        settings_mistake(settings, other, "is called \"%s\" for the dialect %s, which %s", name,
                         dialect->name,
                         dialect->sends_token ? "sends it as it is" : "signs with it");
    if (!settings_secret(settings, name, !misnamed, secret))
        return;
    const char *doubt = dialect_secret_doubt(dialect, secret);
    if (!dialect->secret_fits(secret, &err))
        settings_mistake(settings, name, "%s; give one that fits the dialect %s", err.text,
                         dialect->name);
    else if (doubt)
        settings_warning(settings, name, "%s", doubt);
}

static unsigned read_variant(struct settings *settings, const struct dialect *dialect)
{
    const char *names[VARIANTS + 1] = {NULL};

    for (size_t i = 0; i < dialect->variant_count && i < VARIANTS; i++)
        names[i] = dialect->variants[i].name;
    if (names[0])
        return (unsigned)settings_choice(settings, "variant", names, 0);
    if (settings_has(settings, "variant"))
        settings_mistake(settings, "variant", "means nothing for the dialect %s; leave it out",
                         dialect->name);
    return 0;
}

/* A URL that ends like that of another variant was most likely copied from there. */
static void check_variant(struct settings *settings, const struct dialect *dialect,
                          struct slice url, unsigned chosen)
{
    struct slice path, rest;

    slice_cut(url, '?', &path, &rest);
    for (size_t i = 0; i < dialect->variant_count; i++) {
        const struct variant *variant = &dialect->variants[i];
        if (i != chosen && variant->path && slice_ends(path, slice_from(variant->path)))
            settings_warning(settings, "variant",
                             "is \"%s\", and the URL ends in %s; write \"%s\", or another URL",
                             dialect->variants[chosen].name, variant->path, variant->name);
    }
}

static json_t *read_fields(struct settings *settings, const struct dialect *dialect)
{
    json_t *fields = settings_object(settings, "fields");

    if (fields && !dialect->takes_fields)
        settings_mistake(settings, "fields",
                         "cannot be added to a request of the dialect %s; leave them out",
                         dialect->name);
    return json_incref(fields);
}

static struct slice kept(struct slice text)
{
    return (struct slice){.data = mem_text(text), .len = text.len};
}

static void read_speech(struct settings *settings, const struct route_facts *route,
                        struct trigger *trigger)
{
    struct trigger_speech *speech = &trigger->speech;
    const struct dialect *dialect = trigger->dialect;

    speech->secret = &trigger->secret;
    speech->prompt = kept(route->prompt);
    speech->handle = kept(route->handle);
    if (!dialect) { /* reported already; these are known names */
        settings_has(settings, "variant");
        settings_has(settings, "scheme");
        settings_has(settings, "fields");
        settings_has(settings, "texts");
        return;
    }
    speech->variant = read_variant(settings, dialect);
    if (trigger->url)
        check_variant(settings, dialect, slice_from(trigger->url), speech->variant);
    speech->scheme = (unsigned)settings_choice(settings, "scheme", dialect->schemes, 0);
    speech->fields = read_fields(settings, dialect);
    trigger->texts_runtime = settings_choice(settings, "texts", texts_runtimes, TEXTS_GENERIC);
    if (settings_has(settings, "texts") && !dialect->carries_text)
        settings_mistake(settings, "texts",
                         "means nothing here: the dialect %s carries no text; leave it out",
                         dialect->name);
}

/* Says a made-up wake with `fields`. */
static bool say(const struct trigger *trigger, json_t *fields, struct outgoing *out,
                struct err *err)
{
    const struct wake wake = {
        .version = 1,
        .reason = SLICE("unanswered"),
        .step = 1,
        .handle = trigger->speech.handle,
        .summary = SLICE("A test."),
        .delivery_id = SLICE("00000000-0000-4000-8000-000000000000"),
        .ts = SLICE("2026-01-01T00:00:00.000Z"),
        .ts_ms = 1767225600000,
        .test = true,
    };
    struct trigger_speech speech = trigger->speech;

    speech.fields = fields;
    *out = (struct outgoing){.headers = BUF_INIT(LIMIT_OUT_BODY_BYTES),
                             .body = BUF_INIT(LIMIT_OUT_BODY_BYTES)};
    return trigger->dialect->frame(&wake, &speech, wake.delivery_id, wake.ts_ms, out, err);
}

static void forget(struct outgoing *out)
{
    buf_release(&out->headers);
    buf_release(&out->body);
}

/* A member that the dialect sets itself comes out as the dialect has it, not as it was given. */
static void check_fields(struct settings *settings, const struct trigger *trigger)
{
    json_t *probe = json_object();
    struct outgoing out;
    const char *name;
    json_t *value;

    json_object_foreach (trigger->speech.fields, name, value)
        json_object_set_new(probe, name, json_pack("[s]", "given"));
    bool said = say(trigger, probe, &out, NULL);
    json_t *body = said ? json_loadb(out.body.data, out.body.len, 0, NULL) : NULL;
    json_object_foreach (probe, name, value)
        if (body && !json_equal(json_object_get(body, name), value))
            settings_mistake(settings, "fields",
                             "has \"%s\", which the dialect %s sets itself; leave it out", name,
                             trigger->dialect->name);
    json_decref(body);
    json_decref(probe);
    forget(&out);
}

/* So that what can never be said is known now. */
static void rehearse(struct settings *settings, const struct trigger *trigger)
{
    struct outgoing out;
    struct err err = {0};

    if (!say(trigger, trigger->speech.fields, &out, &err))
        settings_mistake(settings, NULL, "no wake can be sent like this: %s", err.text);
    else if (json_object_size(trigger->speech.fields) > 0)
        check_fields(settings, trigger);
    forget(&out);
}

static char *make_id(const struct trigger *trigger)
{
    unsigned char hash[DIGEST_BYTES];
    char hex[2 * ID_HASH_BYTES + 1];
    struct buf id = BUF_INIT(LIMIT_NAME_BYTES);

    sha256(slice_from(trigger->url), hash);
    hex_encode(hash, ID_HASH_BYTES, hex);
    buf_appendf(&id, "%s-%s", trigger->dialect->name, hex);
    char *text = mem_text(buf_slice(&id));
    buf_release(&id);
    return text;
}

struct trigger *trigger_read(struct settings *settings, const struct route_facts *route)
{
    struct trigger *trigger = mem_new(sizeof(*trigger));
    unsigned mistakes = settings->report->mistake_count;
    const struct preset *preset = preset_read(settings);

    trigger->private_too = settings_bool(settings, "private", false);
    trigger->url = read_url(settings, trigger->private_too);
    trigger->url_is_secret = json_is_object(json_object_get(settings->object, "url"));
    trigger->dialect = preset_dialect(preset, settings);
    read_secret(settings, trigger->dialect, &trigger->secret);
    read_speech(settings, route, trigger);
    if (settings->report->mistake_count == mistakes)
        rehearse(settings, trigger);
    if (settings->report->mistake_count != mistakes) {
        trigger_free(trigger);
        return NULL;
    }
    trigger->target.id = make_id(trigger);
    trigger->target.idempotent = trigger->dialect->variants[trigger->speech.variant].idempotent;
    if (preset) {
        trigger->target.pace = preset->pace;
        trigger->target.timeout_ms = preset->timeout_ms;
    }
    return trigger;
}

void trigger_free(struct trigger *trigger)
{
    secret_release(&trigger->secret);
    json_decref(trigger->speech.fields);
    free((char *)(uintptr_t)trigger->speech.prompt.data);
    free((char *)(uintptr_t)trigger->speech.handle.data);
    free(trigger->url);
    free(trigger);
}
