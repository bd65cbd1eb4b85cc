/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/core/retry_after.h"

#include "gateway/core/clock.h"
#include "gateway/core/limits.h"

enum { MOST_MS = LIMIT_RETRY_AFTER_S * 1000 };

static bool all_digits(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.data[i] < '0' || s.data[i] > '9')
            return false;
    return s.len > 0;
}

static int64_t rounded_up_ms(int64_t ms)
{
    return ms >= MOST_MS ? MOST_MS : (ms + 999) / 1000 * 1000;
}

/* "120" and, though no standard has it, "0.5". */
static int64_t from_seconds(struct slice whole, struct slice fraction)
{
    uint64_t seconds = 0;

    if (!slice_number(whole, &seconds) || seconds >= LIMIT_RETRY_AFTER_S)
        return MOST_MS; /* digits that are no number are too many */
    for (size_t i = 0; i < fraction.len; i++)
        if (fraction.data[i] != '0')
            return (int64_t)(seconds + 1) * 1000;
    return (int64_t)seconds * 1000;
}

int64_t retry_after_parse(struct slice value, int64_t now_ms)
{
    struct slice whole, fraction;
    int64_t at_ms = 0;

    value = slice_trim(value);
    bool pointed = slice_cut(value, '.', &whole, &fraction);
    if (all_digits(whole) && (!pointed || all_digits(fraction)))
        return from_seconds(whole, fraction);
    if (!clock_parse_http_date(value, &at_ms) || at_ms <= now_ms)
        return 0;
    return now_ms < at_ms - MOST_MS ? MOST_MS : rounded_up_ms(at_ms - now_ms);
}

int64_t retry_after_seconds(int64_t ms)
{
    return ms <= 1000 ? 1 : rounded_up_ms(ms) / 1000;
}
