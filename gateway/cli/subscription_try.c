/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test: has AgentChat send a test wake, and tells what became of it. AgentChat knows only what it
 * was answered; what the target did is read off the counters of the gateways, before and after, so
 * a real wake that comes at the same moment is counted too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gateway/cli/cli.h"
#include "gateway/cli/subscription.h"

#define DEFAULT_GATEWAY "http://127.0.0.1:8080"

enum { TIMEOUT_MS = 5000, URL_BYTES = 4096, SHOWN_BYTES = 600, LOOKS = 40, LOOK_MS = 250 };

static const char *const families[] = {"wakegate_wakes_total{", "wakegate_proofs_total{",
                                       "wakegate_deliveries_total{"};

struct counters {
    json_t *values;  /* series -> sum over the gateways */
    unsigned silent; /* gateways that gave none */
};

/* One line of Prometheus' text; those of the route are added. */
static void add_line(struct counters *counters, struct slice line, struct slice label)
{
    bool wanted = memmem(line.data, line.len, label.data, label.len) != NULL;
    const char *space = memrchr(line.data, ' ', line.len);
    uint64_t value;

    for (size_t i = 0; wanted && space && i < sizeof(families) / sizeof(families[0]); i++) {
        size_t len = (size_t)(space - line.data);
        if (!slice_starts(line, slice_from(families[i])) ||
            !slice_number(slice_from_at(line, len + 1), &value))
            continue;
        char *name = mem_text(slice_first(line, len));
        json_int_t sum = json_integer_value(json_object_get(counters->values, name));
        json_object_set_new(counters->values, name, json_integer(sum + (json_int_t)value));
        free(name);
    }
}

static void add_gateway(const struct subscription *subscription, const char *gateway,
                        struct slice label, struct counters *counters)
{
    struct buf url = BUF_INIT(URL_BYTES);
    struct slice line, lines;

    buf_appendf(&url, "%s/metrics", gateway);
    struct http_call call = {.url = buf_text(&url), .method = "GET", .timeout_ms = TIMEOUT_MS};
    fetch(&subscription->from, &call);
    lines = buf_slice(&call.answer);
    if (call.result != HTTP_ANSWERED || call.status != 200)
        counters->silent++;
    else
        while (slice_cut(lines, '\n', &line, &lines))
            add_line(counters, line, label);
    buf_release(&call.answer);
    buf_release(&url);
}

static struct counters read_counters(const struct subscription *subscription)
{
    struct counters counters = {.values = json_object()};
    struct buf label = BUF_INIT(URL_BYTES);

    buf_appendf(&label, "route=\"%s\"", subscription->route->name);
    for (size_t i = 0; i < subscription->gateway_count; i++)
        add_gateway(subscription, subscription->gateways[i], buf_slice(&label), &counters);
    buf_release(&label);
    return counters;
}

/* What is more than before, of the series that begin with `family`. */
static unsigned count_news(const json_t *before, const json_t *after, const char *family,
                           const char *word)
{
    unsigned news = 0;
    const char *name;
    json_t *value;

    json_object_foreach ((json_t *)(uintptr_t)after, name, value) {
        json_int_t old = json_integer_value(json_object_get(before, name));
        bool counts = strncmp(name, family, strlen(family)) == 0 && strstr(name, word);
        news += counts && json_integer_value(value) > old;
    }
    return news;
}

static void print_news(const struct subscription *subscription, const json_t *before,
                       const json_t *after)
{
    char shown[SHOWN_BYTES];
    const char *name;
    json_t *value;

    json_object_foreach ((json_t *)(uintptr_t)after, name, value) {
        json_int_t more =
            json_integer_value(value) - json_integer_value(json_object_get(before, name));
        if (more <= 0)
            continue;
        api_conceal(&subscription->api, &subscription->route->keyring.secrets[0], name,
                    strlen(name), shown, sizeof(shown));
        printf("  %s +%lld\n", shown, (long long)more);
    }
}

/* What the counters mean. true: a wake was taken. */
static bool judge(const json_t *before, const json_t *after)
{
    bool taken = count_news(before, after, families[0], "code=\"relayed\"") ||
                 count_news(before, after, families[0], "code=\"tested\"");
    bool wrong = count_news(before, after, families[1], "result=\"") &&
                 !count_news(before, after, families[1], "result=\"ok\"");

    if (taken)
        printf(
            "the target has taken the wake, or the route answers tests itself (code \"tested\")\n");
    else if (wrong)
        printf("the gateway does not take AgentChat's proof: the secret or the dialect is another; "
               "`wakegate subscription set` registers the config's\n");
    else if (count_news(before, after, families[0], "code=\"") > 0)
        printf("the wake came, and was not taken: the code says why, README.md what it means\n");
    else
        printf("no wake came to these gateways: is the registered URL right, and does it lead to "
               "them? `wakegate subscription show` tells it\n");
    return taken;
}

/* Waits until the gateways have answered a wake. */
static bool tell_outcome(const struct subscription *subscription, const struct counters *before)
{
    struct counters after = read_counters(subscription);

    for (int i = 0; i < LOOKS && !count_news(before->values, after.values, families[0], ""); i++) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
        json_decref(after.values);
        after = read_counters(subscription);
    }
    print_news(subscription, before->values, after.values);
    bool taken = judge(before->values, after.values);
    json_decref(after.values);
    return taken;
}

static void print_answer(const struct subscription *subscription, const json_t *answer)
{
    char *dump = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
    char shown[SHOWN_BYTES] = "";

    if (dump)
        api_conceal(&subscription->api, &subscription->route->keyring.secrets[0], dump,
                    strlen(dump), shown, sizeof(shown));
    printf("%s: AgentChat was asked for a test wake%s%s\n", subscription->route->name,
           shown[0] ? " and says " : "", shown);
    fflush(stdout);
    free(dump);
}

int subscription_try(struct subscription *subscription)
{
    const struct api_request request = {.method = "POST", .path = WEBHOOK_PATH "/test"};
    json_t *answer;

    if (subscription->gateway_count == 0)
        subscription->gateways[subscription->gateway_count++] = DEFAULT_GATEWAY;
    struct counters before = read_counters(subscription);
    bool good = api_ask(&subscription->api, &request, &answer);
    if (good)
        print_answer(subscription, answer);
    if (good && before.silent > 0)
        printf("not every gateway shows its /metrics at %s%s; name each with --gateway (its admin "
               "address, where it has one) to be told what became of the wake\n",
               subscription->gateways[0], subscription->gateway_count > 1 ? ", ..." : "");
    else if (good)
        good = tell_outcome(subscription, &before);
    json_decref(answer);
    json_decref(before.values);
    return good ? CLI_OK : CLI_FAILED;
}
