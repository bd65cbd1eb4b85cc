/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings: the report, the cursor, and the keys that it knows. The typed reads stand in
 * settings_read.c, secrets in settings_secret.c, the file in settings_load.c.
 *
 * Names from the config are put into messages; so that none of them can forge a line or move a
 * terminal's cursor, every control character of a line becomes '?'.
 */
#include "gateway/core/settings.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gateway/core/nearest.h"
#include "gateway/core/regular_file.h"

enum {
    REPORT_BYTES = 1024 * 1024,
    FILES_BYTES = 16 * 1024 * 1024,
    LINE_BYTES = 2048,
    SHOWN_BYTES = 80
};

void settings_report_init(struct settings_report *report, const char *file)
{
    *report = (struct settings_report){.file = file,
                                       .mistakes = BUF_INIT(REPORT_BYTES),
                                       .warnings = BUF_INIT(REPORT_BYTES),
                                       .files = BUF_INIT(FILES_BYTES)};
}

void settings_report_file(struct settings_report *report, const char *name, FILE *stream)
{
    const struct file_version version = regular_file_version(stream);

    buf_append(&report->files,
               (struct slice){.data = (const char *)&version, .len = sizeof(version)});
    buf_append(&report->files, slice_from(name));
    buf_append_char(&report->files, '\0');
}

void settings_report_release(struct settings_report *report)
{
    buf_release(&report->mistakes);
    buf_release(&report->warnings);
    buf_release(&report->files);
}

static void add_line(struct buf *lines, const char *file, const char *path, const char *text)
{
    size_t begin = lines->len;

    if (!buf_appendf(lines, "%s: %s%s%s\n", file, path, *path ? ": " : "", text))
        return;
    for (size_t i = begin; i + 1 < lines->len; i++)
        if ((unsigned char)lines->data[i] < 0x20 || lines->data[i] == 0x7f)
            lines->data[i] = '?';
}

static void add_mistake(struct settings_report *report, const char *file, const char *path,
                        const char *text)
{
    add_line(&report->mistakes, file, path, text);
    report->mistake_count++;
}

static void add_warning(struct settings_report *report, const char *file, const char *path,
                        const char *text)
{
    add_line(&report->warnings, file, path, text);
    report->warning_count++;
}

void settings_report_mistake(struct settings_report *report, const char *path, const char *format,
                             ...)
{
    char text[LINE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    add_mistake(report, report->file, path, text);
}

void settings_report_warning(struct settings_report *report, const char *path, const char *format,
                             ...)
{
    char text[LINE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    add_warning(report, report->file, path, text);
}

/* A value that a variable set is not in the file: its line names the variable. */
static const char *file_and_path(const struct settings *settings, const char *key,
                                 char path[static SETTINGS_PATH_SIZE])
{
    const char *variable = json_string_value(json_object_get(settings->variables, key ? key : ""));

    if (!variable) {
        settings_path(settings, key, path);
        return settings->report->file;
    }
    snprintf(path, SETTINGS_PATH_SIZE, "%s", variable);
    return "environment";
}

void settings_mistake(struct settings *settings, const char *key, const char *format, ...)
{
    char path[SETTINGS_PATH_SIZE], text[LINE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    const char *file = file_and_path(settings, key, path);
    add_mistake(settings->report, file, path, text);
}

void settings_warning(struct settings *settings, const char *key, const char *format, ...)
{
    char path[SETTINGS_PATH_SIZE], text[LINE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    const char *file = file_and_path(settings, key, path);
    add_warning(settings->report, file, path, text);
}

void settings_path(const struct settings *settings, const char *key,
                   char path[static SETTINGS_PATH_SIZE])
{
    int len = snprintf(path, SETTINGS_PATH_SIZE, "%s", settings->path);

    assert(len >= 0 && len < SETTINGS_PATH_SIZE);
    if (key)
        snprintf(path + len, SETTINGS_PATH_SIZE - (size_t)len, "%s%.*s", len > 0 ? "." : "",
                 SHOWN_BYTES, key);
}

void settings_begin(struct settings *settings, struct settings_report *report, const char *path,
                    json_t *value)
{
    *settings = (struct settings){.report = report};
    snprintf(settings->path, sizeof(settings->path), "%s", path);
    if (!value)
        return;
    if (json_is_object(value))
        settings->object = value;
    else
        settings_mistake(settings, NULL, "is not an object; write it in { }");
}

static bool is_known(const struct settings *settings, const char *key)
{
    for (size_t i = 0; i < settings->known_count; i++)
        if (strcmp(settings->known[i], key) == 0)
            return true;
    return false;
}

bool settings_has(struct settings *settings, const char *key)
{
    if (!is_known(settings, key)) {
        assert(settings->known_count < SETTINGS_KEYS);
        settings->known[settings->known_count++] = key;
    }
    return json_object_get(settings->object, key) != NULL;
}

static void list_known(const struct settings *settings, char *text, size_t size)
{
    size_t len = 0;

    for (size_t i = 0; i < settings->known_count && len < size; i++)
        len +=
            (size_t)snprintf(text + len, size - len, "%s%s", i > 0 ? ", " : "", settings->known[i]);
}

void settings_end(struct settings *settings)
{
    const char *key;
    json_t *value;
    char all[LINE_BYTES / 2] = "none";

    list_known(settings, all, sizeof(all));
    json_object_foreach (settings->object, key, value) {
        if (is_known(settings, key))
            continue;
        const char *meant = nearest(slice_from(key), settings->known, settings->known_count);
        if (meant)
            settings_mistake(settings, key, "is not a known key; did you mean \"%s\"?", meant);
        else
            settings_mistake(settings, key, "is not a known key; known here: %s", all);
    }
}
