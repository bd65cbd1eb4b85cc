/* SPDX-License-Identifier: Apache-2.0 */
/* The server over a fake engine. Each case is what a client sends and what it gets; the application
 * behind it tells its part in `story`. */
#include "tests/unit/socketio/fake_engine.h"

#include <stdlib.h>
#include <string.h>

#include "relay/socketio/socketio.h"
#include "tests/check.h"

enum { TIMEOUT_MS = 60000, ACKS = 3, PAYLOAD = 64 };

static struct rig {
    uv_loop_t loop;
    struct turn turn;
    struct socketio *server;
    struct engine *engine;
    struct buf story;
    struct socketio_ack *held; /* of event "hold" */
    struct socketio_socket *last;
    unsigned sockets;
    bool closed;
} rig;

static void tell(const char *what, const char *detail)
{
    buf_appendf(&rig.story, "%s%s(%s)", rig.story.len > 0 ? " " : "", what, detail);
}

#define assert_story(expected)                                                                     \
    assert_string_equal(buf_text(&rig.story), expected);                                           \
    buf_clear(&rig.story)

/* ---- the application */

static bool on_connect(void *context, struct socketio_socket *socket, json_t *auth,
                       const struct request *handshake, void **user, struct err *why)
{
    struct slice token = SLICE("");
    const char *name = json_string_value(json_object_get(auth, "name"));

    assert_non_null(socket);
    request_header(handshake, SLICE("authorization"), &token);
    if (slice_eq(token, SLICE("wrong")))
        return err_set(why, "Not \"you\"");
    if (name && strcmp(name, "silent") == 0)
        return false;
    *user = mem_text(slice_from(name ? name : context));
    rig.sockets++;
    rig.last = socket;
    tell("connect", *user);
    return true;
}

static void on_connected(void *user, struct socketio_socket *socket)
{
    socketio_emit(socket, "welcome", json_string(user));
}

static void on_answer(void *context, const struct socketio_arguments *arguments)
{
    char *text = arguments ? json_dumps(arguments->json, JSON_COMPACT) : NULL;

    assert_ptr_equal(context, &rig);
    tell("answer", text ? text : "none");
    free(text);
}

static void echo(struct socketio_socket *socket, const struct socketio_arguments *arguments)
{
    struct socketio_packet *packet = socketio_event("/", "echo", arguments);

    socketio_send(socket, packet);
    socketio_packet_drop(packet);
}

static void on_event(void *user, struct socketio_socket *socket, const char *name,
                     const struct socketio_arguments *arguments, struct socketio_ack *ack)
{
    tell(user, name);
    if (strcmp(name, "echo") == 0)
        echo(socket, arguments);
    if (strcmp(name, "bye") == 0) {
        socketio_disconnect(socket);
        socketio_disconnect(socket); /* once is enough */
        socketio_emit(socket, "not sent", NULL);
        assert_false(socketio_ask(socket, "not asked", json_null(), 1, on_answer, &rig));
    }
    if (strcmp(name, "hold") == 0)
        rig.held = ack;
    else if (strcmp(name, "answer") == 0)
        socketio_acknowledge(ack, arguments);
    else if (strcmp(name, "nothing") == 0)
        socketio_acknowledge(ack, NULL);
    else if (strcmp(name, "never") != 0)
        socketio_ack_drop(ack);
}

static void on_disconnected(void *user, struct socketio_socket *socket, const char *why)
{
    socketio_emit(socket, "too late", NULL);
    socketio_disconnect(socket);
    tell("disconnected", user);
    tell("because", why);
    rig.sockets--;
    free(user);
}

static int open_rig(int64_t connect_timeout_ms)
{
    static const struct socketio_namespace root = {"/",      on_connect,      on_connected,
                                                   on_event, on_disconnected, "root"};
    static const struct socketio_namespace other = {"/other", on_connect,      NULL,
                                                    on_event, on_disconnected, "other"};
    static const struct socketio_namespace *const both[] = {&root, &other, NULL};
    const struct socketio_settings settings = {
        .engine = {.max_payload = PAYLOAD},
        .connect_timeout_ms = connect_timeout_ms,
        .acks_pending = ACKS,
    };

    rig = (struct rig){.story = BUF_INIT(10000)};
    uv_loop_init(&rig.loop);
    turn_open(&rig.turn, &rig.loop);
    rig.server = socketio_open(&rig.turn, &settings, both);
    rig.engine = socketio_engine(rig.server);
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    return open_rig(TIMEOUT_MS);
}

static int set_up_impatient(void **state)
{
    (void)state;
    return open_rig(20);
}

static void on_closed(void *context)
{
    assert_ptr_equal(context, &rig);
    assert_int_equal(rig.sockets, 0);
    rig.closed = true;
}

static int tear_down(void **state)
{
    (void)state;
    socketio_close(rig.server, on_closed, &rig);
    while (!rig.closed)
        uv_run(&rig.loop, UV_RUN_NOWAIT);
    turn_close(&rig.turn);
    uv_run(&rig.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&rig.loop), 0);
    assert_int_equal(fake_messages(), 0);
    buf_release(&rig.story);
    return 0;
}

/* ---- the client */

static struct engine_session *open_session(const char *token)
{
    struct request *request = mem_new(sizeof(*request)); /* gone when the handshake is answered */

    request->headers[0] = (struct header){SLICE("Host"), SLICE("h")};
    request->headers[1] = (struct header){SLICE("Authorization"), slice_from(token)};
    request->header_count = 2;
    struct engine_session *session = fake_open(rig.engine, request);
    free(request);
    return session;
}

/* Cuts what is different each time out of a CONNECT answer. */
static const char *without_sid(const char *sent)
{
    static char text[10000];
    const char *sid = strstr(sent, "\"sid\":\"");

    snprintf(text, sizeof(text), "%s", sent);
    if (!sid)
        return text;
    sid += strlen("\"sid\":\"");
    assert_int_equal(strcspn(sid, "\""), 20);
    snprintf(text, sizeof(text), "%.*s*%s", (int)(sid - sent), sent, sid + 20);
    return text;
}

#define assert_sent(session, expected)                                                             \
    assert_string_equal(without_sid(fake_sent(session)), expected)

/* A session in namespace "/" under that name. */
static struct engine_session *join(const char *name)
{
    struct engine_session *session = open_session("");
    char connect[100];

    snprintf(connect, sizeof(connect), "0{\"name\":\"%s\"}", name);
    fake_text(session, connect);
    fake_sent(session);
    buf_clear(&rig.story);
    return session;
}

/* Lets time pass until something was told; the test's own time-out ends a wait in vain. */
static void wait_for_story(void)
{
    while (rig.story.len == 0)
        uv_run(&rig.loop, UV_RUN_ONCE);
}

/* ---- connecting */

static void test_connect(void **state)
{
    struct engine_session *session = open_session("");

    (void)state;
    assert_sent(session, "");
    fake_text(session, "0");
    assert_sent(session, "0{\"sid\":\"*\"}|2[\"welcome\",\"root\"]");
    fake_text(session, "0/other,{\"name\":\"bob\"}");
    assert_sent(session, "0/other,{\"sid\":\"*\"}");
    fake_text(session, "2[\"echo\",1]");
    assert_sent(session, "2[\"echo\",1]");
    fake_text(session, "2/other,[\"x\"]");
    assert_sent(session, "");
    fake_lose(session, "transport close");
    assert_story("connect(root) connect(bob) root(echo) bob(x) disconnected(bob) "
                 "because(transport close) disconnected(root) because(transport close)");
}

static void test_sids_differ(void **state)
{
    struct engine_session *first = open_session(""), *second = open_session("");
    char sid[100];

    (void)state;
    fake_text(first, "0/other");
    fake_text(second, "0/other");
    snprintf(sid, sizeof(sid), "%s", fake_sent(first));
    assert_string_not_equal(sid, fake_sent(second));
}

static void test_refused(void **state)
{
    struct engine_session *session = open_session("wrong"), *silent = open_session("");

    (void)state;
    fake_text(session, "0{}");
    assert_sent(session, "4{\"message\":\"Not \\\"you\\\"\"}");
    fake_text(session, "0/nope,{}");
    assert_sent(session, "4/nope,{\"message\":\"Invalid namespace\"}");
    fake_text(session, "0/other"); /* the session stays open */
    assert_sent(session, "4/other,{\"message\":\"Not \\\"you\\\"\"}");
    fake_text(silent, "0{\"name\":\"silent\"}");
    assert_sent(silent, "4{\"message\":\"Not authorized\"}");
    fake_text(silent, "0");
    assert_sent(silent, "0{\"sid\":\"*\"}|2[\"welcome\",\"root\"]");
    assert_story("connect(root)");
}

static void test_connect_timeout(void **state)
{
    struct engine_session *session = open_session("wrong"), *joined = open_session("");

    (void)state;
    fake_text(session, "0"); /* refused: that does not count */
    fake_text(joined, "0");
    fake_sent(joined);
    while (engine_session_count(rig.engine) > 1)
        uv_run(&rig.loop, UV_RUN_ONCE);
    assert_sent(joined, "");
    assert_story("connect(root)");
    fake_text(joined, "1"); /* in no namespace any more */
    while (engine_session_count(rig.engine) > 0)
        uv_run(&rig.loop, UV_RUN_ONCE);
    assert_story("disconnected(root) because(client namespace disconnect)");
}

/* ---- leaving */

static void test_client_leaves(void **state)
{
    struct engine_session *session = join("ann");

    (void)state;
    fake_text(session, "0/other");
    fake_text(session, "1");
    assert_story("connect(other) disconnected(ann) because(client namespace disconnect)");
    fake_text(session, "2/other,[\"still\"]");
    fake_text(session, "0"); /* and comes back */
    assert_story("other(still) connect(root)");
    fake_sent(session);
    fake_text(session, "1/other,");
    fake_text(session, "2/other,[\"x\"]"); /* where it is not */
    assert_sent(session, "(end)");
    buf_clear(&rig.story);
    fake_turn(rig.engine);
    assert_story("disconnected(root) because(parse error)");
}

static void test_server_sends_away(void **state)
{
    struct engine_session *session = join("ann");

    (void)state;
    fake_text(session, "2[\"bye\"]");
    fake_text(session, "2[\"echo\"]"); /* was on its way */
    fake_text(session, "1");
    assert_sent(session, "1");
    assert_story("ann(bye)");
    fake_turn(rig.engine);
    assert_story("disconnected(ann) because(server namespace disconnect)");
    fake_text(session, "0"); /* the session is still there */
    assert_sent(session, "0{\"sid\":\"*\"}|2[\"welcome\",\"root\"]");
}

static void test_sent_away_and_back_in_one_turn(void **state)
{
    struct engine_session *session = join("ann");

    (void)state;
    fake_text(session, "2[\"bye\"]");
    fake_text(session, "0{\"name\":\"ann again\"}");
    assert_story("ann(bye) disconnected(ann) because(server namespace disconnect) "
                 "connect(ann again)");
    fake_turn(rig.engine);
    assert_sent(session, "1|0{\"sid\":\"*\"}|2[\"welcome\",\"ann again\"]");
    assert_story("");
}

static void test_sent_away_and_gone_in_one_turn(void **state)
{
    struct engine_session *session = join("ann");

    (void)state;
    fake_text(session, "2[\"bye\"]");
    fake_lose(session, "transport close");
    fake_turn(rig.engine);
    assert_story("ann(bye) disconnected(ann) because(transport close)");
}

/* ---- events and acknowledgements */

static void test_events(void **state)
{
    struct engine_session *session = join("ann");

    (void)state;
    fake_text(session, "2[\"echo\",1,{\"a\":[null,true]},\"\xc3\xa9\"]");
    assert_sent(session, "2[\"echo\",1,{\"a\":[null,true]},\"\xc3\xa9\"]");
    fake_text(session, "2[12,3]");
    fake_text(session, "2[1.5]");
    assert_story("ann(echo) ann(12) ann(1.5)");
    assert_sent(session, "");
}

static void test_acknowledge(void **state)
{
    struct engine_session *session = join("ann");

    (void)state;
    fake_text(session, "20[\"answer\",1,\"x\"]");
    assert_sent(session, "30[1,\"x\"]");
    fake_text(session, "29007199254740992[\"nothing\",1]");
    assert_sent(session, "39007199254740992[]");
    fake_text(session, "27[\"unknown\"]");
    assert_sent(session, "");
    fake_text(session, "28[\"hold\"]");
    assert_sent(session, "");
    socketio_acknowledge(rig.held, NULL);
    assert_sent(session, "38[]");
}

static void test_acknowledge_who_is_gone(void **state)
{
    struct engine_session *session = join("ann");

    (void)state;
    fake_text(session, "20[\"hold\"]");
    fake_lose(session, "ping timeout");
    socketio_acknowledge(rig.held, NULL);
    session = join("bob");
    fake_text(session, "20[\"hold\"]");
    fake_text(session, "1");
    socketio_ack_drop(rig.held);
    assert_sent(session, "");
}

static void test_too_many_wanted(void **state)
{
    struct engine_session *session = join("ann");
    struct socketio_ack *held[ACKS];

    (void)state;
    for (int i = 0; i < ACKS; i++) {
        fake_text(session, "21[\"hold\"]");
        held[i] = rig.held;
    }
    socketio_acknowledge(held[1], NULL);
    fake_text(session, "21[\"hold\"]");
    held[1] = rig.held;
    assert_sent(session, "31[]");
    buf_clear(&rig.story);
    fake_text(session, "21[\"hold\"]");
    assert_sent(session, "(end)");
    fake_turn(rig.engine);
    assert_story("disconnected(ann) because(too many acknowledgements)");
    for (int i = 0; i < ACKS; i++)
        socketio_ack_drop(held[i]);
}

static void test_ask(void **state)
{
    struct engine_session *session = join("ann");

    (void)state;
    assert_true(socketio_ask(rig.last, "q", json_integer(7), TIMEOUT_MS, on_answer, &rig));
    assert_true(socketio_ask(rig.last, "r", NULL, TIMEOUT_MS, on_answer, &rig));
    assert_true(socketio_ask(rig.last, "s", NULL, TIMEOUT_MS, on_answer, &rig));
    assert_false(socketio_ask(rig.last, "t", json_integer(7), TIMEOUT_MS, on_answer, &rig));
    assert_sent(session, "20[\"q\",7]|21[\"r\"]|22[\"s\"]");
    fake_text(session, "31[\"second\"]");
    fake_text(session, "31[\"twice\"]");
    fake_text(session, "399[\"unknown\"]");
    fake_text(session, "30[\"first\",1]");
    assert_story("answer([\"second\"]) answer([\"first\",1])");
    fake_lose(session, "transport close");
    assert_story("answer(none) disconnected(ann) because(transport close)");
}

static void test_ask_times_out(void **state)
{
    struct engine_session *session = join("ann");

    (void)state;
    assert_true(socketio_ask(rig.last, "q", NULL, 5, on_answer, &rig));
    wait_for_story();
    assert_story("answer(none)");
    fake_text(session, "30[\"late\"]");
    assert_story("");
}

/* ---- binary */

static void test_binary(void **state)
{
    struct engine_session *session = join("ann");

    (void)state;
    fake_text(session, "52-0[\"answer\",{\"_placeholder\":true,\"num\":1},"
                       "{\"a\":{\"_placeholder\":true,\"num\":0}}]");
    fake_binary(session, (struct slice){"\1\0\2", 3});
    assert_story("");
    fake_binary(session, (struct slice){0});
    assert_story("ann(answer)");
    assert_sent(session, "62-0[{\"_placeholder\":true,\"num\":1},"
                         "{\"a\":{\"_placeholder\":true,\"num\":0}}]|010002|");
    fake_text(session, "51-[\"echo\",{\"_placeholder\":true,\"num\":0}]");
    fake_binary(session, SLICE("z"));
    assert_sent(session, "51-[\"echo\",{\"_placeholder\":true,\"num\":0}]|7a");
    assert_true(socketio_ask(rig.last, "q", NULL, TIMEOUT_MS, on_answer, &rig));
    fake_text(session, "61-0[{\"_placeholder\":true,\"num\":0}]");
    fake_binary(session, SLICE("z"));
    assert_story("ann(echo) answer([{\"_placeholder\":true,\"num\":0}])");
}

static void test_attachment_never_sent(void **state)
{
    struct engine_session *session = join("ann");

    (void)state;
    fake_text(session, "51-[\"echo\",{\"_placeholder\":true,\"num\":0}]");
    wait_for_story();
    assert_story("disconnected(ann) because(attachment timeout)");
}

/* Each is sent by a client in "/"; none reaches the application, all end the session. */
static void test_what_ends_the_session(void **state)
{
    static const char holder[] = "51-[\"x\",{\"_placeholder\":true,\"num\":0}]";
    static const struct {
        const char *texts[3]; /* NULL: a binary message of PAYLOAD + 1 bytes, "": of 1 byte */
        size_t count;
    } cases[] = {
        {{"0"}, 1},
        {{"0{}"}, 1},
        {{"0[1]"}, 1},
        {{"4{\"message\":\"x\"}"}, 1},
        {{"2/other,[\"x\"]"}, 1},
        {{"2/nope,[\"x\"]"}, 1},
        {{"1/other,"}, 1},
        {{"3/other,0[]"}, 1},
        {{"2[\"disconnect\"]"}, 1},
        {{"2[]"}, 1},
        {{"abc"}, 1},
        {{""}, 1},
        {{"51-/other,[\"x\",{\"_placeholder\":true,\"num\":0}]"}, 1}, /* not waited for */
        {{holder, "2[\"x\"]"}, 2},
        {{holder, holder}, 2},
        {{holder, NULL}, 2},
        {{NULL}, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct engine_session *session = join("ann");
        char bytes[PAYLOAD + 1] = "";
        for (size_t j = 0; j < cases[i].count; j++) {
            assert_sent(session, "");
            if (!cases[i].texts[j])
                fake_binary(session, (struct slice){bytes, sizeof(bytes)});
            else
                fake_text(session, cases[i].texts[j]);
        }
        fake_text(session, "2[\"ignored\"]");
        fake_binary(session, SLICE("ignored"));
        if (strcmp(fake_sent(session), "(end)") != 0)
            fail_msg("case %zu was taken", i);
        fake_turn(rig.engine);
        assert_story("disconnected(ann) because(parse error)");
        assert_int_equal(engine_session_count(rig.engine), 0);
    }
}

/* ---- broadcast and the end */

static void test_one_packet_for_many(void **state)
{
    struct engine_session *sessions[3] = {0};
    struct socketio_socket *sockets[3] = {0};
    const struct slice attachment = SLICE("z");
    json_t *json = json_pack("[{s:b,s:i}]", "_placeholder", 1, "num", 0);
    const struct socketio_arguments arguments = {json, &attachment, 1};

    (void)state;
    for (int i = 0; i < 3; i++) {
        sessions[i] = join("ann");
        sockets[i] = rig.last;
    }
    unsigned before = fake_messages();
    struct socketio_packet *packet = socketio_event("/", "all", &arguments);
    assert_int_equal(fake_messages(), before + 2);
    for (int i = 0; i < 3; i++)
        socketio_send(sockets[i], packet);
    assert_int_equal(fake_messages(), before + 2);
    socketio_packet_drop(socketio_packet_hold(packet));
    socketio_packet_drop(packet);
    for (int i = 0; i < 3; i++)
        assert_sent(sessions[i], "51-[\"all\",{\"_placeholder\":true,\"num\":0}]|7a");
    json_decref(json);
}

/* What is open, asked, wanted and half arrived when the server closes is let go. */
static void test_close_in_the_middle(void **state)
{
    struct engine_session *session = join("ann");

    (void)state;
    assert_true(socketio_ask(rig.last, "q", NULL, TIMEOUT_MS, on_answer, &rig));
    fake_text(session, "20[\"hold\"]");
    fake_text(session, "51-[\"x\",{\"_placeholder\":true,\"num\":0}]");
    open_session("");
    socketio_ack_drop(rig.held);
    assert_story("ann(hold)");
}

#define CASE(test)      cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define IMPATIENT(test) cmocka_unit_test_setup_teardown(test, set_up_impatient, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_connect),
        CASE(test_sids_differ),
        CASE(test_refused),
        IMPATIENT(test_connect_timeout),
        CASE(test_client_leaves),
        CASE(test_server_sends_away),
        CASE(test_sent_away_and_back_in_one_turn),
        CASE(test_sent_away_and_gone_in_one_turn),
        CASE(test_events),
        CASE(test_acknowledge),
        CASE(test_acknowledge_who_is_gone),
        CASE(test_too_many_wanted),
        CASE(test_ask),
        CASE(test_ask_times_out),
        CASE(test_binary),
        IMPATIENT(test_attachment_never_sent),
        CASE(test_what_ends_the_session),
        CASE(test_one_packet_for_many),
        CASE(test_close_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
