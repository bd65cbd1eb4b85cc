/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/cli/options.h"

#include <stdio.h>
#include <string.h>

#include "gateway/core/nearest.h"
#include "gateway/core/slice.h"

enum { MOST_ROWS = 32 };

static bool complain(const char *command, const char *word, const char *why)
{
    fprintf(stderr, "wakegate %s: %s %s\n", command, word, why);
    return false;
}

static const struct option_row *find_row(const struct option_row *rows, size_t row_count,
                                         struct slice name)
{
    bool is_option = name.len > 1 && name.data[0] == '-';

    for (size_t i = 0; i < row_count; i++) {
        bool found = rows[i].name ? slice_eq(name, slice_from(rows[i].name)) : !is_option;
        if (found)
            return &rows[i];
    }
    return NULL;
}

/* Only the option's name is repeated: the rest may be a secret, and so may a word without one. */
static bool complain_unknown(const char *command, struct slice name, const struct option_row *rows,
                             size_t row_count)
{
    const char *names[MOST_ROWS];
    size_t count = 0;

    if (!slice_starts(name, SLICE("-"))) {
        fprintf(stderr, "wakegate %s: there is a word that belongs to no option\n", command);
        return false;
    }
    for (size_t i = 0; i < row_count && count < MOST_ROWS; i++)
        if (rows[i].name)
            names[count++] = rows[i].name;
    const char *meant = nearest(name, names, count);
    fprintf(stderr, "wakegate %s: %.*s is no option of it%s%s%s\n", command, SLICE_ARG(name),
            meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
    return false;
}

/* Puts one value down. false: there are too many. */
static bool take(const struct option_row *row, size_t *seen, const char *value)
{
    size_t max = row->max > 0 ? row->max : 1;

    if (*seen == max)
        return false;
    if (row->values)
        row->values[*seen] = value;
    if (row->flag)
        *row->flag = true;
    ++*seen;
    if (row->count)
        *row->count = *seen;
    return true;
}

bool options_read(int argc, char **argv, const struct option_row *rows, size_t row_count)
{
    size_t seen[MOST_ROWS] = {0};

    for (int i = 1; i < argc; i++) {
        struct slice name, rest;
        const char *word = argv[i];
        bool joined = slice_cut(slice_from(word), '=', &name, &rest);
        const struct option_row *row = find_row(rows, row_count, name);
        if (!row)
            return complain_unknown(argv[0], name, rows, row_count);
        bool wants_value = row->name && row->values;
        if (wants_value && !joined && i + 1 == argc)
            return complain(argv[0], word, "needs a value");
        const char *value = word;
        if (wants_value)
            value = joined ? rest.data : argv[++i];
        if (!take(row, &seen[row - rows], value))
            return complain(argv[0], row->name ? row->name : "a word without an option",
                            "stands there too often");
    }
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].required && seen[i] == 0)
            return complain(argv[0], rows[i].name, "is needed");
    return true;
}

bool options_number(const char *command, const char *name, const char *text, long long fallback,
                    long long least, long long most, long long *number)
{
    uint64_t value = 0;

    if (!text) {
        *number = fallback;
        return true;
    }
    bool good = slice_number(slice_from(text), &value) && value <= (uint64_t)most;
    if (good && (long long)value >= least) {
        *number = (long long)value;
        return true;
    }
    fprintf(stderr, "wakegate %s: %s must be a number from %lld to %lld\n", command, name, least,
            most);
    return false;
}
