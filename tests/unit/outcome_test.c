/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <string.h>

#include "gateway/core/outcome.h"

static void test_names(void **state)
{
    (void)state;
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        assert_non_null(outcome_name((enum outcome_code)i));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(outcome_name((enum outcome_code)i),
                                    outcome_name((enum outcome_code)j));
    }
    assert_string_equal(outcome_name(OUTCOME_IN_FLIGHT), "in_flight");
}

static void test_text(void **state)
{
    char field[8] = "before";

    (void)state;
    outcome_text(field, sizeof(field), "a\nb\0c\x7f\xc3\xa9 d", 10);
    assert_string_equal(field, "abc d");
    outcome_text(field, sizeof(field), "run_0123456789", 14);
    assert_string_equal(field, "run_012");
    outcome_text(field, sizeof(field), NULL, 0);
    assert_string_equal(field, "");
    outcome_text(field, 1, "abc", 3);
    assert_string_equal(field, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
