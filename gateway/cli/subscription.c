/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakegate subscription: registers a route's webhook at AgentChat, and what else can be done with
 * it. The config says what is wanted, so that `set` and `show` mean the same.
 *
 * The API key comes from a variable or a file, never from the command line.
 */
#include "gateway/cli/subscription.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gateway/cli/cli.h"
#include "gateway/cli/known_secret.h"
#include "gateway/cli/options.h"
#include "gateway/net/reach.h"
#include "gateway/net/url.h"
#include "gateway/public_url.h"

#define KEY_VARIABLE "AGENTCHAT_API_KEY"

enum {
    MOST_SECRET_BYTES = 256, /* contract v1, section 3.5 */
    MOST_WAIT_S = 3600,
    WAIT_S = 120,
    LINGER_S = 30,
    URL_BYTES = 4096
};

struct subscription_options {
    const char *route, *config, *url, *key_file, *api, *ca_file, *wait, *linger;
    bool rotate, private_too;
};

static bool complain(const char *what, const char *why)
{
    fprintf(stderr, "wakegate subscription: %s%s%s\n", what, *what ? ": " : "", why);
    return false;
}

static bool read_options(int argc, char **argv, struct subscription_options *options,
                         struct subscription *subscription)
{
    const bool set = strcmp(argv[1], "set") == 0;
    char *words[64];
    const struct option_row rows[] = {
        {.name = NULL, .values = &options->route},
        {.name = "--config", .values = &options->config},
        {.name = "--url", .values = &options->url},
        {.name = "--key-file", .values = &options->key_file},
        {.name = "--api", .values = &options->api},
        {.name = "--ca-file", .values = &options->ca_file},
        {.name = "--wait", .values = &options->wait},
        {.name = "--linger", .values = &options->linger},
        {.name = "--private", .flag = &options->private_too},
        {.name = "--gateway",
         .values = subscription->gateways,
         .max = SUBSCRIPTION_GATEWAYS,
         .count = &subscription->gateway_count},
        {.name = "--rotate", .flag = &options->rotate},
    };
    long long wait_s, linger_s;

    if (argc > (int)(sizeof(words) / sizeof(words[0])))
        return complain("", "there are too many words");
    memcpy(words, argv + 1, (size_t)(argc - 1) * sizeof(*words));
    words[0] = argv[0];
    if (!options_read(argc - 1, words, rows, sizeof(rows) / sizeof(rows[0]) - (set ? 0 : 1)) ||
        !options_number(argv[0], "--wait", options->wait, WAIT_S, 0, MOST_WAIT_S, &wait_s) ||
        !options_number(argv[0], "--linger", options->linger, LINGER_S, 0, MOST_WAIT_S, &linger_s))
        return false;
    subscription->wait_ms = subscription->api.patience_ms = wait_s * 1000;
    subscription->linger_ms = linger_s * 1000;
    if (!options->route)
        return complain("", "name the route of the config");
    if (options->rotate && subscription->gateway_count == 0)
        return complain("--rotate", "needs --gateway URL, once for each replica of the gateway, to "
                                    "see that all of them know the new secret");
    return true;
}

/* ---- what it works on */

static bool read_config(struct subscription *subscription, const char *path, const char *name)
{
    struct settings_report *report = &subscription->report;

    settings_report_init(report, path);
    subscription->config = config_read(report, environ);
    if (subscription->config)
        config_open_routes(subscription->config, NULL, report);
    if (report->mistake_count > 0) {
        fputs(buf_text(&report->mistakes), stderr);
        return complain(path, "correct it first");
    }
    subscription->route = config_route(subscription->config, slice_from(name));
    if (!subscription->route)
        return complain(path, "it has no route of that name");
    const json_t *routes = json_object_get(subscription->config->root, "routes");
    subscription->settings = json_object_get(routes, name);
    if (strcmp(subscription->route->dialect->name, "bearer-json") == 0)
        return complain(name, "its dialect, bearer-json, is not one that AgentChat speaks");
    return true;
}

static bool make_url(struct subscription *subscription, const char *given)
{
    struct slice base = subscription->config->public_url;
    struct err err;

    subscription->url = (struct buf)BUF_INIT(URL_BYTES);
    if (!given && base.len == 0)
        return complain("where AgentChat reaches the gateway is not known",
                        "set public_url in the config, or give --url");
    if (given)
        buf_append(&subscription->url, slice_from(given));
    else
        public_url_of(base, slice_from(subscription->route->name), &subscription->url);
    if (!public_url_check(buf_slice(&subscription->url), &err) || subscription->url.overflow)
        return complain("--url", err.text);
    return true;
}

static bool read_key(struct subscription *subscription, const char *file)
{
    struct settings_report report;
    json_t *value = json_pack("{s:s}", file ? "file" : "env", file ? file : KEY_VARIABLE);

    settings_report_init(&report, "wakegate subscription");
    bool ok = settings_secret_value(&report, file ? "--key-file" : "the API key", value,
                                    &subscription->key);
    if (!ok)
        fputs(buf_text(&report.mistakes), stderr);
    if (!ok && !file)
        complain("", "put the agent's API key into " KEY_VARIABLE " or into a --key-file");
    settings_report_release(&report);
    json_decref(value);
    return ok;
}

/* Some dialects send the secret as it is, so it does not go out to anywhere in plain http. */
static bool check_gateway(const char *url, bool private_too, struct err *err)
{
    struct url_parts parts;
    enum reach reach;

    if (!url_split(slice_from(url), &parts, err))
        return false;
    if (parts.tls || private_too)
        return true;
    if (reach_of_host(parts.host, &reach) && reach == REACH_PRIVATE)
        return true;
    return err_set(err, "is plain http, which would show a secret to others; write https:// or an "
                        "address of your own network, or add --private if the name is of one");
}

static bool open_api(struct subscription *subscription, const struct subscription_options *options)
{
    const struct texts_settings *agentchat = &subscription->config->texts;
    const char *base = options->api ? options->api : agentchat->url.data;
    bool private_too = options->private_too || (!options->api && agentchat->private_too);
    struct api *api = &subscription->api;
    struct err err;

    if (!api_check_base(base, private_too, &err))
        return complain("--api", err.text);
    for (size_t i = 0; i < subscription->gateway_count; i++)
        if (!check_gateway(subscription->gateways[i], options->private_too, &err))
            return complain("--gateway", err.text);
    if (base[strlen(base) - 1] == '/')
        return complain("--api", "ends in a slash; leave it out");
    api->base = base;
    api->key = &subscription->key;
    api->from = (struct fetch_from){.private_too = private_too, .ca_file = options->ca_file};
    subscription->from = (struct fetch_from){.private_too = true, .ca_file = options->ca_file};
    return true;
}

static void release(struct subscription *subscription)
{
    buf_release(&subscription->url);
    secret_release(&subscription->key);
    config_free(subscription->config);
    settings_report_release(&subscription->report);
}

/* ---- what the verbs share */

bool subscription_put(struct subscription *subscription, const struct secret *secret)
{
    const struct route *route = subscription->route;
    json_t *answer, *prompt = json_object_get(subscription->settings, "prompt");
    char state[64] = "";

    if (secret->text.len > MOST_SECRET_BYTES)
        return complain(route->name, "the secret is longer than the 256 characters that AgentChat "
                                     "takes; `wakegate secret` makes a good one");
    json_t *body =
        json_pack("{s:s, s:s, s:s, s:b}", "url", buf_text(&subscription->url), "secret",
                  secret->text.data, "dialect", route->dialect->name, "rewake", route->rewake);
    if (!body)
        return complain(route->name, "the secret is not UTF-8, which AgentChat cannot be told");
    if (json_string_length(prompt) > 0)
        json_object_set(body, "prompt", prompt);
    const struct api_request request = {
        .method = "PUT", .path = WEBHOOK_PATH, .body = body, .secret = secret};
    bool good = api_ask(&subscription->api, &request, &answer);
    const char *told = json_string_value(json_object_get(answer, "state"));
    if (told)
        api_conceal(&subscription->api, secret, told, strlen(told), state, sizeof(state));
    if (good)
        printf("%s: registered %s, dialect %s, rewake %s%s%s\n", route->name,
               buf_text(&subscription->url), route->dialect->name, route->rewake ? "on" : "off",
               state[0] ? "; AgentChat calls it " : "", state);
    fflush(stdout);
    json_decref(answer);
    json_decref(body);
    return good;
}

static void tell(const char *gateway, const char *what, enum knows knows, const struct err *why)
{
    if (knows == KNOWS_UNCLEAR)
        fprintf(stderr, "%s: cannot be asked (%s)\n", gateway, why->text);
    else
        fprintf(stderr, "%s: %s the %s\n", gateway, knows == KNOWS_IT ? "takes" : "does not take",
                what);
}

bool subscription_await(const struct subscription *subscription, const struct secret *secret,
                        const char *what, bool known)
{
    const enum knows wanted = known ? KNOWS_IT : KNOWS_NOT;
    int64_t left_ms = subscription->wait_ms;
    struct err why[SUBSCRIPTION_GATEWAYS] = {{""}};
    enum knows knows[SUBSCRIPTION_GATEWAYS];
    size_t right = 0;

    for (;; left_ms -= 1000) {
        right = 0;
        for (size_t i = 0; i < subscription->gateway_count; i++) {
            knows[i] = known_secret(&subscription->from, subscription->gateways[i],
                                    subscription->route, secret, &why[i]);
            right += knows[i] == wanted;
        }
        if (right == subscription->gateway_count || left_ms <= 0)
            break;
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    }
    for (size_t i = 0; i < subscription->gateway_count; i++)
        if (knows[i] != wanted)
            tell(subscription->gateways[i], what, knows[i], &why[i]);
    if (right == subscription->gateway_count && right > 0)
        printf("%zu gateway%s: %s the %s\n", right, right == 1 ? "" : "s",
               known ? "all take" : "none takes", what);
    fflush(stdout);
    return right == subscription->gateway_count;
}

/* ---- the verbs */

static int set(struct subscription *subscription)
{
    const struct secret *secret = &subscription->route->keyring.secrets[0];

    if (!subscription_await(subscription, secret, "secret that stands first", true)) {
        complain("", "nothing was registered: wakes would be refused there. Start those gateways, "
                     "or send them SIGHUP, and run the command again");
        return CLI_FAILED;
    }
    return subscription_put(subscription, secret) ? CLI_OK : CLI_FAILED;
}

static int remove_it(struct subscription *subscription)
{
    const struct api_request request = {.method = "DELETE", .path = WEBHOOK_PATH};
    json_t *answer;

    bool good = api_ask(&subscription->api, &request, &answer);
    json_decref(answer);
    if (good)
        printf("%s: the webhook is removed; AgentChat wakes the agent no more\n",
               subscription->route->name);
    return good ? CLI_OK : CLI_FAILED;
}

struct verb {
    const char *name;
    int (*run)(struct subscription *subscription);
    bool wants_url;
};

static const struct verb verbs[] = {{"set", set, true},
                                    {"show", subscription_show, true},
                                    {"test", subscription_try, false},
                                    {"remove", remove_it, false}};

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (strcmp(name, verbs[i].name) == 0)
            return &verbs[i];
    return NULL;
}

int cli_subscription(int argc, char **argv)
{
    struct subscription_options options = {.config = config_path()};
    struct subscription subscription = {.gateway_count = 0};
    const struct verb *verb = argc > 1 ? find_verb(argv[1]) : NULL;
    int status = CLI_FAILED;

    if (!verb) {
        complain("", "say what to do: set, show, test or remove");
        return CLI_USAGE;
    }
    if (!read_options(argc, argv, &options, &subscription))
        return CLI_USAGE;
    if (read_config(&subscription, options.config, options.route) &&
        (!verb->wants_url || make_url(&subscription, options.url)) &&
        open_api(&subscription, &options) && read_key(&subscription, options.key_file))
        status = options.rotate ? subscription_rotate(&subscription) : verb->run(&subscription);
    release(&subscription);
    return status;
}
