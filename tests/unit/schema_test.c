/* SPDX-License-Identifier: Apache-2.0 */
/* deploy/wakegate.schema.json names what the code knows: dialects, schemes, variants, variables.
 * What it says of whole configs is compared in tests/e2e/schema.test.mjs. */
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

#include "dialects/dialect.h"
#include "gateway/variables.h"
#include "relay/preset.h"

static json_t *schema(void)
{
    json_error_t error;
    json_t *root = json_load_file(TESTS_DIR "/../deploy/wakegate.schema.json", 0, &error);

    if (!root)
        fail_msg("line %d: %s", error.line, error.text);
    return root;
}

/* {"const": x} as {"enum": [x]}; a new reference. */
static json_t *enum_of(const json_t *value)
{
    json_t *one = json_object_get(value, "const");

    return one ? json_pack("[O]", one) : json_incref(json_object_get(value, "enum"));
}

static bool holds(const json_t *array, const char *name)
{
    const json_t *item;
    size_t index;

    json_array_foreach (array, index, item)
        if (strcmp(json_string_value(item), name) == 0)
            return true;
    return false;
}

/* The values that the schema allows for `key` of a `kind` with this dialect; a new reference. */
static json_t *schema_allows(const json_t *root, const char *kind, const char *dialect,
                             const char *key)
{
    const json_t *rules =
        json_object_get(json_object_get(json_object_get(root, "$defs"), kind), "allOf");
    const json_t *rule;
    size_t index;

    json_array_foreach (rules, index, rule) {
        const json_t *given = NULL, *then = NULL;
        json_unpack((json_t *)(uintptr_t)rule, "{s:{s:{s:o}}, s?{s:o}}", "if", "properties",
                    "dialect", &given, "then", "properties", &then);
        json_t *names = enum_of(given);
        bool ours = holds(names, dialect);
        json_decref(names);
        const json_t *value = json_object_get(then, key);
        if (ours && value)
            return enum_of(strcmp(key, "schemes") == 0 ? json_object_get(value, "items") : value);
    }
    fail_msg("the schema has no rule for the dialect %s of a %s", dialect, kind);
    return NULL;
}

static void expect_schemes(const json_t *root, const char *kind, const char *key,
                           const struct dialect *dialect)
{
    json_t *allowed = schema_allows(root, kind, dialect->name, key);
    size_t count = 0;

    for (; dialect->schemes[count]; count++)
        assert_true(holds(allowed, dialect->schemes[count]));
    assert_int_equal(json_array_size(allowed), count);
    json_decref(allowed);
}

static void the_schema_knows_every_dialect(void **state)
{
    json_t *root = schema();
    const json_t *names =
        json_object_get(json_object_get(json_object_get(root, "$defs"), "dialect"), "enum");
    size_t count = 0;

    (void)state;
    for (; dialects[count]; count++) {
        const struct dialect *dialect = dialects[count];
        assert_true(holds(names, dialect->name));
        expect_schemes(root, "route", "schemes", dialect);
        expect_schemes(root, "trigger", "scheme", dialect);
        if (!dialect->variants[0].name)
            continue;
        json_t *variants = schema_allows(root, "trigger", dialect->name, "variant");
        assert_int_equal(json_array_size(variants), dialect->variant_count);
        for (size_t i = 0; i < dialect->variant_count; i++)
            assert_true(holds(variants, dialect->variants[i].name));
        json_decref(variants);
    }
    assert_int_equal(json_array_size(names), count);
    json_decref(root);
}

static void the_schema_knows_every_runtime(void **state)
{
    json_t *root = schema();
    const json_t *names = NULL;
    size_t count = 0;

    (void)state;
    json_unpack(root, "{s:{s:{s:{s:{s:o}}}}}", "$defs", "trigger", "properties", "runtime", "enum",
                &names);
    for (; presets[count].name; count++) {
        assert_true(holds(names, presets[count].name));
        assert_non_null(dialect_by_name(slice_from(presets[count].dialect)));
    }
    assert_int_equal(json_array_size(names), count);
    json_decref(root);
}

static void every_key_but_a_few_has_a_variable(void **state)
{
    static const char *const without[] = {"$schema", "admin_token", "agentchat",
                                          "rooms",   "routes",      "tls"};
    json_t *root = schema();
    struct settings_report report;
    const char *key;
    json_t *value;

    (void)state;
    settings_report_init(&report, "test");
    json_object_foreach (json_object_get(root, "properties"), key, value) {
        char variable[80];
        char *const environment[] = {variable, NULL};
        int len = snprintf(variable, sizeof(variable), "WAKEGATE_%s=1", key);
        for (int i = 0; i < len; i++)
            if (variable[i] >= 'a' && variable[i] <= 'z')
                variable[i] = (char)(variable[i] - 'a' + 'A');
        json_t *config = json_object();
        json_t *set = variables_apply(config, environment, &report);
        bool scalar = true;
        for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
            scalar = scalar && strcmp(key, without[i]) != 0;
        assert_int_equal(json_object_get(set, key) != NULL, scalar);
        assert_int_equal(json_object_get(config, key) != NULL, scalar);
        json_decref(set);
        json_decref(config);
    }
    settings_report_release(&report);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schema_knows_every_dialect),
        cmocka_unit_test(every_key_but_a_few_has_a_variable),
        cmocka_unit_test(the_schema_knows_every_runtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
