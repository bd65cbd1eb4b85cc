/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening goes from the bottom up: loop, store, HTTP clients, rooms, config, listeners. Ending goes
 * through stages, each begun by the one before:
 *
 *   leaving     SIGTERM: /readyz says no, so that nobody sends new wakes here; all works as before
 *   stopping    after `drain`: listeners close, relays that were not sent are released
 *   cut short   after `grace`: what was sent and is still unanswered is held
 *   closing     no relay is left: the last answers go out
 *   closed      everything closes, and the loop ends
 */
#include "gateway/gateway.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "gateway/config_report.h"
#include "gateway/config_watch.h"
#include "gateway/core/deadline.h"
#include "gateway/core/metrics.h"
#include "gateway/fronts.h"
#include "gateway/notify.h"
#include "relay/http_client.h"

enum { SIGNALS = 4 };

enum stage {
    STAGE_SERVING,
    STAGE_LEAVING,
    STAGE_STOPPING,
    STAGE_CUT_SHORT,
    STAGE_CLOSING,
    STAGE_CLOSED
};

struct gateway {
    enum stage stage;
    const char *config_path;
    struct config *config;
    struct config_watch watch;
    uv_loop_t loop;
    struct turn turn;
    struct world world;
    struct relays relays;
    struct intake intake;
    struct ops ops;
    struct admin pages;
    struct fronts fronts;
    struct notify notify;
    uv_signal_t signals[SIGNALS];
    struct deadline deadline; /* of the stage */
    unsigned parts;           /* not closed yet, of this step of closing */
    void (*next_step)(struct gateway *gateway);
};

/* --- opening --- */

/* The store has answered, so that an orderly start refuses nobody; or it does not, and that can be
 * asked for. */
static void accept_all(void *context)
{
    struct gateway *gateway = context;

    if (gateway->stage >= STAGE_STOPPING)
        return;
    fronts_accept(&gateway->fronts);
}

static bool open_world(struct gateway *gateway)
{
    const struct config *config = gateway->config;
    struct err err = {0};

    gateway->world = (struct world){.loop = &gateway->loop, .turn = &gateway->turn};
    if (!store_open(slice_from(config->store), config->window_ms, &gateway->turn,
                    &gateway->world.store, &err)) {
        log_note(LOG_ERROR, "cannot_open_store", "%s", err.text);
        return false;
    }
    gateway->world.journal =
        journal_open(gateway->world.store, &config->admin_api.journal, &gateway->turn);
    gateway->world.http = http_client_open(&gateway->turn, false, config->ca_file);
    gateway->world.private_http = http_client_open(&gateway->turn, true, config->ca_file);
    gateway->world.texts =
        texts_open(&config->texts, &gateway->turn, gateway->world.store,
                   config->texts.private_too ? gateway->world.private_http : gateway->world.http);
    if (!config->rooms)
        return true;
    gateway->world.rooms = rooms_open(config->rooms, &gateway->turn, gateway->world.store, &err);
    if (!gateway->world.rooms)
        log_note(LOG_ERROR, "cannot_open_rooms", "%s", err.text);
    return gateway->world.rooms != NULL;
}

/* Reads the config and, once there is a world, its routes. NULL after a mistake; the report is
 * printed. */
static struct config *read_config(struct gateway *gateway, bool first)
{
    struct settings_report report;

    settings_report_init(&report, gateway->config_path);
    struct config *config = config_read(&report, environ);
    bool usable = config && report.mistake_count == 0;
    if (usable && first) {
        gateway->config = config;
        usable = open_world(gateway);
    }
    if (usable || (config && !first))
        config_open_routes(config, &gateway->world, &report);
    else if (config)
        config_open_routes(config, NULL, &report); /* to find the mistakes there, too */
    usable = usable && report.mistake_count == 0;
    config_report_log(&report);
    if (usable ? config->watch : gateway->config && gateway->config->watch)
        config_watch_follow(&gateway->watch, buf_slice(&report.files));
    else
        config_watch_follow(&gateway->watch, SLICE(""));
    settings_report_release(&report);
    if (usable)
        return config;
    config_free(config);
    return NULL;
}

/* --- while it runs --- */

static void load_again(struct gateway *gateway)
{
    struct buf keys = BUF_INIT(1024);
    struct config *fresh = read_config(gateway, false);

    ++*metrics_value(METRIC_RELOADS, fresh ? "ok" : "failed", NULL, NULL);
    if (!fresh) {
        log_note(LOG_ERROR, "reload_failed", "the config has mistakes; the old one stays in force");
        return;
    }
    if (config_needs_restart(gateway->config, fresh, &keys))
        log_note(LOG_WARN, "reload", "only a restart brings these into force: %s", buf_text(&keys));
    buf_release(&keys);
    if (gateway->world.rooms)
        rooms_reload(gateway->world.rooms, fresh->rooms);
    front_renew(gateway->fronts.front, fresh->front.certificate);
    config_free(gateway->config);
    gateway->config = fresh;
    gateway->intake.config = fresh;
    gateway->relays.limit = fresh->max_in_flight;
    log_set_level(fresh->log_level);
    log_begin(LOG_INFO, "reloaded");
    log_num("routes", (int64_t)fresh->route_count);
    log_end();
}

static void reload(struct gateway *gateway)
{
    notify_reloading(&gateway->notify);
    load_again(gateway);
    notify_ready(&gateway->notify);
}

static void on_files_changed(struct config_watch *watch)
{
    struct gateway *gateway = CONTAINER_OF(watch, struct gateway, watch);

    if (gateway->stage == STAGE_SERVING)
        reload(gateway);
}

/* --- ending --- */

static void begin_stage(struct gateway *gateway, enum stage stage);

static void on_deadline(struct deadline *deadline)
{
    struct gateway *gateway = CONTAINER_OF(deadline, struct gateway, deadline);

    begin_stage(gateway, gateway->stage + 1);
}

static void on_emptied(struct relays *relays)
{
    struct gateway *gateway = CONTAINER_OF(relays, struct gateway, relays);

    if (gateway->stage < STAGE_CLOSING)
        begin_stage(gateway, STAGE_CLOSING);
}

/* Closing goes from what uses to what is used; each step begins when all parts of the one before
 * are closed. */
static void part_closed(void *context)
{
    struct gateway *gateway = context;

    if (--gateway->parts == 0)
        gateway->next_step(gateway);
}

static void close_loop(struct gateway *gateway)
{
    config_free(gateway->config);
    config_watch_close(&gateway->watch);
    /* A handle that is closed gives its signal back, and the next one would end the process. */
    for (size_t i = 0; i < SIGNALS; i++)
        uv_unref((uv_handle_t *)&gateway->signals[i]);
    deadline_close(&gateway->deadline, NULL);
    notify_close(&gateway->notify);
    turn_close(&gateway->turn);
}

static void close_world(struct gateway *gateway)
{
    gateway->parts = 3;
    gateway->next_step = close_loop;
    store_close(gateway->world.store, part_closed, gateway);
    http_client_close(gateway->world.http, part_closed, gateway);
    http_client_close(gateway->world.private_http, part_closed, gateway);
}

static void close_journal(struct gateway *gateway)
{
    gateway->parts = 1;
    gateway->next_step = close_world;
    journal_close(gateway->world.journal, part_closed, gateway);
}

static void close_listeners(struct gateway *gateway)
{
    gateway->parts = 3;
    gateway->next_step = close_journal;
    texts_close(gateway->world.texts, part_closed, gateway);
    ops_close(&gateway->ops, part_closed, gateway); /* answers whoever still waits */
    fronts_close(&gateway->fronts, part_closed, gateway);
}

static void close_pages(struct gateway *gateway)
{
    gateway->parts = 1;
    gateway->next_step = close_listeners;
    admin_close(&gateway->pages, part_closed, gateway);
}

/* The engine of the rooms has connections of the front, so its clients go first. */
static void rooms_closed(void *context)
{
    struct gateway *gateway = context;

    gateway->fronts.router.rooms = NULL;
    close_pages(gateway);
}

static void close_rooms(struct gateway *gateway)
{
    if (gateway->world.rooms)
        rooms_close(gateway->world.rooms, rooms_closed, gateway);
    else
        close_pages(gateway);
}

static void begin_stage(struct gateway *gateway, enum stage stage)
{
    gateway->stage = stage;
    switch (stage) {
    case STAGE_SERVING:
        return;
    case STAGE_LEAVING:
        log_note(LOG_INFO, "leaving", "ready is false; stopping in %lld ms",
                 (long long)gateway->config->drain_ms);
        notify_stopping(&gateway->notify,
                        (uint64_t)(gateway->config->drain_ms + gateway->config->grace_ms));
        gateway->ops.draining = true;
        deadline_set(&gateway->deadline, (uint64_t)gateway->config->drain_ms);
        return;
    case STAGE_STOPPING:
        log_note(LOG_INFO, "stopping", "%u relays in flight", gateway->relays.count);
        deadline_set(&gateway->deadline, (uint64_t)gateway->config->grace_ms);
        fronts_drain(&gateway->fronts);
        relays_drain(&gateway->relays); /* on_emptied, perhaps at once */
        return;
    case STAGE_CUT_SHORT: /* it ends with the last relay, not by time */
        deadline_clear(&gateway->deadline);
        log_note(LOG_WARN, "cut_short", "%u relays are unanswered; what was sent is held",
                 gateway->relays.count);
        relays_cut_short(&gateway->relays);
        return;
    case STAGE_CLOSING:
        /* The last answers are still to be written, which the end of this turn does. */
        deadline_set(&gateway->deadline, 0);
        return;
    case STAGE_CLOSED:
        close_rooms(gateway);
        return;
    }
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct gateway *gateway = signal->data;

    switch (number) {
    case SIGHUP:
        if (gateway->stage == STAGE_SERVING)
            reload(gateway);
        return;
    case SIGUSR1:
        relays_log(&gateway->relays);
        return;
    default: /* a second one shortens the waiting */
        if (gateway->stage < STAGE_CUT_SHORT)
            begin_stage(gateway, gateway->stage + 1);
        return;
    }
}

static void watch_signals(struct gateway *gateway)
{
    static const int numbers[SIGNALS] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};

    for (size_t i = 0; i < SIGNALS; i++) {
        uv_signal_init(&gateway->loop, &gateway->signals[i]);
        gateway->signals[i].data = gateway;
        uv_signal_start(&gateway->signals[i], on_signal, numbers[i]);
    }
}

static bool start(struct gateway *gateway)
{
    config_watch_open(&gateway->watch, &gateway->loop, on_files_changed);
    watch_signals(gateway); /* one that comes meanwhile is looked at when all stands */
    gateway->config = read_config(gateway, true);
    if (!gateway->config)
        return false;
    log_open(gateway->config->log_level, &gateway->turn);
    notify_open(&gateway->notify, &gateway->loop);
    relays_open(&gateway->relays, &gateway->world, gateway->config->max_in_flight);
    gateway->relays.emptied = on_emptied;
    gateway->intake = (struct intake){.config = gateway->config, .relays = &gateway->relays};
    gateway->pages = (struct admin){.intake = &gateway->intake, .journal = gateway->world.journal};
    ops_open(&gateway->ops, &gateway->turn, gateway->world.store);
    metrics_value(METRIC_RELOADS, "ok", NULL, NULL); /* there before the first, as alerts need it */
    metrics_value(METRIC_RELOADS, "failed", NULL, NULL);
    const struct router served = {.intake = &gateway->intake,
                                  .ops = &gateway->ops,
                                  .rooms = gateway->world.rooms,
                                  .admin = &gateway->pages};
    if (!fronts_open(&gateway->fronts, gateway->config, &served, &gateway->turn))
        return false;
    ops_await_store(&gateway->ops, accept_all, gateway);
    return true;
}

int gateway_run(const char *config_path)
{
    static struct gateway all; /* until the process ends, and so do its signals and its loop */
    struct gateway *gateway = &all;

    gateway->config_path = config_path;
    uv_loop_init(&gateway->loop);
    turn_open(&gateway->turn, &gateway->loop);
    deadline_open(&gateway->deadline, &gateway->loop, on_deadline);
    if (!start(gateway)) { /* nothing was begun that would have to end in order */
        log_close();
        exit(EXIT_FAILURE);
    }
    notify_ready(&gateway->notify);
    uv_run(&gateway->loop, UV_RUN_DEFAULT);
    log_note(LOG_INFO, "stopped", "all relays are over");
    log_close();
    metrics_free();
    return EXIT_SUCCESS;
}
