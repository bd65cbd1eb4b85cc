/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <string.h>

#include "relay/socketio/engine_packet.h"

enum { LIMIT = 12 };

static void test_text_frames(void **state)
{
    struct engine_packet packet = {0};

    (void)state;
    for (int type = ENGINE_OPEN; type <= ENGINE_NOOP; type++) {
        const char text[] = {(char)('0' + type), 'h', 'i'};
        assert_true(engine_packet_parse((struct slice){text, 3}, &packet));
        assert_int_equal(packet.type, type);
        assert_false(packet.binary);
        assert_true(slice_eq(packet.data, SLICE("hi")));
        assert_true(engine_packet_parse((struct slice){text, 1}, &packet));
        assert_int_equal(packet.data.len, 0);
    }
    assert_false(engine_packet_parse(SLICE(""), &packet));
    assert_false(engine_packet_parse(SLICE("7"), &packet));
    assert_false(engine_packet_parse(SLICE("abc"), &packet));
    assert_false(engine_packet_parse(SLICE("bAQID"), &packet)); /* only in a polling body */
    assert_false(engine_packet_parse(SLICE("/"), &packet));
    assert_false(engine_packet_parse(SLICE("\x1e"), &packet));
}

/* What stands in a polling body: `4hi`, binary as `b` and the bytes, `!` for a refusal;
 * a zero byte as `@`. */
static void read_body(struct slice body, struct buf *story, struct buf *again)
{
    struct buf bytes = BUF_INIT(LIMIT);
    struct engine_packet packet = {0};

    do {
        if (!engine_payload_next(&body, &bytes, &packet)) {
            buf_append_char(story, '!');
            break;
        }
        buf_appendf(story, "[%c", packet.binary ? 'b' : '0' + (int)packet.type);
        for (size_t i = 0; i < packet.data.len; i++)
            buf_append_char(story, packet.data.data[i] ? packet.data.data[i] : '@');
        buf_append_char(story, ']');
        engine_payload_append(again, &packet);
    } while (body.len > 0);
    buf_release(&bytes);
}

static void test_bodies(void **state)
{
    static const struct {
        const char *body, *story;
    } cases[] = {
        {"4hello", "[4hello]"},
        {"4", "[4]"},
        {"2\x1e"
         "3\x1e"
         "6",
         "[2][3][6]"},
        {"4a\x1e"
         "bAQID\x1e"
         "4b",
         "[4a][b\x01\x02\x03][4b]"},
        {"b", "[b]"},
        {"bAA==", "[b@]"},
        {"bMDEyMzQ1Njc4OUFC", "[b0123456789AB]"}, /* as much as there may be */
        {"bMDEyMzQ1Njc4OUE=", "[b0123456789A]"},
        {"4\xc3\xa9\x1e"
         "4\xf0\x9f\x98\x80",
         "[4\xc3\xa9][4\xf0\x9f\x98\x80]"},
        {"", "!"},
        {"abc", "!"},
        {"7", "!"},
        {"4a\x1e", "!"},
        {"\x1e"
         "4a",
         "!"},
        {"4a\x1e\x1e"
         "4b",
         "[4a]!"},
        {"4a\x1e"
         "x",
         "[4a]!"},
        {"bAQI", "!"},
        {"bA-_=", "!"},
        {"b====", "!"},
        {"bAQID\n", "!"},
        {"bMDEyMzQ1Njc4OUFCQw==", "!"}, /* a byte more */
        {"4\xc3", "!"},
        {"4\xed\xa0\x80", "!"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf story = BUF_INIT(4096), again = BUF_INIT(4096);
        read_body(slice_from(cases[i].body), &story, &again);
        assert_string_equal(buf_text(&story), cases[i].story);
        if (!strchr(cases[i].story, '!'))
            assert_string_equal(buf_text(&again), cases[i].body);
        buf_release(&story);
        buf_release(&again);
    }
}

/* A body that is full refuses the packet and stays what it was. */
static void test_full_body(void **state)
{
    const struct engine_packet text = {.type = ENGINE_MESSAGE, .data = SLICE("abcdef")};
    const struct engine_packet binary = {
        .type = ENGINE_MESSAGE, .binary = true, .data = SLICE("abcdef")};
    struct buf body = BUF_INIT(16);

    (void)state;
    assert_true(engine_payload_append(&body, &text));
    assert_false(engine_payload_append(&body, &binary)); /* 7 + 1 + 9 */
    assert_string_equal(buf_text(&body), "4abcdef");
    body.overflow = false;
    assert_true(engine_payload_append(&body, &text));
    assert_string_equal(buf_text(&body), "4abcdef\x1e"
                                         "4abcdef");
    buf_release(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_frames),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_full_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
