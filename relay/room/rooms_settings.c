/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/room/rooms_settings.h"

#include <stdlib.h>
#include <string.h>

#define SECONDS(n) (INT64_C(1000) * (n))
#define MINUTES(n) SECONDS(INT64_C(60) * (n))
#define DAYS(n)    MINUTES(INT64_C(24) * 60 * (n))

enum {
    THREADS_MAX = 1000,
    ORIGINS_MAX = 64,
    PATH_BYTES = 200,
    KILO = 1024,
    MEGA = 1024 * 1024,
    PAYLOAD_BYTES = 1000000, /* the default of other servers of the protocol */
    ACKS_PENDING = 64
};

/* Keys whose new values a reload brings into force. */
static const char *const reload_keys[] = {"tokens", "anonymous", "threads", "rooms_per_client",
                                          "messages_per_second"};

static char *read_path(struct settings *settings)
{
    struct slice path = settings_string(settings, "path", "/socket.io/");
    bool good = path.len <= PATH_BYTES && slice_starts(path, SLICE("/")) &&
                slice_ends(path, SLICE("/")) && slice_is_visible(path);

    for (size_t i = 0; good && i < path.len; i++)
        good = !strchr("?#%", path.data[i]);
    if (!good || path.len < 2)
        settings_mistake(settings, "path",
                         "must begin and end with \"/\"; write for example \"/socket.io/\"");
    else if (slice_starts(path, SLICE("/wake/")))
        settings_mistake(settings, "path", "stands among the routes; write another one");
    return mem_text(path);
}

static bool is_origin(struct slice origin, struct err *err)
{
    if (slice_eq(origin, SLICE("*")) || slice_eq(origin, SLICE("null")))
        return true;
    bool web = slice_starts(origin, SLICE("https://")) || slice_starts(origin, SLICE("http://"));
    if (web && slice_is_visible(origin) && !slice_ends(origin, SLICE("/")))
        return true;
    return err_set(err, "is no origin; write for example \"https://app.example.com\", or \"*\"");
}

static void read_socketio(struct settings *settings, struct rooms_settings *rooms)
{
    struct engine_settings *engine = &rooms->socketio.engine;

    engine->ping_interval_ms =
        settings_duration(settings, "ping_interval", SECONDS(25), SECONDS(1), MINUTES(5));
    engine->ping_timeout_ms =
        settings_duration(settings, "ping_timeout", SECONDS(20), SECONDS(1), MINUTES(5));
    engine->upgrade_timeout_ms =
        settings_duration(settings, "upgrade_timeout", SECONDS(10), SECONDS(1), MINUTES(5));
    engine->max_payload =
        (size_t)settings_number(settings, "max_payload", PAYLOAD_BYTES, KILO, 16 * MEGA);
    engine->queue_bytes =
        (size_t)settings_number(settings, "max_queue", 4 * MEGA, 64 * KILO, 256 * MEGA);
    engine->sessions = (unsigned)settings_number(settings, "max_clients", 10000, 1, 1000000);
    engine->origins = (const char *const *)rooms->origins.list;
    rooms->socketio.connect_timeout_ms =
        settings_duration(settings, "connect_timeout", SECONDS(45), SECONDS(1), MINUTES(5));
    rooms->socketio.acks_pending = ACKS_PENDING;
}

static void read_limits(struct settings *settings, struct rooms_settings *rooms)
{
    rooms->rooms_per_client =
        (unsigned)settings_number(settings, "rooms_per_client", 32, 1, THREADS_MAX);
    rooms->messages_per_second =
        (unsigned)settings_number(settings, "messages_per_second", 20, 1, 10000);
    rooms->history.kept = (unsigned)settings_number(settings, "kept", 1000, 50, 100000);
    rooms->history.kept_ms =
        settings_duration(settings, "kept_for", DAYS(7), MINUTES(1), DAYS(366));
}

struct rooms_settings *rooms_settings_read(struct settings *parent, int64_t window_ms)
{
    char path[SETTINGS_PATH_SIZE];
    struct settings settings;
    json_t *object = settings_object(parent, "rooms");

    if (!object)
        return NULL;
    struct rooms_settings *rooms = mem_new(sizeof(*rooms));
    settings_path(parent, "rooms", path);
    settings_begin(&settings, parent->report, path, object);
    rooms->object = json_incref(object);
    rooms->path = read_path(&settings);
    names_read(&settings, "threads", THREADS_MAX, names_is_thread, &rooms->threads);
    names_read(&settings, "origins", ORIGINS_MAX, is_origin, &rooms->origins);
    credentials_read(&settings, &rooms->credentials);
    read_socketio(&settings, rooms);
    read_limits(&settings, rooms);
    rooms->history.window_ms = window_ms;
    settings_end(&settings);
    return rooms;
}

void rooms_settings_free(struct rooms_settings *settings)
{
    if (!settings)
        return;
    free(settings->path);
    credentials_release(&settings->credentials);
    names_release(&settings->origins);
    names_release(&settings->threads);
    json_decref(settings->object);
    free(settings);
}

static json_t *fixed_part(const struct rooms_settings *settings)
{
    json_t *part = json_copy(settings->object);

    for (size_t i = 0; i < sizeof(reload_keys) / sizeof(reload_keys[0]); i++)
        json_object_del(part, reload_keys[i]);
    return part;
}

bool rooms_settings_need_restart(const struct rooms_settings *running,
                                 const struct rooms_settings *fresh)
{
    if (!running || !fresh)
        return running != fresh;
    json_t *old = fixed_part(running), *new = fixed_part(fresh);
    bool same = json_equal(old, new);
    json_decref(old);
    json_decref(new);
    return !same;
}
