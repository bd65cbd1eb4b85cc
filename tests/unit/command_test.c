/* SPDX-License-Identifier: Apache-2.0 */
/* Every command with what it needs, with all it may have, and with each thing that it must not. */
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/codec.h"
#include "relay/room/command.h"
#include "relay/room/declaration.h"

static json_t *parse(const char *text)
{
    char *json = mem_text(slice_from(text));

    for (char *at = strchr(json, '\''); at; at = strchr(at, '\''))
        *at = '"';
    json_t *value = json_loads(json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (!value)
        fail_msg("not JSON: %s", json);
    free(json);
    return value;
}

/* `why` NULL: it is fine; else what the error begins with. Takes the payload over. */
static void expect_json(const char *event, json_t *payload, const char *why)
{
    struct command command;
    struct err err = {0};

    bool read = command_read(command_kind(event), payload, &command, &err);
    if (read != (why == NULL))
        fail_msg("%s: %s", event, read ? "was read" : err.text);
    if (why && strncmp(err.text, why, strlen(why)) != 0)
        fail_msg("%s: \"%s\" does not begin with \"%s\"", event, err.text, why);
    if (!slice_is_utf8(slice_from(err.text)))
        fail_msg("the error is not UTF-8");
    json_decref(payload);
}

static void expect(const char *event, const char *payload, const char *why)
{
    expect_json(event, parse(payload), why);
}

static const struct {
    const char *event, *payload, *why;
} cases[] = {
    {"run:start", "{'threadId':'t','messageId':'m','input':'x'}", NULL},
    {"run:start",
     "{'threadId':'t','messageId':'m','input':'','attachments':[{'mediaType':'image/png'}]}", NULL},
    {"run:start", "{'threadId':'t','messageId':'m','input':'x','forkFromMessageId':'f'}", NULL},
    {"run:start", "{'threadId':'t','messageId':'m','input':''}", "input: is empty"},
    {"run:start", "{'threadId':'t','messageId':'m','input':'','attachments':[]}",
     "input: is empty"},
    {"run:start", "{'threadId':'t','messageId':'m'}", "input: is missing"},
    {"run:start", "{'messageId':'m','input':'x'}", "threadId: is missing"},
    {"run:start", "{'threadId':'t','input':'x'}", "messageId: is missing"},
    {"run:start", "{'threadId':'','messageId':'m','input':'x'}", "threadId: is empty"},
    {"run:start", "{'threadId':1,'messageId':'m','input':'x'}", "threadId: is not a string"},
    {"run:start", "{'threadId':null,'messageId':'m','input':'x'}", "threadId: is not a string"},
    {"run:start", "{'threadId':'t','messageId':['m'],'input':'x'}", "messageId: is not a string"},
    {"run:start", "{'threadId':'t','messageId':'m','input':{}}", "input: is not a string"},
    {"run:start", "{'threadId':'t','messageId':'m','input':'x','forkFromMessageId':null}",
     "forkFromMessageId: is not a string"},
    {"run:start", "{'threadId':'t','messageId':'m','input':'x','Input':'x'}",
     "Input: is not a known field"},
    {"run:start", "{'threadId':'t','messageId':'m','input':'x','__proto__':{}}",
     "__proto__: is not a known field"},
    {"run:start", "{'threadId':'t','messageId':'m','input':'x','answer':1}",
     "answer: is not a known field"},
    {"run:start", "[]", "the payload is not an object"},
    {"run:start", "null", "the payload is not an object"},
    {"run:start", "'x'", "the payload is not an object"},
    {"run:start", "{}", "threadId: is missing"},
    {"run:resume", "{'threadId':'t','interruptId':'i','answer':{'take':true}}", NULL},
    {"run:resume", "{'threadId':'t','interruptId':'i','answer':null}", NULL},
    {"run:resume", "{'threadId':'t','interruptId':'i','answer':false,'clientTools':[]}", NULL},
    {"run:resume", "{'threadId':'t','interruptId':'i'}", "answer: is missing"},
    {"run:resume", "{'threadId':'t','answer':1}", "interruptId: is missing"},
    {"run:resume", "{'threadId':'t','interruptId':'i','answer':1,'input':'x'}",
     "input: is not a known field"},
    {"run:cancel", "{'runId':'r'}", NULL},
    {"run:cancel", "{'runId':'r','threadId':'t'}", "threadId: is not a known field"},
    {"run:cancel", "{'runId':''}", "runId: is empty"},
    {"run:cancel", "{}", "runId: is missing"},
    {"run:detach", "{'runId':'r'}", NULL},
    {"run:detach", "{'runId':'r','toolCallId':'c'}", NULL},
    {"run:detach", "{'runId':'r','toolCallId':7}", "toolCallId: is not a string"},
    {"run:detach", "{'toolCallId':'c'}", "runId: is missing"},
    {"thread:messages", "{'threadId':'t'}", NULL},
    {"thread:messages", "{'threadId':'t','limit':1}", "limit: is not a known field"},
    {"thread:messages", "{'threadId':'a\\u0000'}", "threadId: has a NUL"},
    {"run:resume", "{'threadId':'t','interruptId':'i\\u0000x','answer':1}",
     "interruptId: has a NUL"},
    {"thread:messages", "{'threadId':{}}", "threadId: is not a string"},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect(cases[i].event, cases[i].payload, cases[i].why);
}

static void test_no_argument(void **state)
{
    (void)state;
    expect_json("run:cancel", NULL, "the payload is not an object");
}

static void test_what_is_read(void **state)
{
    struct command command;
    struct err err;
    json_t *start = parse("{'threadId':'t','messageId':'m','input':'x','forkFromMessageId':'f',"
                          "'attachments':[{'mediaType':'image/gif'}],'clientTools':[]}");
    json_t *detach = parse("{'runId':'r','toolCallId':'c'}");

    (void)state;
    assert_true(command_read(COMMAND_START, start, &command, &err));
    assert_true(slice_eq(command.thread, SLICE("t")));
    assert_true(slice_eq(command.message, SLICE("m")));
    assert_true(slice_eq(command.input, SLICE("x")));
    assert_true(slice_eq(command.fork_from, SLICE("f")));
    assert_int_equal(json_array_size(command.attachments), 1);
    assert_non_null(command.tools);
    assert_null(command.answer);
    assert_true(command_read(COMMAND_DETACH, detach, &command, &err));
    assert_int_equal(command.kind, COMMAND_DETACH);
    assert_true(slice_eq(command.run, SLICE("r")));
    assert_true(slice_eq(command.tool_call, SLICE("c")));
    assert_int_equal(command.thread.len, 0);
    json_decref(start);
    json_decref(detach);
}

static void test_names(void **state)
{
    (void)state;
    assert_int_equal(command_kind("run:start"), COMMAND_START);
    assert_int_equal(command_kind("thread:messages"), COMMAND_MESSAGES);
    assert_int_equal(command_kind("run:Start"), COMMAND_NONE);
    assert_int_equal(command_kind(""), COMMAND_NONE);
    assert_string_equal(command_name(COMMAND_DETACH), "run:detach");
}

/* `count` times `character`. */
static json_t *repeated(const char *character, size_t count)
{
    struct buf text = BUF_INIT(1024 * 1024);

    for (size_t i = 0; i < count; i++)
        buf_append(&text, slice_from(character));
    json_t *string = json_stringn(buf_text(&text), text.len);
    buf_release(&text);
    return string;
}

static void expect_input(const char *character, size_t count, const char *why)
{
    json_t *payload = json_pack("{s:s, s:s, s:o}", "threadId", "t", "messageId", "m", "input",
                                repeated(character, count));

    expect_json("run:start", payload, why);
}

/* A JavaScript client counts UTF-16 code units: one up to U+FFFF, two beyond. */
static void test_input_length(void **state)
{
    (void)state;
    expect_input("x", 16000, NULL);
    expect_input("x", 16001, "input: has more than 16000 characters");
    expect_input("\xe2\x82\xac", 16000, NULL);
    expect_input("\xe2\x82\xac", 16001, "input: has more than 16000 characters");
    expect_input("\xf0\x9f\x98\x80", 8000, NULL);
    expect_input("\xf0\x9f\x98\x80", 8001, "input: has more than 16000 characters");
}

static void test_id_length(void **state)
{
    (void)state;
    expect_json("run:cancel", json_pack("{s:o}", "runId", repeated("\xc3\xa9", 256)), NULL);
    expect_json("run:cancel", json_pack("{s:o}", "runId", repeated("x", 257)),
                "runId: has more than 256 characters");
}

/* The error quotes a part of the key, and stays UTF-8. */
static void test_long_unknown_key(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 4; shift++) {
        struct buf key = BUF_INIT(4096);
        buf_append(&key, slice_first(SLICE("abcd"), shift));
        for (size_t i = 0; i < 400; i++)
            buf_append(&key, SLICE("\xf0\x9f\x98\x80"));
        json_t *payload = json_object();
        json_object_set_new(payload, buf_text(&key), json_null());
        expect_json("run:cancel", payload, "");
        buf_release(&key);
    }
}

static void expect_tools(const char *tools, const char *why)
{
    expect_json("run:resume",
                json_pack("{s:s, s:s, s:b, s:o}", "threadId", "t", "interruptId", "i", "answer", 1,
                          "clientTools", parse(tools)),
                why);
}

#define TOOL "{'name':'a_B-9','description':'','arguments':{},'kind':'blocking'}"

static void test_tools(void **state)
{
    (void)state;
    expect_tools("[" TOOL "]", NULL);
    expect_tools("[{'name':'a','description':'d','arguments':{},'kind':'blocking','result':{}},"
                 "{'name':'b','description':'d','arguments':{},'kind':'one-way'}]",
                 NULL);
    expect_tools("{}", "clientTools: is not an array");
    expect_tools("[1]", "clientTools[0]: is not an object");
    expect_tools("[" TOOL "," TOOL "]", "clientTools[1].name: is that of another tool");
    expect_tools("[{'description':'','arguments':{},'kind':'blocking'}]",
                 "clientTools[0].name: is missing");
    expect_tools("[{'name':'','description':'','arguments':{},'kind':'blocking'}]",
                 "clientTools[0].name: is not 1 to 64");
    expect_tools("[{'name':'a b','description':'','arguments':{},'kind':'blocking'}]",
                 "clientTools[0].name: is not 1 to 64");
    expect_tools("[{'name':'a\\u0000','description':'','arguments':{},'kind':'blocking'}]",
                 "clientTools[0].name: is not 1 to 64");
    expect_tools("[{'name':'a','arguments':{},'kind':'blocking'}]",
                 "clientTools[0].description: is missing");
    expect_tools("[{'name':'a','description':'','arguments':[],'kind':'blocking'}]",
                 "clientTools[0].arguments: is not an object");
    expect_tools("[{'name':'a','description':'','arguments':{},'kind':'one-Way'}]",
                 "clientTools[0].kind: is none of blocking, one-way");
    expect_tools("[{'name':'a','description':'','arguments':{},'kind':'blocking\\u0000'}]",
                 "clientTools[0].kind: has a NUL");
    expect_tools("[{'name':'a','description':'','arguments':{},'kind':'one-way','result':{}}]",
                 "clientTools[0].result: a one-way tool has none");
    expect_tools("[{'name':'a','description':'','arguments':{},'kind':'blocking','x':1}]",
                 "clientTools[0].x: is not a known field");
}

static void test_how_many_tools(void **state)
{
    (void)state;
    for (size_t count = DECLARED_TOOLS; count <= DECLARED_TOOLS + 1; count++) {
        json_t *tools = json_array();
        for (size_t i = 0; i < count; i++) {
            json_t *tool = parse(TOOL);
            char name[16];
            snprintf(name, sizeof(name), "t%zu", i);
            json_object_set_new(tool, "name", json_string(name));
            json_array_append_new(tools, tool);
        }
        expect_json("run:start",
                    json_pack("{s:s, s:s, s:s, s:o}", "threadId", "t", "messageId", "m", "input",
                              "x", "clientTools", tools),
                    count > DECLARED_TOOLS ? "clientTools: has more than 32 items" : NULL);
    }
}

static void expect_attachments(json_t *attachments, const char *why)
{
    expect_json("run:start",
                json_pack("{s:s, s:s, s:s, s:o}", "threadId", "t", "messageId", "m", "input", "",
                          "attachments", attachments),
                why);
}

static json_t *image(size_t len)
{
    unsigned char *bytes = mem_new(len);
    char *text = mem_new(BASE64_SIZE(len));

    base64_encode(bytes, len, text);
    json_t *list = json_pack("[{s:s, s:s}]", "mediaType", "image/webp", "data", text);
    free(bytes);
    free(text);
    return list;
}

static void test_attachments(void **state)
{
    (void)state;
    expect_attachments(parse("[{'mediaType':'image/jpeg','data':'AAAA','name':'a.jpg','size':3,"
                             "'id':'a1'}]"),
                       NULL);
    expect_attachments(parse("'x'"), "attachments: is not an array");
    expect_attachments(parse("[{}]"), "attachments[0].mediaType: is missing");
    expect_attachments(parse("[{'mediaType':'image/svg+xml'}]"),
                       "attachments[0].mediaType: is none of image/png");
    expect_attachments(parse("[{'mediaType':'image/png','data':'A'}]"),
                       "attachments[0].data: is not base64");
    expect_attachments(parse("[{'mediaType':'image/png','data':''}]"),
                       "attachments[0].data: is not base64");
    expect_attachments(parse("[{'mediaType':'image/png','size':0}]"),
                       "attachments[0].size: is not a number of bytes");
    expect_attachments(parse("[{'mediaType':'image/png','size':5242881}]"),
                       "attachments[0].size: has more than 5242880 bytes");
    expect_attachments(parse("[{'mediaType':'image/png'},{'mediaType':'image/png','url':'x'}]"),
                       "attachments[1].url: is not a known field");
}

static void test_how_many_attachments(void **state)
{
    (void)state;
    for (size_t count = DECLARED_ATTACHMENTS; count <= DECLARED_ATTACHMENTS + 1; count++) {
        json_t *list = json_array();
        for (size_t i = 0; i < count; i++)
            json_array_append_new(list, parse("{'mediaType':'image/png'}"));
        expect_attachments(list, count > DECLARED_ATTACHMENTS ? "attachments: has more than 8 items"
                                                              : NULL);
    }
}

static void test_size_of_attachments(void **state)
{
    (void)state;
    expect_attachments(image(DECLARED_ATTACHMENT_BYTES), NULL);
    expect_attachments(image(DECLARED_ATTACHMENT_BYTES + 1),
                       "attachments[0].data: has more than 5242880 bytes");
    expect_attachments(image(DECLARED_ATTACHMENT_BYTES + 3),
                       "attachments[0].data: has more than 5242880 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_no_argument),
        cmocka_unit_test(test_what_is_read),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_input_length),
        cmocka_unit_test(test_id_length),
        cmocka_unit_test(test_long_unknown_key),
        cmocka_unit_test(test_tools),
        cmocka_unit_test(test_how_many_tools),
        cmocka_unit_test(test_attachments),
        cmocka_unit_test(test_how_many_attachments),
        cmocka_unit_test(test_size_of_attachments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
