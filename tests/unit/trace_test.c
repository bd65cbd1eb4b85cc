/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include "gateway/core/trace.h"

#define PARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

static struct request with(const char *parent, const char *state)
{
    struct request request = {.header_count = 2};

    request.headers[0] = (struct header){SLICE("TraceParent"), slice_from(parent)};
    request.headers[1] = (struct header){SLICE("tracestate"), slice_from(state)};
    return request;
}

static void test_passed_on(void **state)
{
    struct request request = with(PARENT, "vendor=1,other=a b");
    struct trace trace = trace_read(&request);

    (void)state;
    assert_true(slice_eq(trace.parent, SLICE(PARENT)));
    assert_true(slice_eq(trace.state, SLICE("vendor=1,other=a b")));
    assert_true(slice_eq(trace_id(&trace), SLICE("0af7651916cd43dd8448eb211c80319c")));
}

static void test_ill_formed(void **state)
{
    static const char *const bad[] = {
        "",
        "00",
        "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
        "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
        PARENT "-more",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct request request = with(bad[i], "vendor=1");
        struct trace trace = trace_read(&request);
        if (trace.parent.len > 0 || trace.state.len > 0 || trace_id(&trace).len > 0)
            fail_msg("\"%s\" was taken", bad[i]);
    }
}

static void test_state(void **state)
{
    char large[TRACE_STATE_BYTES + 2] = {0};
    struct request control = with(PARENT, "a=\x01");

    (void)state;
    for (size_t i = 0; i <= TRACE_STATE_BYTES; i++)
        large[i] = 'x';
    struct request request = with(PARENT, large);
    assert_int_equal(trace_read(&request).state.len, 0);
    assert_int_equal(trace_read(&request).parent.len, TRACE_PARENT_BYTES);
    assert_int_equal(trace_read(&control).state.len, 0);
}

static void test_repeated(void **state)
{
    struct request request = with(PARENT, "");

    (void)state;
    request.headers[1].name = SLICE("traceparent");
    request.headers[1].value = SLICE(PARENT);
    assert_int_equal(trace_read(&request).parent.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passed_on),
        cmocka_unit_test(test_ill_formed),
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_repeated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
