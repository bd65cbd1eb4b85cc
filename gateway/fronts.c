/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/fronts.h"

#include <sys/stat.h>

static bool open_front(const struct front_settings *settings, struct router *router,
                       struct turn *turn, struct front **front)
{
    struct http_handlers handlers = router_handlers(router);
    struct err err = {0};

    if (front_open(settings, turn, &handlers, front, &err))
        return true;
    log_note(LOG_ERROR, "cannot_listen", "%s", err.text);
    return false;
}

bool fronts_open(struct fronts *fronts, const struct config *config, const struct router *served,
                 struct turn *turn)
{
    struct front_settings front = config->front;
    bool apart = config->admin.len > 0;

    *fronts = (struct fronts){.router = *served};
    fronts->router.metrics = !apart;
    front.held_back = true;
    if (apart)
        fronts->router.admin = NULL;
    if (!open_front(&front, &fronts->router, turn, &fronts->front))
        return false;
    if (!apart)
        return true;
    fronts->admin_router = (struct router){.ops = served->ops,
                                           .metrics = true,
                                           .admin = served->admin,
                                           .trusted = slice_starts(config->admin, SLICE("unix:"))};
    front.listen[0] = config->admin;
    front.listen_count = 1;
    mode_t mask = umask(0177); /* a unix socket is its owner's alone, since it asks for no token */
    bool opened = open_front(&front, &fronts->admin_router, turn, &fronts->admin);
    umask(mask);
    return opened;
}

static void accept_at(struct front *front, const char *event)
{
    front_accept(front);
    for (size_t i = 0; i < front_listener_count(front); i++) {
        log_begin(LOG_INFO, event);
        log_text("url", front_address(front, i));
        log_end();
    }
}

void fronts_accept(struct fronts *fronts)
{
    if (fronts->admin)
        accept_at(fronts->admin, "listening_admin");
    accept_at(fronts->front, "listening");
}

void fronts_drain(struct fronts *fronts)
{
    front_drain(fronts->front);
}

static void front_closed(void *context)
{
    struct fronts *fronts = context;

    if (--fronts->parts == 0)
        fronts->closed(fronts->context);
}

void fronts_close(struct fronts *fronts, void (*closed)(void *context), void *context)
{
    fronts->parts = fronts->admin ? 2 : 1;
    fronts->closed = closed;
    fronts->context = context;
    front_close(fronts->front, front_closed, fronts);
    if (fronts->admin)
        front_close(fronts->admin, front_closed, fronts);
}
