/* SPDX-License-Identifier: Apache-2.0 */
/* wakegate redeliver: has a running gateway deliver a wake of its journal once more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/cli/admin_client.h"
#include "gateway/cli/cli.h"
#include "gateway/cli/options.h"
#include "gateway/core/wake.h"

enum { TARGET_BYTES = 1024 };

struct order {
    struct admin_client client;
    const char *id, *route, *target;
    bool force, json;
};

static bool read_options(int argc, char **argv, struct order *order)
{
    const struct option_row rows[] = {
        {.name = "--config", .values = &order->client.config},
        {.name = "--url", .values = &order->client.url},
        {.name = "--token-file", .values = &order->client.token_file},
        {.name = "--token-env", .values = &order->client.token_env},
        {.values = &order->id},
        {.name = "--route", .values = &order->route},
        {.name = "--target", .values = &order->target},
        {.name = "--force", .flag = &order->force},
        {.name = "--json", .flag = &order->json},
    };

    if (!options_read(argc, argv, rows, sizeof(rows) / sizeof(rows[0])))
        return false;
    if (order->id && wake_is_delivery_id(slice_from(order->id)))
        return true;
    fprintf(stderr, "wakegate redeliver: %s\n",
            order->id ? "the id must be letters, digits, '-' and '_'" : "an id is needed");
    return false;
}

static void tell(const struct order *order, unsigned status, const json_t *answer)
{
    static const char *const forcible[] = {"in_flight", "held", "resting", "paced"};
    const char *word = json_string_value(json_object_get(answer, "status"));
    const char *code = json_string_value(json_object_get(answer, "code"));
    const char *run = json_string_value(json_object_get(answer, "run"));
    json_int_t generation = json_integer_value(json_object_get(answer, "generation"));

    if (status == 200) {
        printf("%s: %s", order->id, word ? word : "");
        if (generation > 0)
            printf(", generation %lld", (long long)generation);
        printf("%s%s\n", run ? ", run " : "", run ? run : "");
        return;
    }
    admin_client_complain(&order->client, status, answer);
    for (size_t i = 0; code && !order->force && i < sizeof(forcible) / sizeof(forcible[0]); i++)
        if (strcmp(code, forcible[i]) == 0)
            fprintf(stderr, "--force delivers it all the same; the agent may then run twice.\n");
}

static int ask_for(const struct order *order, struct slice target)
{
    struct err err = {""};
    unsigned status = 0;
    json_t *answer = admin_client_ask(&order->client, "POST", target, &status, &err);

    if (!answer) {
        fprintf(stderr, "wakegate redeliver: %s\n", err.text);
        return CLI_FAILED;
    }
    if (order->json) {
        char *text = json_dumps(answer, JSON_COMPACT | JSON_ENSURE_ASCII);
        puts(text);
        free(text);
    } else {
        tell(order, status, answer);
    }
    json_decref(answer);
    return status == 200 ? CLI_OK : CLI_FAILED;
}

int cli_redeliver(int argc, char **argv)
{
    struct order order = {.client.command = "redeliver"};
    struct buf target = BUF_INIT(TARGET_BYTES);
    int status = CLI_USAGE;

    if (!read_options(argc, argv, &order))
        return CLI_USAGE;
    buf_appendf(&target, "/admin/deliveries/%s/redeliver?force=%s", order.id,
                order.force ? "true" : "false");
    if (admin_client_add(&order.client, &target, "route", order.route) &&
        admin_client_add(&order.client, &target, "target", order.target))
        status =
            admin_client_open(&order.client) ? ask_for(&order, buf_slice(&target)) : CLI_FAILED;
    admin_client_close(&order.client);
    buf_release(&target);
    return status;
}
