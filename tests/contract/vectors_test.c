/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every case of tests/vectors/<dialect>.json and <dialect>.edge.json, for every dialect in the
 * table: what verify says, and what decode makes of a request that is genuine.
 */
#include "tests/vector.h"

static const struct dialect *dialect;
static unsigned cases_run;

static void expect_text(const char *what, struct slice got, json_t *want)
{
    if (json_is_null(want) ? got.len != 0 : !slice_eq(got, vector_slice(want)))
        fail_msg("%s is \"%.*s\"", what, SLICE_ARG(got));
}

static void expect_conversations(const struct wake *wake, json_t *want)
{
    json_t *id;
    size_t i;

    assert_int_equal(wake->conversation_count, json_array_size(want));
    json_array_foreach (want, i, id)
        expect_text("conversation", wake->conversations[i].id, id);
}

static void expect_wake(const struct wake *wake, json_t *want)
{
    const char *name;
    json_t *value;

    json_object_foreach (want, name, value) {
        if (strcmp(name, "reason") == 0)
            expect_text(name, wake->reason, value);
        else if (strcmp(name, "handle") == 0)
            expect_text(name, wake->handle, value);
        else if (strcmp(name, "summary") == 0)
            expect_text(name, wake->summary, value);
        else if (strcmp(name, "delivery_id") == 0)
            expect_text(name, wake->delivery_id, value);
        else if (strcmp(name, "step") == 0)
            assert_int_equal(wake->step, json_integer_value(value));
        else if (strcmp(name, "attempt") == 0)
            assert_int_equal(wake->attempt, json_integer_value(value));
        else if (strcmp(name, "version") == 0)
            assert_int_equal(wake->version, json_integer_value(value));
        else if (strcmp(name, "test") == 0)
            assert_int_equal(wake->test, json_is_true(value));
        else if (strcmp(name, "conversations") == 0)
            expect_conversations(wake, value);
        else
            fail_msg("a case wants the unknown field %s", name);
    }
}

static void expect_proven(const struct proven *proven, json_t *expect)
{
    json_t *scheme = json_object_get(expect, "scheme");
    json_t *secret = json_object_get(expect, "secret");
    json_t *replayable = json_object_get(expect, "replayable");

    if (scheme)
        assert_string_equal(dialect->schemes[proven->scheme], json_string_value(scheme));
    if (secret)
        assert_int_equal(proven->secret, json_integer_value(secret));
    if (replayable)
        assert_int_equal(proven->replayable, json_is_true(replayable));
}

static void expect_decoded(const struct request *request, json_t *want)
{
    struct err err = {.text = ""};
    struct wake wake = {0};

    bool decoded = dialect->decode(request, &wake, &err);
    if (decoded != (want != NULL))
        fail_msg("decode says %d: %s", decoded, err.text);
    if (decoded)
        expect_wake(&wake, want);
    else
        assert_true(err.text[0]);
    wake_release(&wake);
}

/* "wrong_or_malformed" allows either. */
static bool is_allowed(const char *allowed, const char *got)
{
    const size_t len = strlen(got);

    for (const char *at = allowed; at; at = strstr(at, "_or_")) {
        at += at == allowed ? 0 : strlen("_or_");
        if (strncmp(at, got, len) == 0 && (at[len] == '\0' || at[len] == '_'))
            return true;
    }
    return false;
}

static void run_case(json_t *vector)
{
    json_t *expect = json_object_get(vector, "expect");
    struct keyring keyring = {0};
    struct request request;
    struct proven proven = {.secret = 99, .scheme = 99};
    struct err err = {.text = ""};

    print_message("    %s\n", json_string_value(json_object_get(vector, "name")));
    vector_keyring(vector, dialect, &keyring);
    vector_request(vector, &request);
    const int64_t now_ms = json_integer_value(json_object_get(vector, "now")) * 1000;
    enum proof proof = dialect->verify(&request, &keyring, now_ms, &proven, &err);
    const char *want = json_string_value(json_object_get(expect, "verify"));
    if (!is_allowed(want, proof_name(proof)))
        fail_msg("verify says %s (%s), not %s", proof_name(proof), err.text, want);
    if (proof == PROOF_OK) {
        expect_proven(&proven, expect);
        expect_decoded(&request, json_object_get(expect, "wake"));
    } else {
        assert_true(err.text[0]);
        assert_int_equal(proven.secret, 99); /* untouched by failures */
    }
    vector_keyring_release(&keyring);
    cases_run++;
}

static void run_file(const char *suffix)
{
    char name[100];
    json_t *vector;
    size_t i;

    snprintf(name, sizeof(name), "%s%s", dialect->name, suffix);
    print_message("  %s\n", name);
    json_t *cases = vector_load(name);
    json_array_foreach (cases, i, vector)
        run_case(vector);
    json_decref(cases);
}

static void test_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; dialects[i]; i++) {
        dialect = dialects[i];
        run_file(".json");
        run_file(".edge.json");
    }
    print_message("%u cases\n", cases_run);
    assert_true(cases_run > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
