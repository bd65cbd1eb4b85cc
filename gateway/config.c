/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config: the top-level keys, their defaults and their ranges; the routes are read by route.c, and
 * what a secret shared by two of them gives away is told here, where all of them are known.
 */
#include "gateway/config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/core/clock.h"
#include "gateway/core/digest.h"
#include "gateway/core/limits.h"
#include "gateway/net/address.h"
#include "gateway/net/tls.h"
#include "gateway/public_url.h"
#include "gateway/shared_secrets.h"
#include "gateway/store/store_address.h"
#include "gateway/tls_settings.h"
#include "gateway/variables.h"

#define SECONDS(n) (INT64_C(1000) * (n))
#define MINUTES(n) SECONDS(INT64_C(60) * (n))
#define HOURS(n)   MINUTES(INT64_C(60) * (n))

enum { LEAST_BODY = 1024, MOST_BODY = 1024 * 1024, LEAST_WINDOW_HOURS = 24 + 3 };
enum { LEAST_BODY_MEMORY = 1024 * 1024, MOST_BODY_MEMORY = 1024 * 1024 * 1024 };

/* Read once, when the process starts: the sockets, the store and the clients are made of them. */
static const char *const restart_keys[] = {
    "listen",      "tls",          "admin",        "journal",         "store",
    "window",      "ca_file",      "proxies",      "max_connections", "connections_per_address",
    "body_memory", "head_timeout", "body_timeout", "idle_timeout",    "agentchat"};

/* A string, or an array of them; each is checked. */
struct list {
    const char *key;
    struct slice *items;
    size_t max;
    bool (*check)(struct slice item, struct err *err);
};

static size_t add_item(struct settings *settings, const struct list *list, size_t count,
                       const json_t *value)
{
    struct slice item = {.data = json_string_value(value), .len = json_string_length(value)};
    struct err err;

    if (!json_is_string(value)) {
        settings_mistake(settings, list->key,
                         "must hold strings alone; write each in double quotes");
        return count;
    }
    if (count == list->max) {
        settings_mistake(settings, list->key, "has too many; write at most %zu", list->max);
        return count;
    }
    if (!list->check(item, &err)) {
        settings_mistake(settings, list->key, "\"%.*s\": %s", SLICE_ARG(slice_first(item, 80)),
                         err.text);
        return count;
    }
    list->items[count] = item;
    return count + 1;
}

static size_t read_list(struct settings *settings, const struct list *list)
{
    size_t index, count = 0;
    json_t *item;

    if (!settings_has(settings, list->key))
        return 0;
    json_t *value = json_object_get(settings->object, list->key);
    if (json_is_string(value))
        return add_item(settings, list, 0, value);
    if (!json_is_array(value)) {
        settings_mistake(settings, list->key, "is %s, must be a string or an array of strings",
                         settings_kind_of(value));
        return 0;
    }
    json_array_foreach (value, index, item)
        count = add_item(settings, list, count, item);
    return count;
}

static void read_listen(struct settings *settings, struct front_settings *front)
{
    const struct list listen = {"listen", front->listen, FRONT_LISTENERS, front_check_address};

    front->listen_count = read_list(settings, &listen);
    if (!settings_has(settings, "listen"))
        front->listen[front->listen_count++] = SLICE("[::]:8080");
    else if (json_array_size(json_object_get(settings->object, "listen")) == 0 &&
             json_is_array(json_object_get(settings->object, "listen")))
        settings_mistake(settings, "listen", "is empty; write for example \"[::]:8080\"");
}

static void read_front(struct settings *settings, struct front_settings *front)
{
    const struct list proxies = {"proxies", front->proxies, FRONT_PROXIES, front_check_proxy};

    read_listen(settings, front);
    front->certificate = tls_settings_read(settings, clock_wall_ms() / 1000);
    front->proxy_count = read_list(settings, &proxies);
    front->connections = (unsigned)settings_number(settings, "max_connections", 10000, 1, 1000000);
    front->connections_per_address =
        (unsigned)settings_number(settings, "connections_per_address", 256, 1, 1000000);
    front->body_memory = (size_t)settings_number(settings, "body_memory", LIMIT_BODY_MEMORY,
                                                 LEAST_BODY_MEMORY, MOST_BODY_MEMORY);
    front->head_ms =
        settings_duration(settings, "head_timeout", SECONDS(10), SECONDS(1), MINUTES(2));
    front->body_ms =
        settings_duration(settings, "body_timeout", SECONDS(5), SECONDS(1), MINUTES(2));
    front->idle_ms = settings_duration(settings, "idle_timeout", SECONDS(75), SECONDS(1), HOURS(1));
}

static struct slice read_admin(struct settings *settings)
{
    struct slice admin = settings_string(settings, "admin", "");
    struct err err;

    if (admin.len > 0 && !front_check_address(admin, &err))
        settings_mistake(settings, "admin", "\"%.*s\": %s", SLICE_ARG(slice_first(admin, 80)),
                         err.text);
    return admin;
}

static struct slice read_public_url(struct settings *settings)
{
    struct slice url = settings_string(settings, "public_url", "");
    struct err err;

    if (url.len > 0 && !public_url_check_base(url, &err))
        settings_mistake(settings, "public_url", "\"%.*s\": %s", SLICE_ARG(slice_first(url, 80)),
                         err.text);
    return url;
}

static bool clash(struct slice one, struct slice other)
{
    union address a, b;
    struct err err;

    return address_parse(one, &a, &err) && address_parse(other, &b, &err) && address_clash(&a, &b);
}

/* What nobody could listen on twice. */
static void check_listeners(struct settings *settings, const struct config *config)
{
    const struct front_settings *front = &config->front;

    for (size_t i = 0; i < front->listen_count; i++) {
        for (size_t j = 0; j < i; j++)
            if (clash(front->listen[i], front->listen[j]))
                settings_mistake(settings, "listen",
                                 "\"%.*s\" and \"%.*s\" take the same port; leave one out",
                                 SLICE_ARG(front->listen[j]), SLICE_ARG(front->listen[i]));
        if (clash(front->listen[i], config->admin))
            settings_mistake(settings, "admin",
                             "\"%.*s\" takes the port of \"listen\" (\"%.*s\"); give it "
                             "another, or leave it out",
                             SLICE_ARG(config->admin), SLICE_ARG(front->listen[i]));
    }
}

static char *read_store(struct settings *settings)
{
    char *store = settings_address(settings, "store", "sqlite:wakegate.db");
    struct err err;

    if (!store)
        return mem_text(SLICE("sqlite:wakegate.db"));
    if (!store_address_check(slice_from(store), &err))
        settings_mistake(settings, "store", "%s", err.text);
    return store;
}

static const char *read_ca_file(struct settings *settings)
{
    struct slice path = settings_string(settings, "ca_file", "");
    struct err err;

    if (path.len == 0)
        return NULL;
    if (access(path.data, R_OK) != 0)
        settings_mistake(settings, "ca_file", "%.*s cannot be read; check its path and permissions",
                         SLICE_ARG(slice_first(path, 200)));
    else if (!tls_check_files(&(struct tls_files){.ca_file = path.data}, &err))
        settings_mistake(settings, "ca_file",
                         "holds no certificates (%s); name a file of certificates in PEM",
                         err.text);
    return path.data;
}

static void read_process(struct settings *settings, struct config *config)
{
    config->admin = read_admin(settings);
    check_listeners(settings, config);
    config->public_url = read_public_url(settings);
    config->store = read_store(settings);
    config->ca_file = read_ca_file(settings);
    /* A cycle lives 24 hours, and its last step may come 3 hours later. */
    config->window_ms =
        settings_duration(settings, "window", HOURS(48), HOURS(LEAST_WINDOW_HOURS), HOURS(30 * 24));
    config->budget_ms = settings_duration(settings, "budget", SECONDS(8), SECONDS(1), MINUTES(1));
    config->drain_ms = settings_duration(settings, "drain", SECONDS(2), 0, MINUTES(1));
    config->grace_ms = settings_duration(settings, "grace", SECONDS(20), 0, MINUTES(10));
    config->max_body =
        (size_t)settings_number(settings, "max_body", LIMIT_BODY_BYTES, LEAST_BODY, MOST_BODY);
    config->max_in_flight =
        (unsigned)settings_number(settings, "max_in_flight", LIMIT_IN_FLIGHT, 1, 100000);
    config->watch = settings_bool(settings, "watch", false);
    config->log_level =
        (enum log_level)settings_choice(settings, "log_level", log_levels, LOG_INFO);
}

const char *config_path(void)
{
    const char *path = getenv("WAKEGATE_CONFIG");

    return path && *path ? path : "wakegate.json";
}

struct config *config_read(struct settings_report *report, char *const *environment)
{
    json_t *root = settings_load(report);
    struct settings settings;

    if (!root)
        return NULL;
    settings_begin(&settings, report, "", root);
    if (!settings.object) {
        json_decref(root);
        return NULL;
    }
    struct config *config = mem_new(sizeof(*config));
    config->root = root;
    json_t *variables = variables_apply(root, environment, report);
    settings.variables = variables;
    settings_has(&settings, "$schema"); /* for editors */
    read_front(&settings, &config->front);
    read_process(&settings, config);
    texts_settings_read(&settings, &config->texts);
    admin_settings_read(&settings, &config->admin_api);
    config->rooms = rooms_settings_read(&settings, config->window_ms);
    if (json_object_size(settings_object(&settings, "routes")) == 0)
        settings_mistake(&settings, "routes", "has no route; add one");
    settings_end(&settings);
    json_decref(variables);
    return config;
}

static int by_name(const void *a, const void *b)
{
    const struct route *const *left = a, *const *right = b;

    return strcmp((*left)->name, (*right)->name);
}

void config_open_routes(struct config *config, const struct world *world,
                        struct settings_report *report)
{
    json_t *routes = json_object_get(config->root, "routes");
    const char *name;
    json_t *value;

    config->routes = mem_new((json_object_size(routes) + 1) * sizeof(struct route *));
    json_object_foreach (routes, name, value) {
        struct settings top = {.report = report, .path = "routes"}, settings;
        char path[SETTINGS_PATH_SIZE];
        settings_path(&top, name, path);
        if (!settings_is_name(slice_from(name)))
            settings_mistake(&top, name,
                             "is no name for a route; write 1 to %d letters, digits, \"-\" and "
                             "\"_\"",
                             LIMIT_NAME_BYTES);
        settings_begin(&settings, report, path, value);
        if (!settings.object)
            continue;
        const struct route_place place = {.name = slice_from(name),
                                          .budget_ms = config->budget_ms,
                                          .rooms = config->rooms != NULL};
        config->routes[config->route_count++] = route_open(&settings, &place, world);
    }
    qsort(config->routes, config->route_count, sizeof(struct route *), by_name);
    warn_of_shared_secrets(config->routes, config->route_count, report);
}

void config_free(struct config *config)
{
    if (!config)
        return;
    for (size_t i = 0; i < config->route_count; i++)
        route_drop(config->routes[i]);
    free(config->routes);
    rooms_settings_free(config->rooms);
    texts_settings_release(&config->texts);
    admin_settings_release(&config->admin_api);
    certificate_drop(config->front.certificate);
    digest_wipe(config->store, strlen(config->store));
    free(config->store);
    json_decref(config->root);
    free(config);
}

struct route *config_route(const struct config *config, struct slice name)
{
    size_t low = 0, high = name.len > 0 ? config->route_count : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct slice here = slice_from(config->routes[middle]->name);
        int order = memcmp(here.data, name.data, here.len < name.len ? here.len : name.len);
        if (order == 0 && here.len == name.len)
            return config->routes[middle];
        if (order < 0 || (order == 0 && here.len < name.len))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool config_needs_restart(const struct config *running, const struct config *fresh,
                          struct buf *keys)
{
    for (size_t i = 0; i < sizeof(restart_keys) / sizeof(restart_keys[0]); i++) {
        const char *key = restart_keys[i];
        const json_t *old = json_object_get(running->root, key);
        const json_t *new = json_object_get(fresh->root, key);
        bool same = (!old && !new) || json_equal(old, new);
        if (strcmp(key, "store") == 0)
            same = strcmp(running->store, fresh->store) == 0;
        if (strcmp(key, "tls") == 0) /* another certificate needs none */
            same = !old == !new;
        if (!same)
            buf_appendf(keys, "%s%s", keys->len > 0 ? ", " : "", key);
    }
    if (rooms_settings_need_restart(running->rooms, fresh->rooms))
        buf_appendf(keys, "%srooms", keys->len > 0 ? ", " : "");
    return keys->len > 0;
}
