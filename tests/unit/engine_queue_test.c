/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include "relay/socketio/engine_queue.h"

/* What a queue says it has is what it costs, so that a limit on it is one on memory. */
static void test_small_messages_weigh(void **state)
{
    enum { COUNT = 1000, LEAST = 64 };
    struct queue queue = {0}, more = {0};

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        struct engine_message *message = engine_message_frame(WEBSOCKET_PONG, SLICE(""));
        queue_add(i % 2 == 0 ? &queue : &more, message);
        engine_message_drop(message);
    }
    queue_append(&queue, &more);
    assert_true(queue.bytes >= (size_t)COUNT * LEAST);
    assert_int_equal(more.bytes, 0);
    queue_clear(&queue);
    assert_int_equal(queue.bytes, 0);
    assert_null(queue.first);
}

static void test_a_body_has_room(void **state)
{
    struct queue queue = {0};
    struct buf body = BUF_INIT(1024);

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct engine_message *message = engine_message_new(SLICE("\x01\x02"), i % 2 == 0);
        queue_add(&queue, message);
        engine_message_drop(message);
    }
    size_t most = queue_body_max(&queue);
    queue_take(&queue, &body);
    assert_string_equal(buf_text(&body), "bAQI=\x1e"
                                         "4\x01\x02\x1e"
                                         "bAQI=");
    assert_true(body.len <= most);
    assert_int_equal(queue.bytes, 0);
    buf_release(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_messages_weigh),
        cmocka_unit_test(test_a_body_has_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
