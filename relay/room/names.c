/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/room/names.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/limits.h"

static void read_one(struct settings *settings, const char *key, const json_t *value,
                     bool (*check)(struct slice name, struct err *err), struct names *names)
{
    struct slice name = {.data = json_string_value(value), .len = json_string_length(value)};
    struct err err;

    if (!json_is_string(value))
        settings_mistake(settings, key, "must hold strings alone; write each in double quotes");
    else if (!check(name, &err))
        settings_mistake(settings, key, "\"%.*s\": %s", SLICE_ARG(slice_first(name, 80)), err.text);
    else
        names->list[names->count++] = mem_text(name);
}

void names_read(struct settings *settings, const char *key, size_t most,
                bool (*check)(struct slice name, struct err *err), struct names *names)
{
    json_t *array = settings_array(settings, key);
    size_t count = json_array_size(array);

    *names = (struct names){0};
    if (!array)
        return;
    if (count > most) {
        settings_mistake(settings, key, "has %zu; write at most %zu", count, most);
        count = most;
    }
    names->list = mem_new((count + 1) * sizeof(char *));
    for (size_t i = 0; i < count; i++)
        read_one(settings, key, json_array_get(array, i), check, names);
}

void names_release(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
    *names = (struct names){0};
}

bool names_have(const struct names *names, struct slice name)
{
    for (size_t i = 0; i < names->count; i++)
        if (slice_eq(slice_from(names->list[i]), name))
            return true;
    return false;
}

static bool is_thread_text(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && (c == '\0' || !strchr("-_.:/@", c)))
            return false;
    }
    return text.len <= LIMIT_NAME_BYTES;
}

bool names_is_thread(struct slice name, struct err *err)
{
    if (name.len > 0 && is_thread_text(name))
        return true;
    return err_set(err, "is no thread's name; write 1 to %d letters, digits and \"-_.:/@\"",
                   LIMIT_NAME_BYTES);
}

bool names_is_pattern(struct slice name, struct err *err)
{
    if (slice_ends(name, SLICE("*")) && is_thread_text(slice_first(name, name.len - 1)))
        return true;
    return names_is_thread(name, err) ||
           err_set(err, "is neither a thread's name nor the beginning of some with \"*\" after it");
}

bool names_pattern_fits(struct slice pattern, struct slice thread)
{
    if (slice_ends(pattern, SLICE("*")))
        return slice_starts(thread, slice_first(pattern, pattern.len - 1));
    return slice_eq(pattern, thread);
}
