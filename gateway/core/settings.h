/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings: a cursor over one object of the config. Each module reads its own part through one; the
 * mistakes of all of them are collected in one report.
 *
 * Every read names its key, so the cursor knows which keys exist: settings_end reports the others,
 * with the nearest known name as "did you mean". A read of a wrong value reports file, key, reason
 * and what to do, and gives the default, so one run finds every mistake.
 */
#ifndef WAKEGATE_CORE_SETTINGS_H
#define WAKEGATE_CORE_SETTINGS_H

#include <jansson.h>
#include <stdio.h>

#include "gateway/core/buf.h"
#include "gateway/core/secret.h"

enum { SETTINGS_KEYS = 40, SETTINGS_PATH_SIZE = 512 };

/* Mistakes stop the config from being used; warnings do not. Lines of text, owned: each is
 * "<file>: <key path>: <reason>; <what to do>" and a newline, without control characters. */
struct settings_report {
    const char *file;
    struct buf mistakes, warnings;
    unsigned mistake_count, warning_count;
    struct buf files; /* those that were read or wanted: of each a struct file_version, then its
                         name and a NUL */
};

void settings_report_init(struct settings_report *report, const char *file);
/* Notes that `name` was read from `stream`; NULL: it could not be opened. */
void settings_report_file(struct settings_report *report, const char *name, FILE *stream);
void settings_report_release(struct settings_report *report);

/* Reads the report's file: JSON of at most LIMIT_CONFIG_BYTES without duplicate keys. NULL after a
 * mistake; else the caller drops the value. */
json_t *settings_load(struct settings_report *report);

struct settings {
    struct settings_report *report;
    json_t *object;          /* borrowed; NULL: nothing was configured here */
    const json_t *variables; /* key -> the variable that set it instead of the file, or NULL */
    char path[SETTINGS_PATH_SIZE]; /* "routes.relay.target", "" at the top */
    const char *known[SETTINGS_KEYS];
    size_t known_count;
};

/* A cursor on `value`, which must be an object; else that is reported and the cursor is empty. */
void settings_begin(struct settings *settings, struct settings_report *report, const char *path,
                    json_t *value);
/* Reports the keys that nobody asked for. */
void settings_end(struct settings *settings);

/* The path of `key` in this object, for a cursor or a secret below it; NULL: of the object. */
void settings_path(const struct settings *settings, const char *key,
                   char path[static SETTINGS_PATH_SIZE]);

/* A line in the report about `key` of this object, or about the object itself when it is NULL. */
void settings_mistake(struct settings *settings, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void settings_warning(struct settings *settings, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A line about a path that is no cursor's; "": about the file as a whole. */
void settings_report_mistake(struct settings_report *report, const char *path, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));
void settings_report_warning(struct settings_report *report, const char *path, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));

bool settings_has(struct settings *settings, const char *key);

/* "a string", "an object", ...: for messages. */
const char *settings_kind_of(const json_t *value);

/* Each gives `fallback` for an absent or wrong value. Strings are borrowed from the JSON. */
struct slice settings_string(struct settings *settings, const char *key, const char *fallback);
/* Absent and empty are mistakes. */
struct slice settings_required_string(struct settings *settings, const char *key);
/* Letters, digits, '-' and '_', 1 to LIMIT_NAME_BYTES: route names and target ids. */
struct slice settings_name(struct settings *settings, const char *key);
bool settings_is_name(struct slice text);
int64_t settings_number(struct settings *settings, const char *key, int64_t fallback, int64_t least,
                        int64_t most);
bool settings_bool(struct settings *settings, const char *key, bool fallback);
/* "250ms", "8s", "4m", "48h", "2d", or 0; milliseconds. */
int64_t settings_duration(struct settings *settings, const char *key, int64_t fallback_ms,
                          int64_t least_ms, int64_t most_ms);
/* The same text elsewhere. false: it is none. */
bool settings_parse_duration(struct slice text, int64_t *ms);
/* One of `names` (NULL-terminated), as its index. */
size_t settings_choice(struct settings *settings, const char *key, const char *const *names,
                       size_t fallback);
/* Absent is a mistake too; absent and wrong give the number of names. */
size_t settings_required_choice(struct settings *settings, const char *key,
                                const char *const *names);
/* The mistake of a `text` that is none of `names`; `verb` says how it stands there: "is", "has". */
void settings_not_one_of(struct settings *settings, const char *key, const char *verb,
                         struct slice text, const char *const *names);
json_t *settings_object(struct settings *settings, const char *key); /* borrowed; NULL: absent */
json_t *settings_array(struct settings *settings, const char *key);  /* the same */

/* A secret: {"env": "NAME"}, {"file": "/path"} (one trailing newline is dropped) or {"literal":
 * "..."} (warned about). Not a bare string. false when absent or wrong; absent is a mistake when
 * `required`. settings_secret_value reads one that stands in an array, as `path`. */
bool settings_secret(struct settings *settings, const char *key, bool required,
                     struct secret *secret);
bool settings_secret_value(struct settings_report *report, const char *path, json_t *value,
                           struct secret *secret);

/* An address that may hold a password: a string, or one of the secret's three forms. Owned by the
 * caller, visible ASCII, at most LIMIT_URL_BYTES; `fallback` (may be NULL) when absent, NULL when
 * wrong. It may be a secret and is never to be printed. */
char *settings_address(struct settings *settings, const char *key, const char *fallback);

#endif
