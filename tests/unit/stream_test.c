/* SPDX-License-Identifier: Apache-2.0 */
/* Streams without TLS, against a server on the same loop. TLS is tested with the Redis store. */
#include "tests/check.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/core/buf.h"
#include "gateway/net/stream.h"

enum { CONNECT_MS = 10 * 1000, BIG = 4 * 1024 * 1024 };

enum manner { ECHOES, IGNORES, HANGS_UP };

/* A server with one client, and that client. */
struct scene {
    uv_loop_t loop;
    uv_tcp_t listener, peer;
    bool has_peer;
    enum manner manner;
    char port[16];
    struct stream *stream;
    unsigned opened, closed;
    bool close_when_opened, close_at_bytes, calling;
    struct buf got;
    struct err why;
};

/* --- the server --- */

static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    (void)handle;
    *buf = uv_buf_init(mem_new(suggested), (unsigned)suggested);
}

static void on_written(uv_write_t *request, int status)
{
    (void)status;
    free(request->data);
    free(request);
}

static void on_read(uv_stream_t *peer, ssize_t len, const uv_buf_t *buf)
{
    if (len <= 0) {
        free(buf->base);
        return;
    }
    uv_buf_t back = uv_buf_init(buf->base, (unsigned)len);
    uv_write_t *request = mem_new(sizeof(*request));
    request->data = buf->base;
    uv_write(request, peer, &back, 1, on_written);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct scene *scene = listener->data;

    assert_int_equal(status, 0);
    uv_tcp_init(&scene->loop, &scene->peer);
    assert_int_equal(uv_accept(listener, (uv_stream_t *)&scene->peer), 0);
    scene->has_peer = true;
    if (scene->manner == ECHOES)
        uv_read_start((uv_stream_t *)&scene->peer, give_room, on_read);
    if (scene->manner == HANGS_UP)
        uv_close((uv_handle_t *)&scene->peer, NULL);
}

/* --- the client --- */

static void on_opened(void *context)
{
    struct scene *scene = context;

    assert_false(scene->calling);
    scene->opened++;
    if (scene->close_when_opened)
        stream_close(scene->stream);
}

static void on_bytes(void *context, struct slice bytes)
{
    struct scene *scene = context;

    assert_int_equal(scene->opened, 1);
    assert_false(scene->calling);
    buf_append(&scene->got, bytes);
    if (scene->close_at_bytes)
        stream_close(scene->stream);
}

static void on_closed(void *context, const struct err *why)
{
    struct scene *scene = context;

    assert_false(scene->calling);
    scene->closed++;
    scene->why = *why;
    scene->stream = NULL;
}

static const struct stream_events events = {on_opened, on_bytes, on_closed};

static void dial(struct scene *scene, const char *host, const char *port, int64_t connect_ms)
{
    const struct stream_address address = {.host = host, .port = port};

    scene->calling = true;
    scene->stream = stream_connect(&scene->loop, &address, connect_ms, &events, scene);
    scene->calling = false;
}

static void begin(struct scene *scene, enum manner manner)
{
    struct sockaddr_in address;
    int len = sizeof(address);

    *scene = (struct scene){.manner = manner, .got = BUF_INIT(BIG)};
    uv_loop_init(&scene->loop);
    uv_tcp_init(&scene->loop, &scene->listener);
    scene->listener.data = scene;
    uv_ip4_addr("127.0.0.1", 0, &address);
    assert_int_equal(uv_tcp_bind(&scene->listener, (struct sockaddr *)&address, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&scene->listener, 1, on_connection), 0);
    uv_tcp_getsockname(&scene->listener, (struct sockaddr *)&address, &len);
    snprintf(scene->port, sizeof(scene->port), "%u", ntohs(address.sin_port));
}

static void end(struct scene *scene)
{
    while (!scene->closed)
        assert_true(uv_run(&scene->loop, UV_RUN_ONCE));
    uv_close((uv_handle_t *)&scene->listener, NULL);
    if (scene->has_peer && !uv_is_closing((uv_handle_t *)&scene->peer))
        uv_close((uv_handle_t *)&scene->peer, NULL);
    uv_run(&scene->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&scene->loop), 0);
    assert_int_equal(scene->closed, 1);
    buf_release(&scene->got);
}

static void until_open(struct scene *scene)
{
    while (!scene->opened && !scene->closed)
        uv_run(&scene->loop, UV_RUN_ONCE);
    assert_int_equal(scene->opened, 1);
}

/* --- the cases --- */

static void test_echo(void **state)
{
    struct scene scene;
    char *bytes = mem_new(BIG);

    (void)state;
    begin(&scene, ECHOES);
    dial(&scene, "127.0.0.1", scene.port, CONNECT_MS);
    until_open(&scene);
    for (size_t i = 0; i < BIG; i++)
        bytes[i] = (char)(i * i >> 7);
    scene.calling = true;
    for (size_t at = 0, step = 1; at < BIG; at += step, step = step * 3 + 1)
        stream_write(scene.stream, slice_first((struct slice){bytes + at, BIG - at}, step));
    scene.calling = false;
    while (scene.got.len < BIG)
        assert_true(uv_run(&scene.loop, UV_RUN_ONCE));
    assert_memory_equal(scene.got.data, bytes, BIG);
    stream_close(scene.stream);
    stream_close(scene.stream);
    stream_write(scene.stream, SLICE("dropped"));
    end(&scene);
    assert_string_equal(scene.why.text, "");
    free(bytes);
}

static void test_closing_in_events(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, ECHOES);
    scene.close_when_opened = true;
    dial(&scene, "127.0.0.1", scene.port, CONNECT_MS);
    end(&scene);
    assert_string_equal(scene.why.text, "");

    begin(&scene, ECHOES);
    scene.close_at_bytes = true;
    dial(&scene, "localhost", scene.port, CONNECT_MS); /* ::1 is refused where it exists */
    until_open(&scene);
    stream_write(scene.stream, SLICE("x"));
    end(&scene);
    assert_string_equal(scene.why.text, "");
}

static void test_closing_early(void **state)
{
    struct scene scene;

    (void)state;
    for (int turns = 0; turns < 6; turns++) {
        begin(&scene, ECHOES);
        dial(&scene, "localhost", scene.port, CONNECT_MS);
        for (int i = 0; i < turns; i++)
            uv_run(&scene.loop, UV_RUN_NOWAIT);
        stream_close(scene.stream);
        assert_int_equal(scene.closed, 0);
        end(&scene);
        assert_string_equal(scene.why.text, "");
    }
}

static void test_failures(void **state)
{
    struct scene scene;
    char long_text[400];

    (void)state;
    memset(long_text, 'a', sizeof(long_text));
    long_text[0] = '/';
    long_text[sizeof(long_text) - 1] = '\0';
    const struct {
        const char *host, *port, *why;
    } cases[] = {
        {"127.0.0.1", "1", "connection refused"},
        {"127.0.0.1", "none", ""},
        {long_text, "80", ""},
        {long_text, NULL, "the path of the unix socket is too long"},
        {"/no/such/socket", NULL, "no such file or directory"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(&scene, ECHOES);
        dial(&scene, cases[i].host, cases[i].port, CONNECT_MS);
        end(&scene);
        assert_int_equal(scene.opened, 0);
        assert_true(scene.why.text[0] != '\0');
        if (cases[i].why[0])
            assert_string_equal(scene.why.text, cases[i].why);
    }
}

static void test_peer_hangs_up(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, HANGS_UP);
    dial(&scene, "127.0.0.1", scene.port, CONNECT_MS);
    end(&scene);
    assert_int_equal(scene.opened, 1);
    assert_string_equal(scene.why.text, "the peer closed the connection");
}

static void test_peer_does_not_read(void **state)
{
    struct scene scene;
    char *bytes = mem_new(BIG);

    (void)state;
    begin(&scene, IGNORES);
    dial(&scene, "127.0.0.1", scene.port, CONNECT_MS);
    until_open(&scene);
    scene.calling = true;
    for (size_t sent = 0; sent < 4 * (size_t)STREAM_QUEUE_BYTES; sent += BIG)
        stream_write(scene.stream, (struct slice){bytes, BIG});
    scene.calling = false;
    end(&scene);
    assert_string_equal(scene.why.text, "the peer does not read what is sent to it");
    free(bytes);
}

/* A listener whose queue is full leaves further connections without an answer. */
static void test_no_answer(void **state)
{
    struct scene scene;
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    int fds[4];

    (void)state;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fds[0], (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fds[0], 0), 0);
    getsockname(fds[0], (struct sockaddr *)&address, &len);
    for (int i = 1; i < 4; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)!connect(fds[i], (struct sockaddr *)&address, sizeof(address));
    }
    begin(&scene, IGNORES);
    snprintf(scene.port, sizeof(scene.port), "%u", ntohs(address.sin_port));
    dial(&scene, "127.0.0.1", scene.port, 100);
    end(&scene);
    assert_int_equal(scene.opened, 0);
    assert_string_equal(scene.why.text, "no answer in time");
    for (int i = 0; i < 4; i++)
        close(fds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_echo),          cmocka_unit_test(test_closing_in_events),
        cmocka_unit_test(test_closing_early), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_peer_hangs_up), cmocka_unit_test(test_peer_does_not_read),
        cmocka_unit_test(test_no_answer),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
