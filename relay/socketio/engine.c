/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/socketio/engine.h"

#include <assert.h>
#include <stdlib.h>

#include "relay/socketio/engine_link.h"
#include "relay/socketio/engine_polling.h"
#include "relay/socketio/engine_probe.h"

enum { LOOK_MS = 1000, END_MS = 30000, TENTATIVE_MS = 3600000, BUCKETS_MOST = 65536 };

static void set_due(struct engine *engine, enum engine_due what, int64_t ms,
                    void (*late)(struct due *due))
{
    assert(ms > 0);
    engine->dues.lists[what] = (struct due_list){.ms = (uint64_t)ms, .late = late};
}

/* ---- the end ---- */

static void on_ended(struct op *op)
{
    struct engine *engine = CONTAINER_OF(op, struct engine, ended);
    void (*done)(void *context) = engine->done;
    void *context = engine->done_context;

    cors_release(&engine->cors);
    engine_message_drop(engine->ping);
    free(engine->buckets);
    free(engine);
    done(context);
}

static void on_dues_closed(struct deadline *deadline)
{
    struct engine *engine = CONTAINER_OF(deadline, struct engine, dues.timer);

    op_finish(&engine->ended, engine->turn);
}

static void on_sockets_closed(struct poll_set *sockets)
{
    struct engine *engine = CONTAINER_OF(sockets, struct engine, sockets);

    dues_close(&engine->dues, on_dues_closed);
}

static void step(struct turn_step *step)
{
    struct engine *engine = CONTAINER_OF(step, struct engine, step);

    sessions_step(engine);
    links_free_closed(engine);
    if (!engine->closing || engine->links > 0)
        return;
    turn_remove_step(engine->turn, step);
    poll_set_close(&engine->sockets, on_sockets_closed);
}

void engine_close(struct engine *engine, void (*done)(void *context), void *context)
{
    op_begin(&engine->ended, on_ended);
    engine->done = done;
    engine->done_context = context;
    engine->closing = true;
    for (size_t i = 0; i < engine->bucket_count; i++)
        while (engine->buckets[i].first)
            session_over(engine->buckets[i].first, "server close");
    turn_want(&engine->step);
}

/* ---- the beginning ---- */

static size_t buckets_for(unsigned sessions)
{
    size_t count = 1;

    while (count < sessions && count < BUCKETS_MOST)
        count *= 2;
    return count;
}

struct engine *engine_open(struct turn *turn, const struct engine_settings *settings,
                           const struct engine_events *events, void *context)
{
    struct engine *engine = mem_new(sizeof(*engine));

    *engine = (struct engine){.turn = turn,
                              .settings = *settings,
                              .events = *events,
                              .context = context,
                              .bucket_count = buckets_for(settings->sessions),
                              .step = {.run = step},
                              .ping = engine_message_packet(ENGINE_PING, (struct slice){0})};
    engine->settings.origins = NULL; /* cors has its own copy */
    engine->buckets = mem_new(engine->bucket_count * sizeof(*engine->buckets));
    cors_init(&engine->cors, settings->origins);
    dues_open(&engine->dues, turn->loop);
    poll_set_open(&engine->sockets, turn->loop, link_on_ready);
    set_due(engine, DUE_PING, settings->ping_interval_ms, session_on_due_ping);
    set_due(engine, DUE_PONG, settings->ping_timeout_ms, session_on_due_pong);
    set_due(engine, DUE_UPGRADE, settings->upgrade_timeout_ms, probe_on_due);
    set_due(engine, DUE_END, END_MS, session_on_due_end);
    set_due(engine, DUE_LOOK, LOOK_MS, polling_on_due_look);
    set_due(engine, DUE_TENTATIVE, TENTATIVE_MS, session_on_due_tentative);
    turn_add_early_step(turn, &engine->step);
    return engine;
}

unsigned engine_session_count(const struct engine *engine)
{
    return engine->sessions;
}
