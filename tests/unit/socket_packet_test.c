/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

#include "relay/socketio/socket_packet.h"

/* The text stands at the end of its memory, so that a sanitizer sees what is read beyond it. */
static bool parse(struct slice text, struct socket_packet *packet, char **copy, struct err *err)
{
    *copy = malloc(text.len > 0 ? text.len : 1);
    if (text.len > 0)
        memcpy(*copy, text.data, text.len);
    return socket_packet_parse((struct slice){*copy, text.len}, packet, err);
}

#define FFFD  "\xef\xbf\xbd"
#define SMILE "\xf0\x9f\x98\x80"

static const struct {
    const char *text;
    enum socket_packet_type type;
    const char *name_space;
    long long id; /* -1: none */
    unsigned attachments;
    const char *json;  /* NULL: none */
    const char *again; /* NULL: as `text` */
} packets[] = {
    {"0", SOCKET_CONNECT, "/", -1, 0, NULL, NULL},
    {"0{\"token\":\"123\"}", SOCKET_CONNECT, "/", -1, 0, "{\"token\":\"123\"}", NULL},
    {"0/custom,", SOCKET_CONNECT, "/custom", -1, 0, NULL, NULL},
    {"0/custom", SOCKET_CONNECT, "/custom", -1, 0, NULL, "0/custom,"},
    {"0/,{}", SOCKET_CONNECT, "/", -1, 0, "{}", "0{}"},
    {"0/custom,{\"a\":1}", SOCKET_CONNECT, "/custom", -1, 0, "{\"a\":1}", NULL},
    {"1", SOCKET_DISCONNECT, "/", -1, 0, NULL, NULL},
    {"1/admin,", SOCKET_DISCONNECT, "/admin", -1, 0, NULL, NULL},
    {"2[\"hello\",1]", SOCKET_EVENT, "/", -1, 0, "[\"hello\",1]", NULL},
    {"2[1,\"x\"]", SOCKET_EVENT, "/", -1, 0, "[1,\"x\"]", NULL},
    {"20[\"q\"]", SOCKET_EVENT, "/", 0, 0, "[\"q\"]", NULL},
    {"2/admin,456[\"project:delete\",123]", SOCKET_EVENT, "/admin", 456, 0,
     "[\"project:delete\",123]", NULL},
    {"29007199254740992[\"q\"]", SOCKET_EVENT, "/", 9007199254740992, 0, "[\"q\"]", NULL},
    {"2 [ \"a\" ] ", SOCKET_EVENT, "/", -1, 0, "[\"a\"]", "2[\"a\"]"},
    {"2[\"\xc3\xa9\",\"\xf0\x9f\x98\x80\"]", SOCKET_EVENT, "/", -1, 0,
     "[\"\xc3\xa9\",\"\xf0\x9f\x98\x80\"]", NULL},
    /* a placeholder is one only where attachments were announced */
    {"2[\"a\",{\"_placeholder\":true,\"num\":3}]", SOCKET_EVENT, "/", -1, 0,
     "[\"a\",{\"_placeholder\":true,\"num\":3}]", NULL},
    {"3/admin,456[]", SOCKET_ACK, "/admin", 456, 0, "[]", NULL},
    {"30[\"yes\",{\"a\":null}]", SOCKET_ACK, "/", 0, 0, "[\"yes\",{\"a\":null}]", NULL},
    {"4{\"message\":\"Not authorized\"}", SOCKET_CONNECT_ERROR, "/", -1, 0,
     "{\"message\":\"Not authorized\"}", NULL},
    {"4/nope,\"no\"", SOCKET_CONNECT_ERROR, "/nope", -1, 0, "\"no\"", NULL},
    {"51-[\"x\",{\"_placeholder\":true,\"num\":0}]", SOCKET_BINARY_EVENT, "/", -1, 1,
     "[\"x\",{\"_placeholder\":true,\"num\":0}]", NULL},
    {"52-/admin,7[\"x\",{\"_placeholder\":true,\"num\":1},{\"a\":[{\"_placeholder\":true,"
     "\"num\":0},{\"_placeholder\":false,\"num\":0}]}]",
     SOCKET_BINARY_EVENT, "/admin", 7, 2,
     "[\"x\",{\"_placeholder\":true,\"num\":1},{\"a\":[{\"_placeholder\":true,\"num\":0},"
     "{\"_placeholder\":false,\"num\":0}]}]",
     NULL},
    {"61-/admin,456[{\"_placeholder\":true,\"num\":0}]", SOCKET_BINARY_ACK, "/admin", 456, 1,
     "[{\"_placeholder\":true,\"num\":0}]", NULL},
    /* what JSON.stringify makes, and jansson has no room for */
    {"2[\"a\",\"x\\u0000y\"]", SOCKET_EVENT, "/", -1, 0, "[\"a\",\"x\\u0000y\"]", NULL},
    {"2[\"a\",{\"x\\u0000\":1}]", SOCKET_EVENT, "/", -1, 0, "[\"a\",{\"x" FFFD "\":1.0}]",
     "2[\"a\",{\"x" FFFD "\":1.0}]"},
    {"2[\"a\",\"\\ud800\",\"\\udfffx\",\"\\\\ud800\",\"\\uD83D\\uDE00\",\"\\ud83d\\ud83d\\ude00\"]",
     SOCKET_EVENT, "/", -1, 0,
     "[\"a\",\"" FFFD "\",\"" FFFD "x\",\"\\\\ud800\",\"" SMILE "\",\"" FFFD SMILE "\"]",
     "2[\"a\",\"" FFFD "\",\"" FFFD "x\",\"\\\\ud800\",\"" SMILE "\",\"" FFFD SMILE "\"]"},
    {"2[\"a\",9223372036854775808]", SOCKET_EVENT, "/", -1, 0, "[\"a\",9.2233720368547758e18]",
     "2[\"a\",9.2233720368547758e18]"},
    {"51-[\"a\",100000000000000000000,{\"_placeholder\":true,\"num\":0}]", SOCKET_BINARY_EVENT, "/",
     -1, 1, "[\"a\",1e20,{\"_placeholder\":true,\"num\":0.0}]",
     "51-[\"a\",1e20,{\"_placeholder\":true,\"num\":0.0}]"},
};

static void test_packets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
        struct socket_packet packet;
        struct err err = {""};
        struct buf again = BUF_INIT(4096);
        char *copy = NULL;

        if (!parse(slice_from(packets[i].text), &packet, &copy, &err))
            fail_msg("%s: %s", packets[i].text, err.text);
        assert_int_equal(packet.type, packets[i].type);
        assert_true(slice_eq(packet.name_space, slice_from(packets[i].name_space)));
        assert_int_equal(packet.has_id, packets[i].id >= 0);
        if (packet.has_id)
            assert_int_equal(packet.id, packets[i].id);
        assert_int_equal(packet.attachments, packets[i].attachments);
        char *json = packet.json ? json_dumps(packet.json, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
        assert_int_equal(json != NULL, packets[i].json != NULL);
        if (json)
            assert_string_equal(json, packets[i].json);
        free(json);
        assert_true(socket_packet_append(&again, &packet));
        assert_string_equal(buf_text(&again),
                            packets[i].again ? packets[i].again : packets[i].text);
        buf_release(&again);
        socket_packet_release(&packet);
        free(copy);
    }
}

#define HOLDER(num) "{\"_placeholder\":true,\"num\":" num "}"

static const struct {
    const char *text, *why;
} refusals[] = {
    {"", "unknown packet type"},
    {"7", "unknown packet type"},
    {"abc", "unknown packet type"},
    {"0[1]", "a CONNECT that is not an object"},
    {"0\"x\"", "a CONNECT that is not an object"},
    {"0null", "a CONNECT that is not an object"},
    {"0{", "bad JSON"},
    {"0{}x", "bad JSON"},
    {"05{}", "an id where none belongs"},
    {"1{}", "a DISCONNECT with a payload"},
    {"10", "an id where none belongs"},
    {"2", "an event that is not an array"},
    {"2{}", "an event that is not an array"},
    {"2\"a\"", "an event that is not an array"},
    {"2[]", "an event without a name"},
    {"2[{}]", "an event without a name"},
    {"2[null,1]", "an event without a name"},
    {"2[true]", "an event without a name"},
    {"2[\"connect\"]", "reserved name connect"},
    {"2[\"connect_error\"]", "reserved name connect_error"},
    {"2[\"disconnect\"]", "reserved name disconnect"},
    {"2[\"disconnecting\"]", "reserved name disconnecting"},
    {"2[\"newListener\"]", "reserved name newListener"},
    {"2[\"removeListener\"]", "reserved name removeListener"},
    {"51-[\"connect\"," HOLDER("0") "]", "reserved name connect"},
    {"2abc[\"a\"]", "bad JSON"},
    {"2[\"a\"", "bad JSON"},
    {"2[\"a\"]]", "bad JSON"},
    {"2['a']", "bad JSON"},
    {"2[\"a\",{\"b\":1,\"b\":2}]", "bad JSON"},
    {"2[\"a\\u0000\"]", "a NUL in its name"},
    {"2[\"\xff\"]", "bad JSON"},
    {"2[\"\\ud80\"]", "bad JSON"},
    {"2[\"\\u\xe2\x82\xac\xe2\x82\xac\"]", "bad JSON"},
    {"2[\"a\",\"\\ud800\",99999999999999999999", "bad JSON"},
    {"2-1[\"a\"]", "bad JSON"},
    {"2/admin[\"a\"]", "an event that is not an array"}, /* all of it is the namespace */
    {"29007199254740993[\"q\"]", "an id that is too large"},
    {"299999999999999999999999[\"q\"]", "an id that is too large"},
    {"3[]", "an acknowledgement without an id"},
    {"30", "an acknowledgement that is not an array"},
    {"30{}", "an acknowledgement that is not an array"},
    {"61-[" HOLDER("0") "]", "an acknowledgement without an id"},
    {"4", "a CONNECT_ERROR without a reason"},
    {"4[]", "a CONNECT_ERROR without a reason"},
    {"5[\"a\"]", "a count of attachments"},
    {"5-[\"a\"]", "a count of attachments"},
    {"50-[\"a\"]", "a count of attachments"},
    {"511-[\"a\"]", "a count of attachments"},
    {"51.5-[\"a\"]", "a count of attachments"},
    {"5+1-[\"a\"]", "a count of attachments"},
    {"51[\"a\"," HOLDER("0") "]", "a count of attachments"},
    {"599999999999999999999-[\"a\"]", "a count of attachments"},
    {"6-0[]", "a count of attachments"},
    {"51-[\"a\"]", "placeholders"},
    {"51-[\"a\"," HOLDER("1") "]", "placeholders"},
    {"51-[\"a\"," HOLDER("-1") "]", "placeholders"},
    {"51-[\"a\"," HOLDER("0.5") "]", "placeholders"},
    {"51-[\"a\"," HOLDER("\"0\"") "]", "placeholders"},
    {"51-[\"a\",{\"_placeholder\":true}]", "placeholders"},
    {"51-[\"a\"," HOLDER("4294967296") "]", "placeholders"},
    {"51-[\"a\"," HOLDER("0") "," HOLDER("0") "]", "placeholders"},
    {"52-[\"a\"," HOLDER("0") "]", "placeholders"},
    {"51-[\"a\",{\"_placeholder\":1,\"num\":0}]", "placeholders"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct socket_packet packet = {.id = 77};
        struct err err = {""};
        char *copy = NULL;

        if (parse(slice_from(refusals[i].text), &packet, &copy, &err))
            fail_msg("took %s", refusals[i].text);
        if (!strstr(err.text, refusals[i].why))
            fail_msg("%s: %s", refusals[i].text, err.text);
        assert_true(slice_is_utf8(slice_from(err.text)));
        assert_int_equal(packet.id, 77); /* untouched */
        free(copy);
    }
}

/* Of an event that is nested too deep its name is left, so that it can be refused by itself. */
static void test_too_deep(void **state)
{
    enum { LEVELS = 5000 };
    struct buf text = BUF_INIT(2 * LEVELS + 64);
    struct socket_packet packet;
    struct err err;

    (void)state;
    buf_append(&text, SLICE("27[\"a\","));
    for (int i = 0; i < LEVELS; i++)
        buf_append_char(&text, '[');
    for (int i = 0; i < LEVELS; i++)
        buf_append_char(&text, ']');
    buf_append_char(&text, ']');
    assert_true(socket_packet_parse(buf_slice(&text), &packet, &err));
    assert_true(packet.has_id);
    assert_string_equal(json_string_value(json_array_get(packet.json, 0)), "a");
    assert_true(json_is_null(json_array_get(packet.json, 1)));
    socket_packet_release(&packet);
    text.data[2] = '{'; /* not an array */
    assert_false(socket_packet_parse(buf_slice(&text), &packet, &err));
    memset(text.data + 2, '[', 5); /* no name */
    assert_false(socket_packet_parse(buf_slice(&text), &packet, &err));
    buf_release(&text);
}

/* Cut anywhere, a packet is either refused or one of its own; nothing is read beyond it. */
static void test_cut_anywhere(void **state)
{
    const char *const texts[] = {"52-/admin,12[\"x\"," HOLDER("0") "," HOLDER("1") "]",
                                 "0/custom,{\"a\":{\"b\":[1,2.5,true,null]}}",
                                 "3/admin,456[\"\xc3\xa9\"]"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        for (size_t len = 0; len <= strlen(texts[i]); len++) {
            struct socket_packet packet = {0};
            char *copy = NULL;
            bool fine = parse((struct slice){texts[i], len}, &packet, &copy, NULL);
            assert_true(fine || len < strlen(texts[i]));
            if (fine && len < strlen(texts[i]))
                assert_null(packet.json);
            socket_packet_release(&packet);
            free(copy);
        }
}

static void test_limits(void **state)
{
    struct buf text = BUF_INIT(4096), out = BUF_INIT(8);
    struct socket_packet packet = {0};
    struct err err;

    (void)state;
    buf_append(&text, SLICE("0/"));
    for (int i = 1; i < SOCKET_NAMESPACE_MAX; i++)
        buf_append_char(&text, 'n');
    assert_true(socket_packet_parse(buf_slice(&text), &packet, &err));
    assert_int_equal(packet.name_space.len, SOCKET_NAMESPACE_MAX);
    buf_append_char(&text, 'n');
    assert_false(socket_packet_parse(buf_slice(&text), &packet, &err));

    assert_true(socket_packet_parse(SLICE("2[\"abcdef\"]"), &packet, &err));
    assert_false(socket_packet_append(&out, &packet)); /* 11 bytes into 8 */
    assert_true(out.overflow);
    socket_packet_release(&packet);
    buf_release(&text);
    buf_release(&out);
}

/* Nesting costs a refusal, not the process. */
static void test_depth(void **state)
{
    struct buf text = BUF_INIT(1 << 20);
    struct socket_packet packet;
    struct err err;

    (void)state;
    buf_append(&text, SLICE("2"));
    for (int i = 0; i < 100000; i++)
        buf_append_char(&text, '[');
    assert_false(socket_packet_parse(buf_slice(&text), &packet, &err));
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packets),  cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_too_deep), cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_limits),   cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
