/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An error of AgentChat is {"code", "message", "details"}; what it means is looked up by its code
 * first, then by its status.
 */
#include "gateway/cli/api_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/clock.h"
#include "gateway/core/outcome.h"
#include "gateway/core/retry_after.h"

enum { SHOWN_BYTES = 600, VALUE_BYTES = 200 };

struct meaning {
    const char *code; /* NULL: any */
    unsigned status;  /* 0: any */
    const char *text;
};

static const struct meaning meanings[] = {
    {"REMOVED", 0, "AgentChat has switched this path off for good; a newer wakegate uses another"},
    {NULL, 400, "AgentChat does not take what the config and the options say; correct it"},
    {NULL, 422, "AgentChat does not take what the config and the options say; correct it"},
    {NULL, 401, "AgentChat does not know the API key; is it whole, and this agent's?"},
    {NULL, 403, "the API key is known, and this agent may not do that"},
    {NULL, 404, "AgentChat has nothing there; is a webhook registered, and --api right?"},
    {NULL, 409, "something else was changed at the same time; run the command again"},
    {NULL, 429, "too many requests; run the command again later"},
    {NULL, 0, "AgentChat cannot do it now; run the command again, it does no harm twice"},
};

const char *const api_told_headers[] = {"Deprecation", "Sunset", "Link", NULL};

static const char *meaning_of(const char *code, unsigned status)
{
    for (size_t i = 0;; i++) {
        const struct meaning *meaning = &meanings[i];
        bool is_code = !meaning->code || (code && strcmp(code, meaning->code) == 0);
        if (is_code && (meaning->status == 0 || meaning->status == status))
            return meaning->text;
    }
}

/* ---- deprecation */

static struct slice header_of(struct slice kept, struct slice name)
{
    struct slice line, found, value;

    while (kept.len > 0) {
        slice_cut(kept, '\0', &line, &kept);
        if (slice_cut(line, ':', &found, &value) && slice_eq(found, name))
            return slice_trim(value);
    }
    return (struct slice){0};
}

/* RFC 9745: "@" and the seconds since 1970; as a date where it is one. */
static void write_since(struct slice value, char text[static VALUE_BYTES])
{
    char iso[CLOCK_ISO_SIZE];
    uint64_t seconds;

    outcome_text(text, VALUE_BYTES, value.data, value.len);
    if (!slice_starts(value, SLICE("@")) || !slice_number(slice_from_at(value, 1), &seconds) ||
        seconds > UINT32_MAX)
        return;
    clock_format_iso((int64_t)seconds * 1000, iso);
    snprintf(text, VALUE_BYTES, "%.10s", iso);
}

void api_tell_deprecation(const struct api_request *request, struct slice kept)
{
    struct slice deprecation = header_of(kept, SLICE("Deprecation"));
    struct slice sunset = header_of(kept, SLICE("Sunset"));
    struct slice link = header_of(kept, SLICE("Link"));
    char since[VALUE_BYTES], until[VALUE_BYTES], where[VALUE_BYTES];

    if (deprecation.len == 0 && sunset.len == 0)
        return;
    write_since(deprecation, since);
    outcome_text(until, sizeof(until), sunset.data, sunset.len);
    outcome_text(where, sizeof(where), link.data, link.len);
    fprintf(stderr, "note: AgentChat is to switch %s %s off", request->method, request->path);
    if (since[0])
        fprintf(stderr, ", deprecated since %s", since);
    if (until[0])
        fprintf(stderr, ", at the latest %s", until);
    fprintf(stderr, "; look for a newer wakegate before that%s%s\n", where[0] ? ": " : "", where);
}

/* ---- failures */

static void show(const struct api *api, const struct api_request *request, const char *name,
                 const char *text)
{
    char shown[SHOWN_BYTES];

    if (!text || !text[0])
        return;
    api_conceal(api, request->secret, text, strlen(text), shown, sizeof(shown));
    fprintf(stderr, "  %s: %s\n", name, shown);
}

static void show_details(const struct api *api, const struct api_request *request,
                         const json_t *details)
{
    const char *name;
    json_t *value;

    json_object_foreach ((json_t *)(uintptr_t)details, name, value) {
        char label[VALUE_BYTES];
        char *dump =
            json_is_string(value) ? NULL : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        api_conceal(api, request->secret, name, strlen(name), label, sizeof(label));
        show(api, request, label, dump ? dump : json_string_value(value));
        free(dump);
    }
}

static void tell_refusal(const struct api *api, const struct api_request *request,
                         const struct http_call *call)
{
    json_t *body = json_loadb(buf_text(&call->answer), call->answer.len, 0, NULL);
    const char *code = json_string_value(json_object_get(body, "code"));
    const char *message = json_string_value(json_object_get(body, "message"));
    char shown[VALUE_BYTES] = "";

    if (code)
        api_conceal(api, request->secret, code, strlen(code), shown, sizeof(shown));
    fprintf(stderr, "AgentChat refused %s %s: %u%s%s\n", request->method, request->path,
            call->status, shown[0] ? " " : "", shown);
    show(api, request, "message", message);
    show_details(api, request, json_object_get(body, "details"));
    fprintf(stderr, "  meaning: %s\n", meaning_of(code, call->status));
    if (call->has_retry_after)
        fprintf(stderr, "  to be tried again in %lld s\n",
                (long long)retry_after_seconds(call->retry_after_ms));
    json_decref(body);
}

void api_tell_failure(const struct api *api, const struct api_request *request,
                      const struct http_call *call)
{
    if (call->result == HTTP_ANSWERED && call->status >= 300 && call->status < 400)
        fprintf(stderr,
                "AgentChat answered %s %s with %u: a redirect, which is never followed with a key; "
                "is --api right?\n",
                request->method, request->path, call->status);
    else if (call->result == HTTP_ANSWERED)
        tell_refusal(api, request, call);
    else
        fprintf(stderr, "no answer from AgentChat (%s)%s; run the command again\n", call->err.text,
                call->result == HTTP_NOT_SENT ? ": nothing was asked"
                                              : ": it may have done what it was asked");
}
