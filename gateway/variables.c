/* SPDX-License-Identifier: Apache-2.0 */
/*
 * variables: a variable's text becomes the JSON that the file would have, by the kind of its key;
 * the readers of the config see no difference, except that mistakes name the variable.
 *
 * Kubernetes puts variables into every pod that are named after services: a service called
 * "wakegate" makes WAKEGATE_PORT=tcp://10.0.0.1:8080 and half a dozen more. They get one warning in
 * all.
 *
 * PORT is what platforms say where they send requests to. It counts where nothing else says where
 * to listen.
 */
#include "gateway/variables.h"

#include <stdio.h>
#include <string.h>

#include "gateway/core/nearest.h"

enum kind { TEXT, NUMBER, TRUTH, LIST };

struct variable {
    const char *name;
    const char *key; /* NULL: read elsewhere */
    enum kind kind;
};

static const struct variable variables[] = {
    {"WAKEGATE_LISTEN", "listen", LIST},
    {"WAKEGATE_ADMIN", "admin", TEXT},
    {"WAKEGATE_JOURNAL", "journal", TRUTH},
    {"WAKEGATE_PUBLIC_URL", "public_url", TEXT},
    {"WAKEGATE_STORE", "store", TEXT},
    {"WAKEGATE_WINDOW", "window", TEXT},
    {"WAKEGATE_BUDGET", "budget", TEXT},
    {"WAKEGATE_DRAIN", "drain", TEXT},
    {"WAKEGATE_GRACE", "grace", TEXT},
    {"WAKEGATE_MAX_BODY", "max_body", NUMBER},
    {"WAKEGATE_BODY_MEMORY", "body_memory", NUMBER},
    {"WAKEGATE_MAX_IN_FLIGHT", "max_in_flight", NUMBER},
    {"WAKEGATE_MAX_CONNECTIONS", "max_connections", NUMBER},
    {"WAKEGATE_CONNECTIONS_PER_ADDRESS", "connections_per_address", NUMBER},
    {"WAKEGATE_HEAD_TIMEOUT", "head_timeout", TEXT},
    {"WAKEGATE_BODY_TIMEOUT", "body_timeout", TEXT},
    {"WAKEGATE_IDLE_TIMEOUT", "idle_timeout", TEXT},
    {"WAKEGATE_PROXIES", "proxies", LIST},
    {"WAKEGATE_WATCH", "watch", TRUTH},
    {"WAKEGATE_LOG_LEVEL", "log_level", TEXT},
    {"WAKEGATE_CA_FILE", "ca_file", TEXT},
    {"WAKEGATE_CONFIG", NULL, TEXT},
};

enum { VARIABLES = sizeof(variables) / sizeof(variables[0]), NAME_SHOWN = 80 };

struct overlay {
    json_t *root;
    json_t *set; /* key -> name */
    struct settings_report *report;
    struct slice port;      /* the variable PORT */
    const char *first_link; /* the first service link that was met */
    size_t first_link_len;
    unsigned links;
};

static json_t *string_json(struct slice text)
{
    return json_stringn(text.data ? text.data : "", text.len);
}

static json_t *list_json(struct slice text)
{
    json_t *list = json_array();
    struct slice item;
    bool more = true;

    while (more) {
        more = slice_cut(text, ',', &item, &text);
        if (json_array_append_new(list, string_json(slice_trim(item))) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* What is no number stays text, so that its reader refuses it. */
static json_t *value_json(enum kind kind, struct slice text)
{
    uint64_t number;

    if (kind == LIST)
        return list_json(text);
    if (kind == NUMBER && slice_number(text, &number) && number <= INT64_MAX)
        return json_integer((json_int_t)number);
    if (kind == TRUTH && (slice_eq(text, SLICE("true")) || slice_eq(text, SLICE("false"))))
        return json_boolean(text.data[0] == 't');
    return string_json(text);
}

static bool is_service_link(struct slice name, struct slice value)
{
    static const char *const ends[] = {"_SERVICE_HOST", "_SERVICE_PORT", "_TCP_PROTO", "_UDP_PROTO",
                                       "_TCP_PORT",     "_UDP_PORT",     "_TCP_ADDR",  "_UDP_ADDR"};

    if (slice_starts(value, SLICE("tcp://")) || slice_starts(value, SLICE("udp://")))
        return true;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (slice_ends(name, slice_from(ends[i])))
            return true;
    return memmem(name.data, name.len, "_SERVICE_PORT_", strlen("_SERVICE_PORT_")) != NULL;
}

/* Does a secret anywhere in the config come from this variable? */
static bool is_secret_source(const json_t *value, struct slice name)
{
    const char *key;
    json_t *member;
    size_t index;

    json_object_foreach ((json_t *)(uintptr_t)value, key, member) {
        bool named = strcmp(key, "env") == 0 && json_is_string(member) &&
                     slice_eq(slice_from(json_string_value(member)), name);
        if (named || is_secret_source(member, name))
            return true;
    }
    json_array_foreach (value, index, member)
        if (is_secret_source(member, name))
            return true;
    return false;
}

static void warn_unknown(struct overlay *overlay, struct slice name)
{
    const char *names[VARIABLES];

    if (is_secret_source(overlay->root, name))
        return;
    for (size_t i = 0; i < VARIABLES; i++)
        names[i] = variables[i].name;
    const char *meant = nearest(name, names, VARIABLES);
    if (meant)
        settings_report_warning(overlay->report, "",
                                "the variable %.*s is not known; did you mean %s?",
                                SLICE_ARG(slice_first(name, NAME_SHOWN)), meant);
    else
        settings_report_warning(overlay->report, "",
                                "the variable %.*s is not known; nothing reads it",
                                SLICE_ARG(slice_first(name, NAME_SHOWN)));
}

static void set_key(struct overlay *overlay, const struct variable *variable, struct slice value)
{
    if (!variable->key)
        return;
    if (json_object_set_new(overlay->root, variable->key, value_json(variable->kind, value)) != 0)
        settings_report_mistake(overlay->report, "",
                                "the variable %s is not valid UTF-8; write it in UTF-8",
                                variable->name);
    else
        json_object_set_new(overlay->set, variable->key, json_string(variable->name));
}

static void apply_one(struct overlay *overlay, struct slice name, struct slice value)
{
    if (is_service_link(name, value)) {
        if (overlay->links == 0) {
            overlay->first_link = name.data;
            overlay->first_link_len = name.len;
        }
        overlay->links++;
        return;
    }
    for (size_t i = 0; i < VARIABLES; i++) {
        if (!slice_eq(name, slice_from(variables[i].name)))
            continue;
        if (value.len > 0)
            set_key(overlay, &variables[i], value);
        return;
    }
    warn_unknown(overlay, name);
}

static void apply_port(struct overlay *overlay)
{
    char address[sizeof("[::]:65535")];
    uint64_t number;

    if (overlay->port.len == 0 || json_object_get(overlay->root, "listen"))
        return;
    if (!slice_number(overlay->port, &number) || number == 0 || number > UINT16_MAX) {
        settings_report_mistake(overlay->report, "",
                                "the variable PORT is \"%.*s\", must be a port from 1 to 65535; "
                                "correct it, or say with WAKEGATE_LISTEN where to listen",
                                SLICE_ARG(slice_first(overlay->port, NAME_SHOWN)));
        return;
    }
    snprintf(address, sizeof(address), "[::]:%u", (unsigned)number);
    json_object_set_new(overlay->root, "listen", json_string(address));
    json_object_set_new(overlay->set, "listen", json_string("PORT"));
}

json_t *variables_apply(json_t *root, char *const *environment, struct settings_report *report)
{
    struct overlay overlay = {.root = root, .set = json_object(), .report = report};

    for (size_t i = 0; environment[i]; i++) {
        struct slice name, value;
        slice_cut(slice_from(environment[i]), '=', &name, &value);
        if (slice_starts(name, SLICE("WAKEGATE_")))
            apply_one(&overlay, name, value);
        else if (slice_eq(name, SLICE("PORT")))
            overlay.port = value;
    }
    apply_port(&overlay);
    if (overlay.links > 0)
        settings_report_warning(report, "",
                                "the variable %.*s looks like a Kubernetes service link (%u such "
                                "in all) and is ignored; set enableServiceLinks: false in the pod",
                                SLICE_ARG(slice_first((struct slice){.data = overlay.first_link,
                                                                     .len = overlay.first_link_len},
                                                      NAME_SHOWN)),
                                overlay.links);
    return overlay.set;
}
