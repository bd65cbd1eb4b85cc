/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/router.h"

#include "gateway/audit.h"

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

static const struct page *page_at(const struct router *router, struct slice path)
{
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
        if (slice_eq(path, slice_from(pages[i].path)) && (router->metrics || !pages[i].metrics))
            return &pages[i];
    return NULL;
}

static bool is_wake(const struct router *router, struct slice path, struct slice *route_name)
{
    return router->intake && intake_is_path(path, route_name);
}

static void on_head(void *context, struct exchange *exchange)
{
    struct router *router = context;
    struct slice route_name;

    if (is_wake(router, exchange->path, &route_name)) {
        intake_head(router->intake, exchange, route_name);
        return;
    }
    if (!page_at(router, exchange->path)) {
        audit_refuse(exchange, &(struct finding){.code = ANSWER_UNKNOWN_ROUTE}, NULL);
        return;
    }
    bool reads =
        slice_eq(exchange->method, SLICE("GET")) || slice_eq(exchange->method, SLICE("HEAD"));
    if (!reads)
        answer_method(exchange, "GET, HEAD");
}

static void on_request(void *context, struct exchange *exchange)
{
    struct router *router = context;
    struct slice route_name;

    if (is_wake(router, exchange->path, &route_name))
        intake_begin(router->intake, exchange, route_name);
    else
        page_at(router, exchange->path)->show(router->ops, exchange);
}

static void on_fault(void *context, struct exchange *exchange, enum http_fault fault)
{
    struct router *router = context;
    const struct route *route = NULL;
    struct slice route_name;

    if (is_wake(router, exchange->path, &route_name))
        route = config_route(router->intake->config, route_name);
    const struct finding finding = {.code = answer_for_fault(fault), .route = route};
    audit_refuse(exchange, &finding, NULL);
}

struct http_handlers router_handlers(struct router *router)
{
    return (struct http_handlers){
        .head = on_head, .request = on_request, .fault = on_fault, .context = router};
}
