/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakegate deliveries: what the journal of a running gateway has, as a table or as lines of JSON,
 * page by page; and, to follow, asked for again every second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gateway/cli/admin_client.h"
#include "gateway/cli/cli.h"
#include "gateway/cli/options.h"
#include "gateway/core/clock.h"
#include "gateway/core/settings.h"

#define DAY_MS INT64_C(86400000)

enum { TARGET_BYTES = 2048, PAUSE_S = 1, POSITION_BYTES = 64 };

struct view {
    struct admin_client client;
    const char *route, *target, *outcome, *id, *since;
    bool json, follow;

    struct buf question; /* without the position */
    char next[POSITION_BYTES + 1];
    bool begun; /* an answer came before */
};

static bool read_options(int argc, char **argv, struct view *view)
{
    const struct option_row rows[] = {
        {.name = "--config", .values = &view->client.config},
        {.name = "--url", .values = &view->client.url},
        {.name = "--token-file", .values = &view->client.token_file},
        {.name = "--token-env", .values = &view->client.token_env},
        {.name = "--route", .values = &view->route},
        {.name = "--target", .values = &view->target},
        {.name = "--outcome", .values = &view->outcome},
        {.name = "--id", .values = &view->id},
        {.name = "--since", .values = &view->since},
        {.name = "--follow", .flag = &view->follow},
        {.name = "--json", .flag = &view->json},
    };

    return options_read(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}

/* "2h" is two hours ago; a time is that time; absent: a day ago. */
static bool read_since(const struct view *view, char since[static CLOCK_ISO_SIZE])
{
    int64_t ago_ms = DAY_MS, at_ms = clock_wall_ms();

    if (view->since && clock_parse_iso(slice_from(view->since), &at_ms))
        ago_ms = 0;
    else if (view->since && !settings_parse_duration(slice_from(view->since), &ago_ms)) {
        fprintf(stderr,
                "wakegate deliveries: --since is neither a duration like 2h nor a time like "
                "2026-11-12T09:00:00Z\n");
        return false;
    }
    clock_format_iso(at_ms > ago_ms ? at_ms - ago_ms : 0, since);
    return true;
}

static bool make_question(struct view *view)
{
    const struct admin_client *client = &view->client;
    char since[CLOCK_ISO_SIZE];

    if (!read_since(view, since))
        return false;
    buf_appendf(&view->question, "/admin/deliveries?limit=500&since=%s", since);
    return admin_client_add(client, &view->question, "route", view->route) &&
           admin_client_add(client, &view->question, "target", view->target) &&
           admin_client_add(client, &view->question, "outcome", view->outcome) &&
           admin_client_add(client, &view->question, "id", view->id);
}

/* --- printing --- */

static const char *text_of(const json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));

    return text && slice_is_utf8(slice_from(text)) ? text : "";
}

/* What a terminal would take for more than text is left out. */
static void print_text(const char *text)
{
    for (; *text; text++)
        putchar(*text >= ' ' && *text <= '~' ? *text : '?');
}

static void print_row(const json_t *line)
{
    json_int_t us = json_integer_value(json_object_get(line, "us"));
    json_int_t generation = json_integer_value(json_object_get(line, "generation"));
    char where[160], again[32] = "";
    const char *run = text_of(line, "run");

    snprintf(where, sizeof(where), "%s/%s", text_of(line, "route"), text_of(line, "target"));
    if (generation > 0)
        snprintf(again, sizeof(again), " again=%lld", (long long)generation);
    printf("%-24s  %-11s  %6lld ms  %-24s  %-36s%s  ", text_of(line, "at"),
           text_of(line, "outcome"), (long long)(us / 1000), where, text_of(line, "delivery_id"),
           again);
    print_text(run[0] ? run : text_of(line, "detail"));
    putchar('\n');
}

static void print_json(const json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII);

    puts(text);
    free(text);
}

/* --- asking --- */

/* Prints one page. false: it is no page. */
static bool take_page(struct view *view, const json_t *page, bool *more)
{
    const json_t *list = json_object_get(page, "deliveries"), *line;
    const char *next = text_of(page, "next");
    size_t i;

    if (!json_is_array(list) || next[0] == '\0' || slice_from(next).len > POSITION_BYTES)
        return false;
    if (!view->begun && !view->json)
        printf("%-24s  %-11s  %9s  %-24s  %-36s  %s\n", "AT", "OUTCOME", "TOOK", "ROUTE/TARGET",
               "DELIVERY ID", "RUN OR DETAIL");
    view->begun = true;
    json_array_foreach (list, i, line) {
        if (view->json)
            print_json(line);
        else
            print_row(line);
    }
    fflush(stdout);
    snprintf(view->next, sizeof(view->next), "%s", next);
    *more = json_is_true(json_object_get(page, "more"));
    return true;
}

/* One question. false: told why, and there is nothing to go on with. */
static bool ask_page(struct view *view, bool *more)
{
    struct buf target = BUF_INIT(TARGET_BYTES);
    struct err err = {""};
    unsigned status = 0;

    buf_append(&target, buf_slice(&view->question));
    if (view->next[0])
        buf_appendf(&target, "&after=%s", view->next);
    json_t *answer = admin_client_ask(&view->client, "GET", buf_slice(&target), &status, &err);
    buf_release(&target);
    *more = false;
    bool taken = status == 200 && take_page(view, answer, more);
    bool later = view->follow && view->begun && (!answer || status == 503);
    if (!answer)
        fprintf(stderr, "wakegate deliveries: %s\n", err.text);
    else if (!taken)
        admin_client_complain(&view->client, status, answer);
    json_decref(answer);
    return taken || later;
}

static int show(struct view *view)
{
    bool more = true;

    while (more || view->follow) {
        if (!ask_page(view, &more))
            return CLI_FAILED;
        if (!more && view->follow)
            sleep(PAUSE_S);
    }
    return CLI_OK;
}

int cli_deliveries(int argc, char **argv)
{
    struct view view = {.client.command = "deliveries", .question = BUF_INIT(TARGET_BYTES)};
    int status = CLI_USAGE;

    if (!read_options(argc, argv, &view))
        return CLI_USAGE;
    if (make_question(&view))
        status = admin_client_open(&view.client) ? show(&view) : CLI_FAILED;
    admin_client_close(&view.client);
    buf_release(&view.question);
    return status;
}
