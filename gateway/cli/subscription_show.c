/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show: what AgentChat has of the webhook beside what the config wants. AgentChat never shows the
 * secret, and what else it does not show is said to be unknown, not right.
 */
#include <stdio.h>
#include <string.h>

#include "gateway/cli/cli.h"
#include "gateway/cli/subscription.h"

enum { SHOWN_BYTES = 300 };

struct comparison {
    const struct subscription *subscription;
    const json_t *has;
    unsigned differences;
};

static void print_value(const struct comparison *comparison, const json_t *value)
{
    char shown[SHOWN_BYTES];

    if (json_is_boolean(value)) {
        printf("%s", json_is_true(value) ? "true" : "false");
        return;
    }
    if (!json_is_string(value)) {
        printf("nothing");
        return;
    }
    api_conceal(&comparison->subscription->api, NULL, json_string_value(value),
                json_string_length(value), shown, sizeof(shown));
    printf("\"%s\"", shown);
}

/* `wanted` NULL: the config wants none. */
static void compare(struct comparison *comparison, const char *name, const json_t *wanted)
{
    const json_t *has = json_object_get(comparison->has, name);

    printf("  %s: ", name);
    if ((!has || json_is_null(has)) && wanted) {
        printf("AgentChat does not tell; the config wants ");
        print_value(comparison, wanted);
    } else if (!has || json_is_null(has)) {
        printf("none");
    } else if (wanted && json_equal(has, wanted)) {
        print_value(comparison, has);
    } else {
        printf("AgentChat has ");
        print_value(comparison, has);
        printf(", the config wants ");
        print_value(comparison, wanted);
        comparison->differences++;
    }
    printf("\n");
}

static void print_state(const struct comparison *comparison)
{
    const json_t *state = json_object_get(comparison->has, "state");

    if (!json_is_string(state))
        return;
    printf("  state: ");
    print_value(comparison, state);
    printf("\n");
}

/* The key may be another agent's: then the wakes would be refused as wrong_handle. */
static void compare_handle(struct comparison *comparison, const json_t *agent)
{
    const char *wanted = comparison->subscription->route->handle;
    const char *has = json_string_value(json_object_get(agent, "handle"));

    if (!has || !wanted[0] || strcmp(has + (has[0] == '@'), wanted + 1) == 0)
        return;
    printf("  handle: the API key is of ");
    print_value(comparison, json_object_get(agent, "handle"));
    printf(", the route wants wakes for %s\n", wanted);
    comparison->differences++;
}

static int compare_all(struct subscription *subscription, const json_t *agent)
{
    const struct route *route = subscription->route;
    struct comparison comparison = {.subscription = subscription,
                                    .has = json_object_get(agent, "wake_webhook")};
    json_t *prompt = json_object_get(subscription->settings, "prompt");

    if (!json_is_object(comparison.has)) {
        printf("%s: AgentChat has no webhook of this agent; `wakegate subscription set %s` "
               "registers it\n",
               route->name, route->name);
        return CLI_FAILED;
    }
    json_t *wanted = json_pack("{s:s, s:s, s:b}", "url", buf_text(&subscription->url), "dialect",
                               route->dialect->name, "rewake", route->rewake);
    printf("%s:\n", route->name);
    print_state(&comparison);
    compare_handle(&comparison, agent);
    compare(&comparison, "url", json_object_get(wanted, "url"));
    compare(&comparison, "dialect", json_object_get(wanted, "dialect"));
    compare(&comparison, "rewake", json_object_get(wanted, "rewake"));
    compare(&comparison, "prompt", json_string_length(prompt) > 0 ? prompt : NULL);
    printf("  secret: AgentChat never shows it; `wakegate subscription test %s` proves it\n",
           route->name);
    json_decref(wanted);
    if (comparison.differences == 0)
        return CLI_OK;
    printf("%s: differs; `wakegate subscription set %s` makes it as the config wants\n",
           route->name, route->name);
    return CLI_FAILED;
}

int subscription_show(struct subscription *subscription)
{
    const struct api_request request = {.method = "GET", .path = "/v1/agents/me"};
    json_t *agent;

    if (!api_ask(&subscription->api, &request, &agent))
        return CLI_FAILED;
    int status = compare_all(subscription, agent);
    json_decref(agent);
    return status;
}
