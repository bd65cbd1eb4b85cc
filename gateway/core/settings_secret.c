/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings_secret: values that do not stand in the config but in a variable or a file.
 *
 * The text passes through a buffer that is wiped. Whatever is wrong with it, messages name where it
 * came from and why, never what it is.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/limits.h"
#include "gateway/core/regular_file.h"
#include "gateway/core/settings.h"

#define FORMS "{\"env\": \"NAME\"}, {\"file\": \"/path\"} or {\"literal\": \"...\"}"

enum { TEXT_BYTES = LIMIT_URL_BYTES + 3, SOURCE_BYTES = 300 };

/* A text that was read, and where it came from, in words. */
struct found {
    char text[TEXT_BYTES]; /* a byte more than any caller takes, and a newline */
    size_t len;
    char source[SOURCE_BYTES];
};

/* Somebody may have put the secret itself where its place belongs, so what names nothing is shown
 * only when it looks like a name. */
static bool is_variable_name(const char *name)
{
    bool is_upper = name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] == '\0';

    return name[0] && is_upper && (strchr(name, '_') || !strpbrk(name, "0123456789"));
}

static bool is_path(const char *name)
{
    return name[0] == '/' || name[0] == '.';
}

static bool read_variable(struct settings_report *report, const char *path, const char *name,
                          struct found *found)
{
    const char *value = getenv(name);

    if (!value) {
        settings_report_mistake(
            report, path, "the variable%s%s is not set; set it, or name another",
            is_variable_name(name) ? " " : "", is_variable_name(name) ? name : "");
        return false;
    }
    snprintf(found->source, sizeof(found->source), "the variable %s", name);
    size_t len = strlen(value);
    found->len = len < TEXT_BYTES ? len : TEXT_BYTES;
    memcpy(found->text, value, found->len);
    return true;
}

static bool read_secret_file(struct settings_report *report, const char *path, const char *name,
                             struct found *found)
{
    FILE *stream = regular_file_open(name);
    bool whole = false;
    int why = errno;

    settings_report_file(report, name, stream);
    errno = why;
    if (stream) {
        setvbuf(stream, NULL, _IONBF, 0); /* no copy that nobody wipes */
        found->len = fread(found->text, 1, sizeof(found->text), stream);
        whole = !ferror(stream);
    }
    if (!whole)
        settings_report_mistake(
            report, path, "the file%s%s cannot be read (%s); check its path and permissions",
            is_path(name) ? " " : "", is_path(name) ? name : "", regular_file_why(errno));
    if (stream)
        fclose(stream);
    snprintf(found->source, sizeof(found->source), "the file %s", name);
    return whole;
}

static void read_literal(struct settings_report *report, const char *path, const json_t *value,
                         struct found *found)
{
    size_t len = json_string_length(value);

    settings_report_warning(report, path,
                            "the secret stands here as a literal; move it to a variable or a file "
                            "of its own: {\"env\": \"NAME\"} or {\"file\": \"/path\"}");
    snprintf(found->source, sizeof(found->source), "the literal");
    found->len = len < TEXT_BYTES ? len : TEXT_BYTES;
    memcpy(found->text, json_string_value(value), found->len);
}

static void drop_newline(struct found *found)
{
    if (found->len > 0 && found->text[found->len - 1] == '\n')
        found->len--;
    else
        return;
    if (found->len > 0 && found->text[found->len - 1] == '\r')
        found->len--;
}

/* The one key of the object and its string; NULL when it is no such object. */
static const json_t *only_member(json_t *value, const char **key)
{
    void *member = json_object_iter(value);

    if (json_object_size(value) != 1 || !json_is_string(json_object_iter_value(member)))
        return NULL;
    *key = json_object_iter_key(member);
    return json_object_iter_value(member);
}

static bool find_text(struct settings_report *report, const char *path, json_t *value,
                      struct found *found)
{
    const char *key = "";
    const json_t *name = only_member(value, &key);
    bool ok = false;

    if (name && strcmp(key, "env") == 0) {
        ok = read_variable(report, path, json_string_value(name), found);
    } else if (name && strcmp(key, "file") == 0) {
        ok = read_secret_file(report, path, json_string_value(name), found);
    } else if (name && strcmp(key, "literal") == 0) {
        read_literal(report, path, name, found);
        ok = true;
    } else if (json_is_string(value)) {
        settings_report_mistake(report, path, "is a bare string; say where the secret is: " FORMS);
    } else if (json_is_object(value)) {
        settings_report_mistake(report, path, "names no place; write exactly one of " FORMS);
    } else {
        settings_report_mistake(report, path, "is %s; write exactly one of " FORMS,
                                settings_kind_of(value));
    }
    if (ok)
        drop_newline(found);
    return ok;
}

bool settings_secret_value(struct settings_report *report, const char *path, json_t *value,
                           struct secret *secret)
{
    struct found found = {0};
    struct err err;

    bool ok = find_text(report, path, value, &found);
    if (ok) {
        ok = secret_init(secret, (struct slice){.data = found.text, .len = found.len}, &err);
        if (!ok)
            settings_report_mistake(report, path,
                                    "%s %s; put the whole secret there and nothing else",
                                    found.source, err.text);
    }
    digest_wipe(&found, sizeof(found));
    return ok;
}

bool settings_secret(struct settings *settings, const char *key, bool required,
                     struct secret *secret)
{
    char path[SETTINGS_PATH_SIZE];

    settings_path(settings, key, path);
    if (settings_has(settings, key))
        return settings_secret_value(settings->report, path, json_object_get(settings->object, key),
                                     secret);
    if (required)
        settings_mistake(settings, key, "is missing; write one of " FORMS);
    return false;
}

static char *checked_address(struct settings *settings, const char *key, struct slice text,
                             const char *source)
{
    if (text.len == 0)
        settings_mistake(settings, key, "%s is empty; write an address", source);
    else if (text.len > LIMIT_URL_BYTES)
        settings_mistake(settings, key, "%s is longer than %d bytes; shorten it", source,
                         LIMIT_URL_BYTES);
    else if (!slice_is_visible(text))
        settings_mistake(settings, key,
                         "%s has blanks, control characters or letters beyond ASCII in it; write "
                         "them percent-encoded",
                         source);
    else
        return mem_text(text);
    return NULL;
}

char *settings_address(struct settings *settings, const char *key, const char *fallback)
{
    bool given = settings_has(settings, key);
    json_t *value = given ? json_object_get(settings->object, key) : NULL;
    struct slice text = {.data = json_string_value(value), .len = json_string_length(value)};
    char path[SETTINGS_PATH_SIZE];
    struct found found = {0};
    char *address = NULL;

    if (!given)
        return fallback ? mem_text(slice_from(fallback)) : NULL;
    if (json_is_string(value))
        return checked_address(settings, key, text, "the address");
    if (!json_is_object(value)) {
        settings_mistake(settings, key,
                         "is %s, must be an address; write it in double quotes, or say where it "
                         "is: " FORMS,
                         settings_kind_of(value));
        return NULL;
    }
    settings_path(settings, key, path);
    if (find_text(settings->report, path, value, &found))
        address = checked_address(
            settings, key, (struct slice){.data = found.text, .len = found.len}, found.source);
    digest_wipe(&found, sizeof(found));
    return address;
}
