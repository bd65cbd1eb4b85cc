/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings_load: the config file as JSON. What stands near a mistake in the syntax is not shown,
 * only its place: it could be a piece of a secret.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gateway/core/limits.h"
#include "gateway/core/regular_file.h"
#include "gateway/core/settings.h"

static bool read_all(FILE *stream, struct buf *text)
{
    enum { PIECE = 65536 };

    for (;;) {
        char piece[PIECE];
        size_t len = fread(piece, 1, sizeof(piece), stream);
        if (len == 0)
            return !ferror(stream);
        const struct slice bytes = {.data = piece, .len = len};
        if (!buf_append(text, bytes))
            return true;
    }
}

static bool read_file(struct settings_report *report, struct buf *text)
{
    FILE *stream = regular_file_open(report->file);
    int why = errno;

    settings_report_file(report, report->file, stream);
    errno = why;
    if (!stream && errno == ENOENT) {
        settings_report_mistake(report, "",
                                "there is no such file; write it, or name another with --config or "
                                "WAKEGATE_CONFIG");
        return false;
    }
    bool whole = stream && read_all(stream, text);
    if (!whole)
        settings_report_mistake(report, "", "cannot be read (%s); check its path and permissions",
                                regular_file_why(errno));
    if (stream)
        fclose(stream);
    if (whole && text->overflow)
        settings_report_mistake(report, "", "is larger than %d MiB; make it smaller",
                                LIMIT_CONFIG_BYTES / 1024 / 1024);
    return whole && !text->overflow;
}

static void report_syntax(struct settings_report *report, json_error_t *error)
{
    char *near = strstr(error->text, " near ");
    char place[64];

    if (near && json_error_code(error) != json_error_duplicate_key)
        *near = '\0';
    snprintf(place, sizeof(place), "line %d, column %d", error->line, error->column);
    settings_report_mistake(report, place,
                            "is not valid JSON (%s); correct it there or just before", error->text);
}

json_t *settings_load(struct settings_report *report)
{
    struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
    json_error_t error;
    json_t *root = NULL;

    if (read_file(report, &text)) {
        struct slice json = buf_slice(&text);
        if (slice_starts(json, SLICE("\xef\xbb\xbf"))) /* some editors mark UTF-8 so */
            json = slice_from_at(json, 3);
        root = json_loadb(json.len > 0 ? json.data : "", json.len, JSON_REJECT_DUPLICATES, &error);
        if (!root)
            report_syntax(report, &error);
    }
    buf_release(&text);
    return root;
}
