/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies and the memory that all of them may have. */
#include "tests/check.h"

#include "gateway/net/body.h"

enum { BODY_MOST = 65536, MEMORY = 100 * 1000, CROWD = 64 };

static char bytes[BODY_MOST + 1];

static bool grow(struct body *body, size_t len, enum http_fault *fault)
{
    return body_append(body, (struct slice){.data = bytes, .len = len}, fault);
}

static void test_one(void **state)
{
    struct bodies all = {.most = MEMORY};
    struct body body = {0};
    enum http_fault fault;

    (void)state;
    body_release(&body); /* never opened */
    body_open(&body, &all, BODY_MOST);
    assert_true(grow(&body, BODY_MOST, &fault));
    assert_true(all.held >= BODY_MOST);
    assert_false(grow(&body, 1, &fault));
    assert_int_equal(fault, FAULT_TOO_LARGE);
    assert_int_equal(body.bytes.len, BODY_MOST);
    body_release(&body);
    assert_int_equal(all.held, 0);
}

/* Large bodies stop at the limit, and one that ends makes room; small ones are never refused. */
static void test_full(void **state)
{
    struct bodies all = {.most = MEMORY};
    struct body large[CROWD], small[CROWD];
    enum http_fault fault = FAULT_BAD_REQUEST;
    size_t taken = 0;

    (void)state;
    for (size_t i = 0; i < CROWD; i++) {
        body_open(&large[i], &all, BODY_MOST);
        body_open(&small[i], &all, BODY_MOST);
    }
    while (taken < CROWD && grow(&large[taken], 10000, &fault))
        taken++;
    assert_int_equal(fault, FAULT_NO_ROOM);
    assert_true(taken > 1 && taken < CROWD);
    assert_int_equal(large[taken].bytes.len, 0);
    assert_true(all.held >= MEMORY && all.held < MEMORY + 2 * 16384);
    size_t full = all.held;
    for (size_t i = 0; i < CROWD; i++)
        assert_true(grow(&small[i], BODY_FREE_BYTES - 1, &fault));
    assert_int_equal(all.held, full);
    assert_false(grow(&small[0], 1, &fault));
    assert_true(grow(&large[0], 100, &fault)); /* it has the memory already */
    body_release(&large[0]);
    body_release(&large[1]);
    assert_true(grow(&small[0], 1, &fault));
    for (size_t i = 0; i < CROWD; i++) {
        body_release(&small[i]);
        body_release(&large[i]);
    }
    assert_int_equal(all.held, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
