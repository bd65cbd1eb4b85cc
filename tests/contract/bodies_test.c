/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/vectors/bodies.json: bodies that every dialect must refuse to decode, or must read. A case
 * names the dialects that it is for; without names it is for all.
 */
#include "tests/vector.h"

#include "gateway/core/codec.h"

static bool is_for(json_t *vector, const struct dialect *dialect)
{
    json_t *names = json_object_get(vector, "dialects");
    json_t *name;
    size_t i;

    json_array_foreach (names, i, name)
        if (strcmp(json_string_value(name), dialect->name) == 0)
            return true;
    return !names;
}

/* The body, as text or in hex where JSON cannot say it; the caller frees. */
static struct slice body_of(json_t *vector, char **memory)
{
    const struct slice text = vector_slice(json_object_get(vector, "body"));
    const struct slice hex = vector_slice(json_object_get(vector, "body_hex"));
    const size_t len = text.data ? text.len : hex.len / 2;

    *memory = malloc(len > 0 ? len : 1); /* the exact size, so that a read past the end is seen */
    assert_non_null(*memory);
    if (text.data)
        memcpy(*memory, text.data, len);
    else
        assert_true(hex_decode(hex, (unsigned char *)*memory, len));
    return (struct slice){.data = *memory, .len = len};
}

static void run_case(const struct dialect *dialect, json_t *vector)
{
    const bool want = json_is_true(json_object_get(vector, "read"));
    struct request request = {.header_count = 0};
    struct err err = {.text = ""};
    struct wake wake = {0};
    char *memory;

    request.body = body_of(vector, &memory);
    bool read = dialect->decode(&request, &wake, &err);
    if (read != want)
        fail_msg("%s, %s: decode says %d: %s", dialect->name,
                 json_string_value(json_object_get(vector, "name")), read, err.text);
    assert_true(read || err.text[0]);
    assert_true(!read || wake_is_delivery_id(wake.delivery_id));
    wake_release(&wake);
    free(memory);
}

static void test_bodies(void **state)
{
    json_t *cases = vector_load("bodies.json");
    json_t *vector;
    size_t i;

    (void)state;
    for (size_t d = 0; dialects[d]; d++)
        json_array_foreach (cases, i, vector)
            if (is_for(vector, dialects[d]))
                run_case(dialects[d], vector);
    json_decref(cases);
}

/* Each beginning of a good body is refused, without a look past its end. */
static void test_cut(void **state)
{
    static const char body[] =
        "{\"text\":\"s\\n\\n(AgentChat wake cycle x-1, attempt 1. T.)\",\"message\":\"m\","
        "\"type\":\"agentchat.wake\",\"version\":1,\"handle\":\"@a\",\"delivery_id\":\"x-1\","
        "\"conversations\":[{\"id\":\"c\",\"unread\":1,\"latest_sender\":\"@b\"}]}";

    (void)state;
    for (size_t d = 0; dialects[d]; d++)
        for (size_t len = 0; len < sizeof(body); len++) {
            char *memory = malloc(len > 0 ? len : 1);
            struct request request = {.body = {.data = memory, .len = len}};
            struct wake wake = {0};

            assert_non_null(memory);
            memcpy(memory, body, len);
            assert_int_equal(dialects[d]->decode(&request, &wake, NULL), len == sizeof(body) - 1);
            wake_release(&wake);
            free(memory);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
