/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nearest: the Levenshtein distance, one row at a time. Long texts are near to nothing, which
 * bounds the work.
 */
#include "gateway/core/nearest.h"

enum { LONGEST = 64, EDITS = 2, SHORT_NAME = 4 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(struct slice a, struct slice b)
{
    size_t row[LONGEST + 1];

    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t above = row[j];
            bool same = slice_eq_nocase(slice_first(slice_from_at(a, i - 1), 1),
                                        slice_first(slice_from_at(b, j - 1), 1));
            row[j] = least(diagonal + (same ? 0 : 1), least(above, row[j - 1]) + 1);
            diagonal = above;
        }
    }
    return row[b.len];
}

const char *nearest(struct slice text, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t best_distance = EDITS + 1;

    if (text.len > LONGEST)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        struct slice name = slice_from(names[i]);
        if (name.len > LONGEST)
            continue;
        size_t edits = distance(text, name);
        size_t allowed = name.len <= SHORT_NAME ? 1 : EDITS;
        if (edits <= allowed && edits < best_distance) {
            best = names[i];
            best_distance = edits;
        }
    }
    return best;
}
