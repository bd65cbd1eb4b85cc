/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings_read: the typed reads of a settings cursor. Each says what stands there, what must stand
 * there, and gives an example that would do.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gateway/core/limits.h"
#include "gateway/core/nearest.h"
#include "gateway/core/settings.h"

enum { DURATION_TEXT = 32, SHOWN_BYTES = 40, LIST_BYTES = 512 };

struct unit {
    const char *name;
    int64_t ms;
};

static const struct unit units[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

enum { UNITS = sizeof(units) / sizeof(units[0]) };

static json_t *find(struct settings *settings, const char *key)
{
    return settings_has(settings, key) ? json_object_get(settings->object, key) : NULL;
}

const char *settings_kind_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "a number";
    case JSON_REAL:
        return "a fraction";
    case JSON_NULL:
        return "null";
    default:
        return "true or false";
    }
}

static struct slice string_of(const json_t *value)
{
    return (struct slice){.data = json_string_value(value), .len = json_string_length(value)};
}

struct slice settings_string(struct settings *settings, const char *key, const char *fallback)
{
    const json_t *value = find(settings, key);

    if (!value)
        return slice_from(fallback);
    if (!json_is_string(value)) {
        settings_mistake(settings, key, "is %s, must be a string; write it in double quotes",
                         settings_kind_of(value));
        return slice_from(fallback);
    }
    return string_of(value);
}

struct slice settings_required_string(struct settings *settings, const char *key)
{
    if (!settings_has(settings, key)) {
        settings_mistake(settings, key, "is missing; add it");
        return (struct slice){0};
    }
    struct slice text = settings_string(settings, key, NULL);
    if (json_is_string(find(settings, key)) && text.len == 0)
        settings_mistake(settings, key, "is empty; write something there");
    return text;
}

bool settings_is_name(struct slice text)
{
    if (text.len == 0 || text.len > LIMIT_NAME_BYTES)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_')
            return false;
    }
    return true;
}

struct slice settings_name(struct settings *settings, const char *key)
{
    struct slice text = settings_string(settings, key, NULL);

    if (!json_is_string(find(settings, key)) || settings_is_name(text))
        return text;
    settings_mistake(settings, key, "is not a name; write 1 to %d letters, digits, \"-\" and \"_\"",
                     LIMIT_NAME_BYTES);
    return (struct slice){0};
}

/* Every variable's value is a text, so of one it is told what stands there. */
static const char *shown_number(const struct settings *settings, const char *key,
                                const json_t *value, char shown[static SHOWN_BYTES + 3])
{
    if (!json_is_string(value) || !json_object_get(settings->variables, key))
        return settings_kind_of(value);
    snprintf(shown, SHOWN_BYTES + 3, "\"%.*s\"", SHOWN_BYTES, json_string_value(value));
    return shown;
}

int64_t settings_number(struct settings *settings, const char *key, int64_t fallback, int64_t least,
                        int64_t most)
{
    const json_t *value = find(settings, key);
    int64_t example = fallback < least || fallback > most ? least : fallback;

    if (!value)
        return fallback;
    if (!json_is_integer(value)) {
        char shown[SHOWN_BYTES + 3];
        settings_mistake(settings, key,
                         "is %s, must be a whole number from %" PRId64 " to %" PRId64
                         "; write for example %" PRId64,
                         shown_number(settings, key, value, shown), least, most, example);
        return fallback;
    }
    int64_t number = json_integer_value(value);
    if (number < least || number > most) {
        settings_mistake(settings, key,
                         "is %" PRId64 ", must be from %" PRId64 " to %" PRId64
                         "; write for example %" PRId64,
                         number, least, most, example);
        return fallback;
    }
    return number;
}

bool settings_bool(struct settings *settings, const char *key, bool fallback)
{
    const json_t *value = find(settings, key);

    if (!value)
        return fallback;
    if (!json_is_boolean(value)) {
        settings_mistake(settings, key, "is %s, must be true or false; write it without quotes",
                         settings_kind_of(value));
        return fallback;
    }
    return json_is_true(value);
}

bool settings_parse_duration(struct slice text, int64_t *ms)
{
    size_t digits = 0;
    uint64_t number;

    while (digits < text.len && text.data[digits] >= '0' && text.data[digits] <= '9')
        digits++;
    if (!slice_number(slice_first(text, digits), &number))
        return false;
    struct slice unit = slice_from_at(text, digits);
    if (number == 0 && unit.len == 0) {
        *ms = 0;
        return true;
    }
    for (size_t i = 0; i < UNITS; i++) {
        if (!slice_eq(unit, slice_from(units[i].name)))
            continue;
        if (number > (uint64_t)(INT64_MAX / units[i].ms))
            return false;
        *ms = (int64_t)number * units[i].ms;
        return true;
    }
    return false;
}

static bool parse_duration(const json_t *value, int64_t *ms)
{
    if (json_is_integer(value) && json_integer_value(value) == 0) {
        *ms = 0;
        return true;
    }
    return settings_parse_duration(string_of(value), ms);
}

/* In the largest unit that divides it, so "48h" comes back as "2d". */
static void format_duration(int64_t ms, char text[static DURATION_TEXT])
{
    size_t i = 0;

    while (ms % units[i].ms != 0)
        i++;
    snprintf(text, DURATION_TEXT, "%" PRId64 "%s", ms / units[i].ms, ms == 0 ? "s" : units[i].name);
}

int64_t settings_duration(struct settings *settings, const char *key, int64_t fallback_ms,
                          int64_t least_ms, int64_t most_ms)
{
    const json_t *value = find(settings, key);
    char least[DURATION_TEXT], most[DURATION_TEXT], example[DURATION_TEXT];
    int64_t ms = 0;

    if (!value)
        return fallback_ms;
    format_duration(least_ms, least);
    format_duration(most_ms, most);
    bool in_range = fallback_ms >= least_ms && fallback_ms <= most_ms;
    format_duration(in_range ? fallback_ms : least_ms, example);
    if (!parse_duration(value, &ms)) {
        settings_mistake(settings, key,
                         "is not a duration from %s to %s; write for example \"%s\" (units: ms, s, "
                         "m, h, d)",
                         least, most, example);
        return fallback_ms;
    }
    if (ms < least_ms || ms > most_ms) {
        settings_mistake(settings, key, "must be from %s to %s; write for example \"%s\"", least,
                         most, example);
        return fallback_ms;
    }
    return ms;
}

static void list_names(const char *const *names, char *text, size_t size)
{
    size_t len = 0;

    for (size_t i = 0; names[i] && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%s\"%s\"", i > 0 ? ", " : "", names[i]);
}

void settings_not_one_of(struct settings *settings, const char *key, const char *verb,
                         struct slice text, const char *const *names)
{
    char all[LIST_BYTES] = "";
    size_t count = 0;

    while (names[count])
        count++;
    const char *meant = nearest(text, names, count);
    list_names(names, all, sizeof(all));
    if (meant)
        settings_mistake(settings, key, "%s \"%.*s\"; did you mean \"%s\"?", verb,
                         SLICE_ARG(slice_first(text, SHOWN_BYTES)), meant);
    else
        settings_mistake(settings, key, "%s \"%.*s\"; write one of %s", verb,
                         SLICE_ARG(slice_first(text, SHOWN_BYTES)), all);
}

size_t settings_choice(struct settings *settings, const char *key, const char *const *names,
                       size_t fallback)
{
    const json_t *value = find(settings, key);
    struct slice text = string_of(value);
    char all[LIST_BYTES] = "";

    if (!value)
        return fallback;
    if (!json_is_string(value)) {
        list_names(names, all, sizeof(all));
        settings_mistake(settings, key, "is %s; write one of %s", settings_kind_of(value), all);
        return fallback;
    }
    for (size_t i = 0; names[i]; i++)
        if (slice_eq(text, slice_from(names[i])))
            return i;
    settings_not_one_of(settings, key, "is", text, names);
    return fallback;
}

size_t settings_required_choice(struct settings *settings, const char *key,
                                const char *const *names)
{
    char all[LIST_BYTES] = "";
    size_t count = 0;

    while (names[count])
        count++;
    if (settings_has(settings, key))
        return settings_choice(settings, key, names, count);
    list_names(names, all, sizeof(all));
    settings_mistake(settings, key, "is missing; write one of %s", all);
    return count;
}

json_t *settings_object(struct settings *settings, const char *key)
{
    json_t *value = find(settings, key);

    if (!value || json_is_object(value))
        return value;
    settings_mistake(settings, key, "is %s, must be an object; write it in { }",
                     settings_kind_of(value));
    return NULL;
}

json_t *settings_array(struct settings *settings, const char *key)
{
    json_t *value = find(settings, key);

    if (!value || json_is_array(value))
        return value;
    settings_mistake(settings, key, "is %s, must be an array; write it in [ ]",
                     settings_kind_of(value));
    return NULL;
}
