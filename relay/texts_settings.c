/* SPDX-License-Identifier: Apache-2.0 */
/* texts_settings: what the config says of AgentChat's API. */
#include "gateway/core/limits.h"
#include "relay/texts.h"

static struct slice read_url(struct settings *settings, bool private_too)
{
    struct slice url = settings_string(settings, "url", "https://api.agentchat.me");
    bool plain = slice_starts(url, SLICE("http://")), tls = slice_starts(url, SLICE("https://"));

    if ((!plain && !tls) || !slice_is_visible(url) || slice_ends(url, SLICE("/")) ||
        url.len > LIMIT_URL_BYTES)
        settings_mistake(settings, "url",
                         "is not the beginning of a URL; write for example "
                         "\"https://api.agentchat.me\", without a slash at its end");
    else if (plain && !private_too)
        settings_mistake(settings, "url",
                         "is plain http; write https://, or set \"private\": true for a server in "
                         "your own network");
    return url;
}

void texts_settings_read(struct settings *settings, struct texts_settings *texts)
{
    char path[SETTINGS_PATH_SIZE];
    struct settings own = {.report = settings->report};
    json_t *object = settings_object(settings, "agentchat");

    settings_path(settings, "agentchat", path);
    if (object)
        settings_begin(&own, settings->report, path, object);
    texts->on = settings_bool(&own, "texts", true);
    texts->private_too = settings_bool(&own, "private", false);
    texts->url = read_url(&own, texts->private_too);
    settings_secret(&own, "key", false, &texts->key);
    settings_end(&own);
}

void texts_settings_release(struct texts_settings *settings)
{
    secret_release(&settings->key);
}
