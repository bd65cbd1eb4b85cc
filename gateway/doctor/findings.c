/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/doctor/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"

static const char *const levels[LEVELS] = {
    [LEVEL_OK] = "ok", [LEVEL_WARNING] = "warning", [LEVEL_PROBLEM] = "problem"};

void findings_release(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->list[i].about);
        free(findings->list[i].text);
        free(findings->list[i].advice);
    }
    free(findings->list);
    *findings = (struct findings){0};
}

/* Names of files and answers of servers may hold anything; a terminal gets none of it. */
static char *printable(struct slice text)
{
    char *copy = mem_text(slice_trim(text));

    for (char *at = copy; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    return copy;
}

void findings_add(struct findings *findings, enum level level, const char *check, const char *about,
                  const char *format, ...)
{
    char sentence[FINDING_BYTES];
    struct slice text, advice;
    va_list values;

    findings->counts[level]++;
    if (findings->count == FINDINGS_MAX)
        return;
    va_start(values, format);
    vsnprintf(sentence, sizeof(sentence), format, values);
    va_end(values);
    slice_cut(slice_from(sentence), ';', &text, &advice);
    findings->list = mem_grow(findings->list, (findings->count + 1) * sizeof(struct finding));
    findings->list[findings->count++] = (struct finding){
        .level = level,
        .check = check,
        .about = printable(slice_from(about)),
        .text = printable(text),
        .advice = printable(advice),
    };
}

static void print_one(const struct finding *finding)
{
    printf("%-8s %s%s%s: %s\n", levels[finding->level], finding->check,
           finding->about[0] ? " " : "", finding->about, finding->text);
    if (finding->advice[0])
        printf("         %s\n", finding->advice);
}

void findings_print(const struct findings *findings, const char *const *checks)
{
    for (; *checks; checks++)
        for (size_t i = 0; i < findings->count; i++)
            if (strcmp(findings->list[i].check, *checks) == 0)
                print_one(&findings->list[i]);
}

/* Text that is no UTF-8, such as the name of a file, is left out. */
static json_t *one_json(const struct finding *finding)
{
    json_t *object =
        json_pack("{s:s, s:s}", "level", levels[finding->level], "check", finding->check);

    if (finding->about[0])
        json_object_set_new(object, "about", json_string(finding->about));
    json_object_set_new(object, "text", json_string(finding->text));
    if (finding->advice[0])
        json_object_set_new(object, "advice", json_string(finding->advice));
    return object;
}

json_t *findings_json(const struct findings *findings, const char *const *checks)
{
    json_t *list = json_array();

    for (; *checks; checks++)
        for (size_t i = 0; i < findings->count; i++)
            if (strcmp(findings->list[i].check, *checks) == 0)
                json_array_append_new(list, one_json(&findings->list[i]));
    return json_pack("{s:i, s:i, s:o}", "problems", (int)findings->counts[LEVEL_PROBLEM],
                     "warnings", (int)findings->counts[LEVEL_WARNING], "findings", list);
}
