/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/cli/admin_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/config.h"

enum { ANSWER_BYTES = 4 * 1024 * 1024, TIMEOUT_S = 75 };

static bool complain(const struct admin_client *client, const char *text)
{
    fprintf(stderr, "wakegate %s: %s\n", client->command, text);
    return false;
}

static void keep_token(struct admin_client *client, const struct secret *secret)
{
    client->token = mem_text(secret->text);
}

static bool read_token(struct admin_client *client)
{
    struct settings_report report;
    struct secret secret;
    char who[32];
    bool file = client->token_file != NULL;
    json_t *value = file ? json_pack("{s:s}", "file", client->token_file)
                         : json_pack("{s:s}", "env", client->token_env);

    snprintf(who, sizeof(who), "wakegate %s", client->command);
    settings_report_init(&report, who);
    bool ok = settings_secret_value(&report, file ? "--token-file" : "--token-env", value, &secret);
    if (ok) {
        keep_token(client, &secret);
        secret_release(&secret);
    } else {
        fputs(buf_text(&report.mistakes), stderr);
    }
    settings_report_release(&report);
    json_decref(value);
    return ok;
}

/* Where a client on this machine finds the listener. */
static bool find_listener(struct admin_client *client, const struct config *config)
{
    struct slice text = config->admin.len > 0 ? config->admin : config->front.listen[0];
    union address address;
    struct err err;

    if (!address_parse(text, &address, &err))
        return false;
    address_url(&address, client->address);
    client->url = client->address;
    return true;
}

static bool read_config(struct admin_client *client)
{
    struct settings_report report;

    settings_report_init(&report, client->config ? client->config : config_path());
    struct config *config = config_read(&report, environ);
    bool found = config && find_listener(client, config);
    const struct keyring *tokens = config ? &config->admin_api.tokens : NULL;
    if (found && !client->token && tokens->count > 0)
        keep_token(client, &tokens->secrets[0]);
    fputs(buf_text(&report.mistakes), stderr);
    config_free(config);
    settings_report_release(&report);
    return found || complain(client, "the config does not say where the gateway listens; use "
                                     "--url, such as http://127.0.0.1:8080 or unix:/path");
}

bool admin_client_open(struct admin_client *client)
{
    struct err err = {""};

    if (client->token_file && client->token_env)
        return complain(client, "--token-file and --token-env are two tokens; leave one out");
    if ((client->token_file || client->token_env) && !read_token(client))
        return false;
    if (!client->url && !read_config(client))
        return false;
    if (ask_read_url(client->url, &client->place, &err))
        return true;
    fprintf(stderr, "wakegate %s: --url: %s\n", client->command, err.text);
    return false;
}

void admin_client_close(struct admin_client *client)
{
    if (client->token)
        digest_wipe(client->token, strlen(client->token));
    free(client->token);
    client->token = NULL;
}

bool admin_client_add(const struct admin_client *client, struct buf *target, const char *name,
                      const char *value)
{
    if (!value)
        return true;
    if (!wake_is_delivery_id(slice_from(value))) {
        fprintf(stderr, "wakegate %s: --%s must be letters, digits, '-' and '_'\n", client->command,
                name);
        return false;
    }
    buf_appendf(target, "&%s=%s", name, value);
    return true;
}

json_t *admin_client_ask(const struct admin_client *client, const char *method, struct slice target,
                         unsigned *status, struct err *err)
{
    struct buf body = BUF_INIT(ANSWER_BYTES);
    const struct ask_question question = {
        .method = method, .target = target, .token = slice_from(client->token)};
    json_t *answer = NULL;

    if (ask(&client->place, &question, TIMEOUT_S, status, &body, err)) {
        answer = json_loadb(buf_text(&body), body.len, 0, NULL);
        if (!answer)
            err_set(err, "answered %u, and no JSON; is it a wakegate?", *status);
    }
    buf_release(&body);
    if (!answer)
        err_wrap(err, "%s", client->url);
    return answer;
}

void admin_client_complain(const struct admin_client *client, unsigned status, const json_t *answer)
{
    const char *code = json_string_value(json_object_get(answer, "code"));
    const char *message = json_string_value(json_object_get(answer, "message"));
    const char *hint = "";

    if (status == 401)
        hint = " Use --token-file or --token-env.";
    else if (code && strcmp(code, "unknown_route") == 0)
        hint = " The admin API is served where \"admin_token\" is set, or where \"admin\" is a "
               "unix socket.";
    fprintf(stderr, "wakegate %s: %s answered %u %s: %s%s\n", client->command, client->url, status,
            code ? code : "", message ? message : "", hint);
}
