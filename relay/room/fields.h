/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields: strict checks of one JSON object from a client, field by field, from a table.
 *
 * A key that is not in the table, a missing field and a wrong value are errors whose text begins
 * with the field's path ("clientTools[2].name: ..."). Nothing is kept and nothing is changed.
 */
#ifndef WAKEGATE_RELAY_ROOM_FIELDS_H
#define WAKEGATE_RELAY_ROOM_FIELDS_H

#include <jansson.h>

#include "gateway/core/err.h"
#include "gateway/core/slice.h"

enum { FIELDS_PATH_SIZE = 96, FIELDS_ID_UNITS = 256 };

struct field {
    const char *name;
    bool required;
    /* Is the value right? `path` names it in the error. */
    bool (*check)(json_t *value, const char *path, struct err *err);
};

/* `path` of the object itself; "" at the top. `fields` ends with a NULL name. */
bool fields_check(json_t *object, const char *path, const struct field *fields, struct err *err);
/* An array of at most `most` objects, each checked as above. */
bool fields_check_list(json_t *array, const char *path, size_t most, const struct field *fields,
                       struct err *err);

/* Checks for a table: any value, a string of any length, an identifier (1 to FIELDS_ID_UNITS,
 * without a NUL). */
bool field_any(json_t *value, const char *path, struct err *err);
bool field_string(json_t *value, const char *path, struct err *err);
bool field_id(json_t *value, const char *path, struct err *err);
bool field_object(json_t *value, const char *path, struct err *err);
/* One of `names` (NULL-terminated). */
bool field_choice(json_t *value, const char *path, const char *const *names, struct err *err);

/* The string at `key`, borrowed; empty when it is absent or no string. */
struct slice field_text(const json_t *object, const char *key);

/* The length of well-formed UTF-8 as JavaScript counts it: in UTF-16 code units. */
size_t utf16_length(struct slice text);

#endif
