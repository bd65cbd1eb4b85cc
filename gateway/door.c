/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/door.h"

#include "gateway/record.h"

struct page {
    const char *path;
    void (*show)(struct ops *ops, struct exchange *exchange);
    bool metrics;
};

static const struct page pages[] = {
    {"/livez", ops_livez, false},
    {"/readyz", ops_readyz, false},
    {"/metrics", ops_metrics, true},
};

static const struct page *page_at(const struct door *door, struct slice path)
{
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
        if (slice_eq(path, slice_from(pages[i].path)) && (door->metrics || !pages[i].metrics))
            return &pages[i];
    return NULL;
}

static bool is_wake(const struct door *door, struct slice path, struct slice *route_name)
{
    return door->intake && intake_is_path(path, route_name);
}

static void on_head(void *context, struct exchange *exchange)
{
    struct door *door = context;
    struct slice route_name;

    if (is_wake(door, exchange->path, &route_name)) {
        intake_head(door->intake, exchange, route_name);
        return;
    }
    if (!page_at(door, exchange->path)) {
        record_and_refuse(exchange, NULL, ANSWER_UNKNOWN_ROUTE, "", NULL);
        return;
    }
    bool reads =
        slice_eq(exchange->method, SLICE("GET")) || slice_eq(exchange->method, SLICE("HEAD"));
    if (!reads)
        answer_method(exchange, "GET, HEAD");
}

static void on_request(void *context, struct exchange *exchange)
{
    struct door *door = context;
    struct slice route_name;

    if (is_wake(door, exchange->path, &route_name))
        intake_begin(door->intake, exchange, route_name);
    else
        page_at(door, exchange->path)->show(door->ops, exchange);
}

static void on_fault(void *context, struct exchange *exchange, enum http_fault fault)
{
    struct door *door = context;
    const struct route *route = NULL;
    struct slice route_name;

    if (is_wake(door, exchange->path, &route_name))
        route = config_route(door->intake->config, route_name);
    record_and_refuse(exchange, route, answer_for_fault(fault), "", NULL);
}

struct http_handlers door_handlers(struct door *door)
{
    return (struct http_handlers){
        .head = on_head, .request = on_request, .fault = on_fault, .context = door};
}
