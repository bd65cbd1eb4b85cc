/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector: reads the files of tests/vectors/, whose README says what stands in them.
 */
#ifndef WAKEGATE_TESTS_VECTOR_H
#define WAKEGATE_TESTS_VECTOR_H

#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialects/dialect.h"

/* The array in tests/vectors/<name>. A file that is not there or is empty fails the test. */
static inline json_t *vector_load(const char *name)
{
    char path[512];
    json_error_t why;

    snprintf(path, sizeof(path), "%s/vectors/%s", TESTS_DIR, name);
    json_t *cases = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    if (json_array_size(cases) == 0)
        fail_msg("%s: %s", path, cases ? "has no cases" : why.text);
    return cases;
}

static inline struct slice vector_slice(json_t *string)
{
    return (struct slice){.data = json_string_value(string), .len = json_string_length(string)};
}

/* Secrets and accepted schemes of a case; all schemes where it names none. */
static inline void vector_keyring(json_t *vector, const struct dialect *dialect,
                                  struct keyring *keyring)
{
    json_t *secrets = json_object_get(vector, "secrets");
    json_t *schemes = json_object_get(vector, "schemes");
    json_t *tolerance = json_object_get(vector, "tolerance");
    json_t *item;
    size_t i;

    keyring->count = json_array_size(secrets);
    keyring->secrets = calloc(keyring->count, sizeof(struct secret));
    json_array_foreach (secrets, i, item)
        assert_true(secret_init(&keyring->secrets[i], vector_slice(item), NULL));
    keyring->tolerance_s = tolerance ? json_integer_value(tolerance) : 300;
    keyring->schemes = schemes ? 0 : ~0u;
    json_array_foreach (schemes, i, item) {
        unsigned scheme = 0;
        while (dialect->schemes[scheme] &&
               strcmp(dialect->schemes[scheme], json_string_value(item)) != 0)
            scheme++;
        assert_non_null(dialect->schemes[scheme]);
        keyring->schemes |= 1u << scheme;
    }
}

static inline void vector_keyring_release(struct keyring *keyring)
{
    for (size_t i = 0; i < keyring->count; i++)
        secret_release(&keyring->secrets[i]);
    free(keyring->secrets);
    *keyring = (struct keyring){0};
}

static inline void vector_request(json_t *vector, struct request *request)
{
    json_t *headers = json_object_get(vector, "headers");
    json_t *pair;
    size_t i;

    *request = (struct request){.body = vector_slice(json_object_get(vector, "body"))};
    request->headers[request->header_count++] =
        (struct header){.name = SLICE("content-type"), .value = SLICE("application/json")};
    json_array_foreach (headers, i, pair) {
        assert_true(request->header_count < LIMIT_HEADERS);
        request->headers[request->header_count++] =
            (struct header){.name = vector_slice(json_array_get(pair, 0)),
                            .value = slice_trim(vector_slice(json_array_get(pair, 1)))};
    }
}

#endif
