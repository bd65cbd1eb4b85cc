/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/vectors/judge.json: what an answer of a runtime means. And for every dialect: what it says
 * that its runtime answers is an acceptance, and no body can do harm.
 */
#include "tests/vector.h"

static unsigned variant_of(const struct dialect *dialect, json_t *name)
{
    for (unsigned i = 0; name && i < dialect->variant_count; i++)
        if (strcmp(dialect->variants[i].name, json_string_value(name)) == 0)
            return i;
    assert_null(name);
    return 0;
}

static bool is_printable(const char *text)
{
    for (; *text; text++)
        if (*text < 0x20 || *text > 0x7e)
            return false;
    return true;
}

static struct verdict judge(const struct dialect *dialect, unsigned variant, unsigned status,
                            struct slice body)
{
    const struct trigger_speech speech = {.variant = variant};
    struct verdict verdict;

    memset(&verdict, 0x5a, sizeof(verdict)); /* a judge that leaves a field alone is seen */
    dialect->judge(status, body, &speech, &verdict);
    assert_non_null(memchr(verdict.run, '\0', sizeof(verdict.run)));
    assert_non_null(memchr(verdict.detail, '\0', sizeof(verdict.detail)));
    assert_true(is_printable(verdict.run));
    assert_true(is_printable(verdict.detail));
    assert_true(verdict.code <= OUTCOME_AMBIGUOUS);
    assert_true(verdict.retry_after_ms >= 0 && verdict.retry_after_ms < 1000000);
    return verdict;
}

static void run_case(json_t *vector)
{
    const struct slice name = vector_slice(json_object_get(vector, "dialect"));
    const struct dialect *dialect = dialect_by_name(name);
    assert_non_null(dialect);
    const unsigned variant = variant_of(dialect, json_object_get(vector, "variant"));
    const unsigned status = (unsigned)json_integer_value(json_object_get(vector, "status"));
    const struct slice body = vector_slice(json_object_get(vector, "body"));
    json_t *run = json_object_get(vector, "run"), *detail = json_object_get(vector, "detail");
    json_t *duplicate = json_object_get(vector, "duplicate");
    const char *code = json_string_value(json_object_get(vector, "code"));

    const struct verdict verdict = judge(dialect, variant, status, body);
    if (strcmp(outcome_name(verdict.code), code) != 0)
        fail_msg("%s: %u %.80s is %s, not %s", dialect->name, status, body.data,
                 outcome_name(verdict.code), code);
    if (run)
        assert_string_equal(verdict.run, json_string_value(run));
    if (detail)
        assert_string_equal(verdict.detail, json_string_value(detail));
    if (duplicate)
        assert_int_equal(verdict.duplicate, json_is_true(duplicate));
    assert_true(verdict.duplicate == false || verdict.code == OUTCOME_ACCEPTED);
    assert_int_equal(verdict.retry_after_ms,
                     json_integer_value(json_object_get(vector, "retry_after_ms")));
}

static void test_table(void **state)
{
    json_t *cases = vector_load("judge.json");
    json_t *vector;
    size_t i;

    (void)state;
    json_array_foreach (cases, i, vector)
        run_case(vector);
    json_decref(cases);
}

/* The answer that `wakegate sink` gives in a runtime's place is an acceptance with that run. */
static void test_documented_answer(void **state)
{
    (void)state;
    for (size_t i = 0; dialects[i]; i++) {
        char body[512];
        const char *hole = strstr(dialects[i]->accepted_body, "%s");
        assert_non_null(hole);
        snprintf(body, sizeof(body), "%.*srun-7%s", (int)(hole - dialects[i]->accepted_body),
                 dialects[i]->accepted_body, hole + 2);
        const struct verdict verdict =
            judge(dialects[i], 0, dialects[i]->accepted_status, slice_from(body));
        assert_int_equal(verdict.code, OUTCOME_ACCEPTED);
        assert_false(verdict.duplicate);
        assert_true(verdict.run[0] == '\0' || strcmp(verdict.run, "run-7") == 0);
    }
}

/* A status never means more with a body that says nothing than it does by itself. */
static void test_hostile_bodies(void **state)
{
    static const char *const bodies[] = {
        "",
        "{",
        "[]",
        "null",
        "\xff\xfe",
        "{\"status\":{}}",
        "{\"ok\":[],\"error\":[]}",
        "{\"status\":\"\\u0007\\u001b[31m\",\"run\":\"a b\",\"runId\":\"\\n\"}",
        "{\"code\":\"\\t\",\"error\":{\"type\":\"\\u202e\",\"message\":7}}",
    };

    (void)state;
    for (size_t i = 0; dialects[i]; i++)
        for (unsigned variant = 0; variant < dialects[i]->variant_count; variant++)
            for (unsigned status = 100; status < 600; status++)
                for (size_t b = 0; b < sizeof(bodies) / sizeof(bodies[0]); b++) {
                    const struct verdict verdict =
                        judge(dialects[i], variant, status, slice_from(bodies[b]));
                    const bool success = status >= 200 && status <= 299;
                    assert_true(success || verdict.code != OUTCOME_ACCEPTED);
                    assert_false(verdict.duplicate);
                    assert_int_equal(verdict.run[0], '\0');
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_documented_answer),
        cmocka_unit_test(test_hostile_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
