/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any answer of a runtime, judged in every dialect and variant: it is one of the five outcomes, an
 * acceptance only where the status is one, never an acceptance that the bare status is not, and its
 * texts can stand in a log.
 *
 * The first line is the status; the rest is the body.
 */
#include "tests/fuzz/fuzz.h"

#include "dialects/dialect.h"

static void check_text(const char *text, size_t size)
{
    const char *end = memchr(text, '\0', size);

    assert(end);
    for (; text < end; text++)
        assert(*text >= 0x20 && *text <= 0x7e);
}

static void judge(const struct dialect *dialect, unsigned variant, unsigned status,
                  struct slice body)
{
    const struct trigger_speech speech = {.variant = variant};
    struct verdict verdict;

    memset(&verdict, 0x5a, sizeof(verdict)); /* a field that is left alone is seen */
    dialect->judge(status, body, &speech, &verdict);
    check_text(verdict.run, sizeof(verdict.run));
    check_text(verdict.detail, sizeof(verdict.detail));
    assert(verdict.code <= OUTCOME_AMBIGUOUS);
    assert(verdict.code != OUTCOME_ACCEPTED || (status >= 200 && status <= 299));
    assert(!verdict.duplicate || verdict.code == OUTCOME_ACCEPTED);
    assert(verdict.run[0] == '\0' || verdict.code == OUTCOME_ACCEPTED);
    assert(verdict.retry_after_ms >= 0 && verdict.retry_after_ms <= 3600000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = fuzz_slice(data, size);
    uint64_t status = 0;

    if (!slice_number(fuzz_line(&input), &status) || status > 9999)
        return 0;
    for (size_t i = 0; dialects[i]; i++)
        for (unsigned variant = 0; variant < dialects[i]->variant_count; variant++)
            judge(dialects[i], variant, (unsigned)status, input);
    return 0;
}
