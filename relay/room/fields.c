/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/room/fields.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN_KEY_BYTES = 48 };

/* What is shown of a key from outside: cut between two characters. */
static struct slice shown(struct slice key)
{
    struct slice cut = slice_first(key, SHOWN_KEY_BYTES);

    while (cut.len > 0 && cut.len < key.len && (key.data[cut.len] & 0xc0) == 0x80)
        cut.len--;
    return cut;
}

static bool is_known(const struct field *fields, const char *key)
{
    for (size_t i = 0; fields[i].name; i++)
        if (strcmp(fields[i].name, key) == 0)
            return true;
    return false;
}

bool fields_check(json_t *object, const char *path, const struct field *fields, struct err *err)
{
    const char *dot = *path ? "." : "", *key;
    char inner[FIELDS_PATH_SIZE];
    json_t *value;

    if (!json_is_object(object))
        return err_set(err, "%s%sis not an object", path, *path ? ": " : "the payload ");
    json_object_foreach (object, key, value) {
        if (!is_known(fields, key))
            return err_set(err, "%s%s%.*s: is not a known field", path, dot,
                           SLICE_ARG(shown(slice_from(key))));
    }
    for (size_t i = 0; fields[i].name; i++) {
        value = json_object_get(object, fields[i].name);
        snprintf(inner, sizeof(inner), "%s%s%s", path, dot, fields[i].name);
        if (!value && fields[i].required)
            return err_set(err, "%s: is missing", inner);
        if (value && !fields[i].check(value, inner, err))
            return false;
    }
    return true;
}

bool fields_check_list(json_t *array, const char *path, size_t most, const struct field *fields,
                       struct err *err)
{
    char inner[FIELDS_PATH_SIZE];

    if (!json_is_array(array))
        return err_set(err, "%s: is not an array", path);
    if (json_array_size(array) > most)
        return err_set(err, "%s: has more than %zu items", path, most);
    for (size_t i = 0; i < json_array_size(array); i++) {
        snprintf(inner, sizeof(inner), "%s[%zu]", path, i);
        if (!fields_check(json_array_get(array, i), inner, fields, err))
            return false;
    }
    return true;
}

bool field_any(json_t *value, const char *path, struct err *err)
{
    (void)value;
    (void)path;
    (void)err;
    return true;
}

bool field_string(json_t *value, const char *path, struct err *err)
{
    return json_is_string(value) || err_set(err, "%s: is not a string", path);
}

bool field_id(json_t *value, const char *path, struct err *err)
{
    if (!field_string(value, path, err))
        return false;
    size_t units = utf16_length(
        (struct slice){.data = json_string_value(value), .len = json_string_length(value)});
    if (units == 0)
        return err_set(err, "%s: is empty", path);
    if (strlen(json_string_value(value)) < json_string_length(value))
        return err_set(err, "%s: has a NUL", path);
    if (units > FIELDS_ID_UNITS)
        return err_set(err, "%s: has more than %d characters", path, FIELDS_ID_UNITS);
    return true;
}

bool field_object(json_t *value, const char *path, struct err *err)
{
    return json_is_object(value) || err_set(err, "%s: is not an object", path);
}

bool field_choice(json_t *value, const char *path, const char *const *names, struct err *err)
{
    char list[128] = "";
    size_t len = 0;

    if (!field_string(value, path, err))
        return false;
    for (size_t i = 0; names[i]; i++) {
        if (strcmp(json_string_value(value), names[i]) == 0)
            return json_string_length(value) == strlen(names[i]) ||
                   err_set(err, "%s: has a NUL", path);
        int more = snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", names[i]);
        len += (size_t)more < sizeof(list) - len ? (size_t)more : 0;
    }
    return err_set(err, "%s: is none of %s", path, list);
}

struct slice field_text(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return (struct slice){.data = json_string_value(value), .len = json_string_length(value)};
}

size_t utf16_length(struct slice text)
{
    size_t units = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if ((c & 0xc0) != 0x80)
            units += c >= 0xf0 ? 2 : 1;
    }
    return units;
}
