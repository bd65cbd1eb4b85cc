/* SPDX-License-Identifier: Apache-2.0 */
/* Sentinels that are none, or that are wrong, before a real server. Real Sentinels are tested with
 * the running program. */
#include "tests/contract/redis_store/rig.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"

enum { FAKES = 4, PEERS = 64, ANSWER_SIZE = 512 };

/* It says the same to everybody. */
struct fake {
    uv_tcp_t listener;
    char answer[ANSWER_SIZE];
    unsigned port, asked;
    uv_tcp_t peers[PEERS];
    char heard[ANSWER_SIZE]; /* by the last peer */
};

struct scene {
    struct server server;
    struct rig rig;
    struct fake *fakes;
    size_t count;
};

static void give_room(uv_handle_t *peer, size_t suggested, uv_buf_t *buf)
{
    static char bytes[65536];

    (void)peer;
    (void)suggested;
    *buf = uv_buf_init(bytes, sizeof(bytes));
}

static void on_read(uv_stream_t *peer, ssize_t len, const uv_buf_t *buf)
{
    struct fake *fake = peer->data;

    if (len > 0)
        snprintf(fake->heard, sizeof(fake->heard), "%.*s", (int)len, buf->base);
    uv_buf_t answer = uv_buf_init(fake->answer, (unsigned)strlen(fake->answer));
    if (len > 0 && answer.len > 0)
        uv_try_write(peer, &answer, 1);
    if (len < 0 && !uv_is_closing((uv_handle_t *)peer))
        uv_close((uv_handle_t *)peer, NULL);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct fake *fake = CONTAINER_OF(listener, struct fake, listener);
    uv_tcp_t *peer = &fake->peers[fake->asked++];

    assert_int_equal(status, 0);
    assert_in_range(fake->asked, 1, PEERS);
    uv_tcp_init(listener->loop, peer);
    peer->data = fake;
    assert_int_equal(uv_accept(listener, (uv_stream_t *)peer), 0);
    uv_read_start((uv_stream_t *)peer, give_room, on_read);
}

static void fake_open(struct fake *fake, uv_loop_t *loop)
{
    struct sockaddr_in address;
    int len = sizeof(address);

    uv_tcp_init(loop, &fake->listener);
    uv_ip4_addr("127.0.0.1", 0, &address);
    assert_int_equal(uv_tcp_bind(&fake->listener, (struct sockaddr *)&address, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&fake->listener, 8, on_connection), 0);
    uv_tcp_getsockname(&fake->listener, (struct sockaddr *)&address, &len);
    fake->port = ntohs(address.sin_port);
}

static void fake_close(struct fake *fake)
{
    if (uv_is_closing((uv_handle_t *)&fake->listener))
        return;
    uv_close((uv_handle_t *)&fake->listener, NULL);
    for (size_t i = 0; i < fake->asked; i++)
        if (!uv_is_closing((uv_handle_t *)&fake->peers[i]))
            uv_close((uv_handle_t *)&fake->peers[i], NULL);
}

/* A server, and as many Sentinels, which listen but say nothing yet. */
static void begin(struct scene *scene, size_t count, const char *login)
{
    char url[URL_SIZE];
    int len;

    *scene = (struct scene){.count = count, .fakes = mem_new(count * sizeof(struct fake))};
    server_init(&scene->server, "sentinel");
    server_start(&scene->server, NULL);
    uv_loop_init(&scene->rig.loop);
    for (size_t i = 0; i < count; i++)
        fake_open(&scene->fakes[i], &scene->rig.loop);
    len = snprintf(url, sizeof(url), "redis+sentinel://");
    for (size_t i = 0; i < count; i++)
        len += snprintf(url + len, sizeof(url) - (size_t)len, "%s127.0.0.1:%u", i ? "," : "",
                        scene->fakes[i].port);
    snprintf(url + len, sizeof(url) - (size_t)len, "/prime/1%s", login);
    rig_open_on(&scene->rig, url);
}

static void names(struct fake *fake, const char *host, unsigned port)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", port);
    snprintf(fake->answer, sizeof(fake->answer), "*2\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n", strlen(host),
             host, strlen(text), text);
}

static void says(struct fake *fake, const char *answer)
{
    snprintf(fake->answer, sizeof(fake->answer), "%s", answer);
}

static void end(struct scene *scene)
{
    for (size_t i = 0; i < scene->count; i++)
        fake_close(&scene->fakes[i]);
    rig_close(&scene->rig);
    server_stop(&scene->server);
    free(scene->fakes);
}

static void is_asked_and_believed(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, 1, "");
    names(&scene.fakes[0], "127.0.0.1", scene.server.port);
    rig_until_up(&scene.rig);
    assert_string_equal(scene.fakes[0].heard,
                        "*3\r\n$8\r\nSENTINEL\r\n$23\r\nGET-MASTER-ADDR-BY-NAME\r\n"
                        "$5\r\nprime\r\n");
    assert_int_equal(rig_ask(&scene.rig, "a").answer, STORE_CLAIMED);
    server_do(&scene.server, "CLIENT KILL TYPE normal");
    rig_until_up(&scene.rig);
    assert_in_range(scene.fakes[0].asked, 2, PEERS); /* at each connection */
    end(&scene);
}

static void has_a_password_of_its_own(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, 1, "?sentinel_username=su&sentinel_password=s%26p");
    says(&scene.fakes[0], "-WRONGPASS invalid s&p\r\n-NOAUTH Authentication required.\r\n");
    rig_until_down(&scene.rig, "the user or the password is wrong (WRONGPASS)");
    assert_non_null(
        strstr(scene.fakes[0].heard, "AUTH\r\n$2\r\nsu\r\n$3\r\ns&p\r\n*3\r\n$8\r\nSENT"));
    snprintf(scene.fakes[0].answer, ANSWER_SIZE, "+OK\r\n*2\r\n$9\r\n127.0.0.1\r\n$5\r\n%05u\r\n",
             scene.server.port);
    rig_until_up(&scene.rig);
    end(&scene);
}

/* One is not there, one says nothing, one knows no such master, and one knows. */
static void one_of_many(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, FAKES, "");
    fake_close(&scene.fakes[0]);
    says(&scene.fakes[2], "*-1\r\n");
    says(&scene.fakes[3], "-IDONTKNOW yet\r\n");
    rig_until_down(&scene.rig, ": connection refused; Sentinel at");
    rig_until_down(&scene.rig, ": no answer in time; Sentinel at");
    rig_until_down(&scene.rig, ": it knows no master of that name");
    names(&scene.fakes[3], "127.0.0.1", scene.server.port);
    rig_until_up(&scene.rig);
    assert_in_range(scene.fakes[1].asked, 1, PEERS);
    end(&scene);
}

static void answers_nonsense(void **state)
{
    static const char *const answers[] = {
        "+OK\r\n",
        ":1\r\n",
        "$-1\r\n",
        "*1\r\n$1\r\na\r\n",
        "*3\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\n1\r\n",
        "*2\r\n$-1\r\n$1\r\n1\r\n",
        "*2\r\n$0\r\n\r\n$1\r\n1\r\n",
        "*2\r\n$3\r\na b\r\n$1\r\n1\r\n",
        "*2\r\n*1\r\n$1\r\na\r\n$1\r\n1\r\n",
        "*2\r\n$1\r\na\r\n$1\r\n0\r\n",
        "*2\r\n$1\r\na\r\n$5\r\n65536\r\n",
        "*2\r\n$1\r\na\r\n$2\r\n-1\r\n",
        "*2\r\n$1\r\na\r\n:1\r\n",
        "HTTP/1.1 400 Bad Request\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct scene scene;
        begin(&scene, 1, "");
        says(&scene.fakes[0], answers[i]);
        rig_until_down(&scene.rig,
                       answers[i][0] == 'H' ? "is this a Redis?" : "is this a Sentinel?");
        end(&scene);
    }
}

/* It still names a server that is a replica by now, and takes writes all the same. */
static void is_stale(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, 2, "");
    server_do(&scene.server, "CONFIG SET replica-read-only no");
    server_do(&scene.server, "REPLICAOF 127.0.0.1 1");
    for (size_t i = 0; i < 2; i++)
        names(&scene.fakes[i], "127.0.0.1", scene.server.port);
    rig_until_down(&scene.rig, "it is not the master (any more); Sentinel will be asked again");
    while (scene.fakes[0].asked == 0 || scene.fakes[1].asked == 0) /* not the same one each time */
        rig_turn(&scene.rig);
    server_do(&scene.server, "REPLICAOF NO ONE");
    rig_until_up(&scene.rig);
    end(&scene);
}

static void names_itself(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, 1, "");
    names(&scene.fakes[0], "127.0.0.1", scene.fakes[0].port);
    rig_until_down(&scene.rig, "");
    end(&scene);
}

static void closed_while_asking(void **state)
{
    (void)state;
    for (int turns = 0; turns < 12; turns++) {
        struct scene scene;
        begin(&scene, 2, "");
        says(&scene.fakes[0], "*-1\r\n");
        names(&scene.fakes[1], "127.0.0.1", scene.server.port);
        for (int i = 0; i < turns; i++)
            rig_turn(&scene.rig);
        end(&scene);
    }
}

const struct CMUnitTest sentinel_cases[] = {
    cmocka_unit_test(is_asked_and_believed),
    cmocka_unit_test(has_a_password_of_its_own),
    cmocka_unit_test(one_of_many),
    cmocka_unit_test(answers_nonsense),
    cmocka_unit_test(is_stale),
    cmocka_unit_test(names_itself),
    cmocka_unit_test(closed_while_asking),
};
const size_t sentinel_case_count = sizeof(sentinel_cases) / sizeof(sentinel_cases[0]);
