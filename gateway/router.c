/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/router.h"

#include "gateway/audit.h"

struct page {
    const char *path;
    void (*show)(struct ops *ops, struct exchange *exchange);
    enum { EVERYWHERE, WITH_METRICS, WITH_ROOMS } where;
};

static void show_protocol(struct ops *ops, struct exchange *exchange)
{
    (void)ops;
    rooms_answer_protocol(exchange);
}

static const struct page pages[] = {
    {"/livez", ops_livez, EVERYWHERE},        {"/readyz", ops_readyz, EVERYWHERE},
    {"/metrics", ops_metrics, WITH_METRICS},  {"/health", ops_livez, WITH_ROOMS},
    {"/protocol", show_protocol, WITH_ROOMS},
};

static bool is_here(const struct router *router, const struct page *page)
{
    switch (page->where) {
    case WITH_METRICS:
        return router->metrics;
    case WITH_ROOMS:
        return router->rooms != NULL;
    default:
        return true;
    }
}

static const struct page *page_at(const struct router *router, struct slice path)
{
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
        if (slice_eq(path, slice_from(pages[i].path)) && is_here(router, &pages[i]))
            return &pages[i];
    return NULL;
}

static bool is_wake(const struct router *router, struct slice path, struct slice *route_name)
{
    return router->intake && intake_is_path(path, route_name);
}

static bool is_admin(const struct router *router, struct slice path)
{
    return router->admin && admin_is_path(path);
}

/* The engine of the rooms whose path it is, or NULL. */
static struct engine *engine_at(const struct router *router, struct slice path)
{
    return router->rooms && rooms_is_path(router->rooms, path) ? rooms_engine(router->rooms) : NULL;
}

static void on_head(void *context, struct exchange *exchange)
{
    struct router *router = context;
    struct slice route_name;

    if (is_wake(router, exchange->path, &route_name)) {
        intake_head(router->intake, exchange, route_name);
        return;
    }
    if (engine_at(router, exchange->path)) {
        engine_head(engine_at(router, exchange->path), exchange);
        return;
    }
    if (is_admin(router, exchange->path)) {
        admin_head(router->admin, exchange, router->trusted);
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
    struct engine *engine = engine_at(router, exchange->path);
    const struct page *page = page_at(router, exchange->path);
    struct slice route_name;

    if (is_wake(router, exchange->path, &route_name))
        intake_begin(router->intake, exchange, route_name);
    else if (engine)
        engine_request(engine, exchange);
    else if (is_admin(router, exchange->path))
        admin_request(router->admin, exchange);
    else if (page)
        page->show(router->ops, exchange);
    else /* the rooms were closed while the body came */
        audit_refuse(exchange, &(struct finding){.code = ANSWER_UNKNOWN_ROUTE}, NULL);
}

static void on_fault(void *context, struct exchange *exchange, enum http_fault fault)
{
    struct router *router = context;
    const struct route *route = NULL;
    struct engine *engine = engine_at(router, exchange->path);
    struct slice route_name;

    if (engine) {
        engine_fault(engine, exchange, fault);
        return;
    }
    if (is_wake(router, exchange->path, &route_name))
        route = config_route(router->intake->config, route_name);
    const struct finding finding = {.code = answer_for_fault(fault), .route = route};
    audit_refuse(exchange, &finding, NULL);
}

static void on_gone(void *context, struct exchange *exchange)
{
    struct engine *engine = engine_at(context, exchange->path);

    if (engine)
        engine_gone(engine, exchange);
}

struct http_handlers router_handlers(struct router *router)
{
    return (struct http_handlers){.head = on_head,
                                  .request = on_request,
                                  .fault = on_fault,
                                  .gone = on_gone,
                                  .context = router};
}
