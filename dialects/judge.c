/* SPDX-License-Identifier: Apache-2.0 */
#include "dialects/judge.h"

#include <stdio.h>
#include <string.h>

#include "dialects/payload.h"

enum { WORD_BYTES = 100 };

static bool is_proxy_trouble(unsigned status)
{
    return status == 502 || status == 504 || (status >= 520 && status <= 524);
}

static enum outcome_code everywhere(unsigned status, bool idempotent)
{
    if (status >= 200 && status <= 299)
        return OUTCOME_ACCEPTED;
    if (status == 410)
        return OUTCOME_GONE;
    if (is_proxy_trouble(status))
        return idempotent ? OUTCOME_UNAVAILABLE : OUTCOME_AMBIGUOUS;
    if (status == 408 || status == 425 || status == 429)
        return OUTCOME_UNAVAILABLE;
    if (status >= 500 && status <= 599)
        return OUTCOME_UNAVAILABLE;
    if (status >= 300 && status <= 499)
        return OUTCOME_REFUSED;
    return OUTCOME_AMBIGUOUS; /* no final status of HTTP */
}

static const struct judge_rule *rule_of(const struct judge_rule *rules, unsigned status)
{
    for (; rules && rules->status; rules++)
        if (rules->status == status)
            return rules;
    return NULL;
}

void judge_status(unsigned status, const struct judge_rule *rules, bool idempotent,
                  struct verdict *verdict)
{
    const struct judge_rule *rule = rule_of(rules, status);

    *verdict = (struct verdict){.code = everywhere(status, idempotent)};
    snprintf(verdict->detail, sizeof(verdict->detail), "%u", status);
    if (status >= 300 && status <= 399)
        judge_add(verdict, "redirect");
    if (!rule)
        return;
    verdict->code = rule->code;
    verdict->retry_after_ms = rule->retry_after_ms;
    judge_add(verdict, rule->meaning ? rule->meaning : "");
}

json_t *judge_body(struct slice body)
{
    if (body.len > LIMIT_ANSWER_BYTES)
        return NULL;
    return payload_parse(body, NULL);
}

const char *judge_word(json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);
    const struct slice word = {.data = json_string_value(value), .len = json_string_length(value)};

    return word.len <= WORD_BYTES && slice_is_visible(word) ? word.data : "";
}

void judge_add(struct verdict *verdict, const char *word)
{
    size_t len = strlen(verdict->detail);

    if (word[0])
        snprintf(verdict->detail + len, sizeof(verdict->detail) - len, " %s", word);
}

void judge_run(struct verdict *verdict, const char *run)
{
    outcome_text(verdict->run, sizeof(verdict->run), run, strlen(run));
}

void judge_receiver(unsigned status, struct slice body, bool idempotent, struct verdict *verdict)
{
    judge_status(status, NULL, idempotent, verdict);
    json_t *answer = judge_body(body);
    if (verdict->code == OUTCOME_ACCEPTED) {
        judge_run(verdict, judge_word(answer, "run"));
        verdict->duplicate = strcmp(judge_word(answer, "status"), "duplicate") == 0;
    } else {
        judge_add(verdict, judge_word(answer, "code"));
    }
    json_decref(answer);
}
