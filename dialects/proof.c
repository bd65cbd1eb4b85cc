/* SPDX-License-Identifier: Apache-2.0 */
#include "dialects/proof.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { TIMESTAMP_DIGITS = 12 };

enum proof proof_refuse(enum proof proof, struct err *err, const char *format, ...)
{
    va_list args;

    if (!err)
        return proof;
    va_start(args, format);
    vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    return proof;
}

enum proof proof_header(const struct request *request, const char *name, struct slice *value,
                        struct err *err)
{
    struct slice text;

    switch (request_header(request, slice_from(name), &text)) {
    case HEADER_REPEATED:
        return proof_refuse(PROOF_MALFORMED, err, "%s stands there more than once", name);
    case HEADER_ABSENT:
        return proof_refuse(PROOF_MISSING, err, "no %s", name);
    case HEADER_FOUND:
        break;
    }
    if (text.len == 0)
        return proof_refuse(PROOF_MISSING, err, "%s is empty", name);
    *value = text;
    return PROOF_OK;
}

bool proof_accepts(const struct keyring *keyring, unsigned index)
{
    return keyring->schemes >> index & 1u;
}

enum proof proof_fresh(struct slice timestamp, const struct keyring *keyring, int64_t now_ms,
                       struct err *err)
{
    uint64_t seconds;

    if (timestamp.len > TIMESTAMP_DIGITS || !slice_number(timestamp, &seconds))
        return proof_refuse(PROOF_MALFORMED, err, "the timestamp is not in unix seconds");
    int64_t off = now_ms / 1000 - (int64_t)seconds;
    if (off > keyring->tolerance_s)
        return proof_refuse(PROOF_STALE, err, "signed %" PRId64 " s ago, more than %" PRId64 " s",
                            off, keyring->tolerance_s);
    if (-off > keyring->tolerance_s)
        return proof_refuse(PROOF_STALE, err,
                            "signed %" PRId64 " s in the future, more than %" PRId64 " s", -off,
                            keyring->tolerance_s);
    return PROOF_OK;
}
