/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/core/outcome.h"

#include <assert.h>

static const char *const names[OUTCOME_COUNT] = {
    [OUTCOME_ACCEPTED] = "accepted",
    [OUTCOME_REFUSED] = "refused",
    [OUTCOME_GONE] = "gone",
    [OUTCOME_UNAVAILABLE] = "unavailable",
    [OUTCOME_AMBIGUOUS] = "ambiguous",
    [OUTCOME_DUPLICATE] = "duplicate",
    [OUTCOME_IN_FLIGHT] = "in_flight",
    [OUTCOME_HELD] = "held",
    [OUTCOME_RESTING] = "resting",
    [OUTCOME_PACED] = "paced",
    [OUTCOME_STORE_UNAVAILABLE] = "store_unavailable",
    [OUTCOME_DRAINING] = "draining",
};

const char *outcome_name(enum outcome_code code)
{
    assert(code < OUTCOME_COUNT);
    return names[code];
}

void outcome_text(char *field, unsigned long size, const char *text, unsigned long len)
{
    unsigned long used = 0;

    for (unsigned long i = 0; i < len && used + 1 < size; i++)
        if (text[i] >= ' ' && text[i] <= '~')
            field[used++] = text[i];
    field[used] = '\0';
}
