/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/room/declaration.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/codec.h"

static bool too_big(const char *path, struct err *err)
{
    return err_set(err, "%s: has more than %d bytes", path, DECLARED_ATTACHMENT_BYTES);
}

static bool check_media_type(json_t *value, const char *path, struct err *err)
{
    static const char *const types[] = {"image/png", "image/jpeg", "image/webp", "image/gif", NULL};

    return field_choice(value, path, types, err);
}

static bool check_data(json_t *value, const char *path, struct err *err)
{
    size_t len = json_string_length(value);

    if (!field_string(value, path, err))
        return false;
    if (len > BASE64_SIZE((size_t)DECLARED_ATTACHMENT_BYTES) - 1)
        return too_big(path, err);
    unsigned char *bytes = mem_new(len + 1);
    bool decoded = base64_decode((struct slice){.data = json_string_value(value), .len = len},
                                 bytes, len, &len);
    free(bytes);
    if (!decoded || len == 0)
        return err_set(err, "%s: is not base64", path);
    return len <= DECLARED_ATTACHMENT_BYTES || too_big(path, err);
}

static bool check_size(json_t *value, const char *path, struct err *err)
{
    if (!json_is_integer(value) || json_integer_value(value) < 1)
        return err_set(err, "%s: is not a number of bytes", path);
    return json_integer_value(value) <= DECLARED_ATTACHMENT_BYTES || too_big(path, err);
}

bool declaration_attachments(json_t *value, const char *path, struct err *err)
{
    static const struct field fields[] = {{"mediaType", true, check_media_type},
                                          {"data", false, check_data},
                                          {"name", false, field_id},
                                          {"size", false, check_size},
                                          {"id", false, field_id},
                                          {0}};

    return fields_check_list(value, path, DECLARED_ATTACHMENTS, fields, err);
}

static bool check_tool_name(json_t *value, const char *path, struct err *err)
{
    if (!field_string(value, path, err))
        return false;
    struct slice name = {.data = json_string_value(value), .len = json_string_length(value)};
    bool right = name.len >= 1 && name.len <= DECLARED_TOOL_NAME;
    for (size_t i = 0; right && i < name.len; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        right = letter || (c >= '0' && c <= '9') || c == '_' || c == '-';
    }
    return right || err_set(err, "%s: is not 1 to %d letters, digits, \"_\" and \"-\"", path,
                            DECLARED_TOOL_NAME);
}

static bool check_kind(json_t *value, const char *path, struct err *err)
{
    static const char *const kinds[] = {"blocking", "one-way", NULL};

    return field_choice(value, path, kinds, err);
}

/* What one tool's own fields do not say: names are unique, and a one-way tool returns nothing. */
static bool check_together(json_t *tools, const char *path, struct err *err)
{
    for (size_t i = 0; i < json_array_size(tools); i++) {
        json_t *tool = json_array_get(tools, i);
        bool one_way = slice_eq(field_text(tool, "kind"), SLICE("one-way"));
        if (one_way && json_object_get(tool, "result"))
            return err_set(err, "%s[%zu].result: a one-way tool has none", path, i);
        for (size_t j = 0; j < i; j++)
            if (slice_eq(field_text(tool, "name"), field_text(json_array_get(tools, j), "name")))
                return err_set(err, "%s[%zu].name: is that of another tool, too", path, i);
    }
    return true;
}

bool declaration_tools(json_t *value, const char *path, struct err *err)
{
    static const struct field fields[] = {
        {"name", true, check_tool_name},   {"description", true, field_string},
        {"arguments", true, field_object}, {"kind", true, check_kind},
        {"result", false, field_object},   {0}};

    return fields_check_list(value, path, DECLARED_TOOLS, fields, err) &&
           check_together(value, path, err);
}
