/* SPDX-License-Identifier: Apache-2.0 */
/* Retry-After, whatever a runtime sends: never negative, never over the limit, never in between
 * seconds, and what we write of it reads back as the same. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>

#include "gateway/core/limits.h"
#include "gateway/core/retry_after.h"

#define NOW_MS INT64_C(1794474000123)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct slice value = fuzz_slice(data, size);
    const int64_t ms = retry_after_parse(value, NOW_MS);
    char text[32];

    assert(ms >= 0 && ms <= LIMIT_RETRY_AFTER_S * INT64_C(1000) && ms % 1000 == 0);
    /* A later now leaves no longer wait, but for the seconds themselves. */
    const int64_t later = retry_after_parse(value, NOW_MS + 1000);
    assert(later == ms || later == ms - 1000 || ms == LIMIT_RETRY_AFTER_S * INT64_C(1000));
    const int64_t seconds = retry_after_seconds(ms);
    assert(seconds >= 1 && seconds <= LIMIT_RETRY_AFTER_S);
    snprintf(text, sizeof(text), "%lld", (long long)seconds);
    assert(retry_after_parse(slice_from(text), NOW_MS) == seconds * 1000);
    return 0;
}
