/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Redis store in trouble: real servers, servers with TLS, and here those that are none. What it
 * does with a healthy server stands in the suite for every store.
 */
#include "tests/contract/redis_store/rig.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/core/buf.h"
#include "gateway/core/metrics.h"
#include "gateway/store/redis_script.h"

enum { SKIPPED = 77 };

/* It answers each connection with fixed bytes, or closes it. */
struct fake {
    uv_pipe_t pipe;
    const char *answer;
    size_t repeat;  /* how many times it is sent */
    bool closes;    /* after the answer, or at once */
    size_t greeted; /* connections so far */
    uv_pipe_t peers[64];
    char path[PATH_SIZE], url[URL_SIZE];
};

static void ignore(uv_stream_t *peer, ssize_t len, const uv_buf_t *buf)
{
    (void)peer;
    (void)len;
    (void)buf;
}

static void give_room(uv_handle_t *peer, size_t suggested, uv_buf_t *buf)
{
    static char bytes[65536];

    (void)peer;
    (void)suggested;
    *buf = uv_buf_init(bytes, sizeof(bytes));
}

static void on_written(uv_write_t *request, int status)
{
    (void)status;
    free(request);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct fake *fake = CONTAINER_OF(listener, struct fake, pipe);
    uv_stream_t *peer = (uv_stream_t *)&fake->peers[fake->greeted++];

    assert_int_equal(status, 0);
    assert_true(fake->greeted < sizeof(fake->peers) / sizeof(fake->peers[0]));
    uv_pipe_init(listener->loop, (uv_pipe_t *)peer, 0);
    assert_int_equal(uv_accept(listener, peer), 0);
    uv_read_start(peer, give_room, ignore);
    uv_buf_t buf = {.base = (char *)(uintptr_t)fake->answer, .len = strlen(fake->answer)};
    for (size_t i = 0; i < fake->repeat; i++)
        uv_write(mem_new(sizeof(uv_write_t)), peer, &buf, 1, on_written);
    if (fake->closes)
        uv_close((uv_handle_t *)peer, NULL);
}

static void begin(struct fake *fake, struct rig *rig, const char *answer, size_t repeat)
{
    *fake = (struct fake){.answer = answer, .repeat = repeat, .closes = repeat == 0};
    snprintf(fake->path, sizeof(fake->path), "%s/fake.sock", directory);
    snprintf(fake->url, sizeof(fake->url), "redis+unix://%s", fake->path);
    rig_open(rig, fake->url);
    uv_pipe_init(&rig->loop, &fake->pipe, 0);
    assert_int_equal(uv_pipe_bind(&fake->pipe, fake->path), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&fake->pipe, 8, on_connection), 0);
}

static void end(struct fake *fake, struct rig *rig)
{
    uv_close((uv_handle_t *)&fake->pipe, NULL);
    for (size_t i = 0; i < fake->greeted; i++)
        if (!uv_is_closing((uv_handle_t *)&fake->peers[i]))
            uv_close((uv_handle_t *)&fake->peers[i], NULL);
    rig_close(rig);
}

static void expect_down(const char *answer, size_t repeat, const char *text)
{
    struct fake *fake = mem_new(sizeof(*fake));
    struct rig rig;

    begin(fake, &rig, answer, repeat);
    rig_until_down(&rig, text);
    assert_int_not_equal(rig_ask(&rig, "a").answer, STORE_OK);
    end(fake, &rig);
    free(fake);
}

static void closes_at_once(void **state)
{
    (void)state;
    expect_down("", 0, "the peer closed the connection");
}

static void says_nothing(void **state)
{
    (void)state;
    expect_down("", 1, "the greeting was not answered in time");
}

static void speaks_http(void **state)
{
    (void)state;
    expect_down("HTTP/1.1 400 Bad Request\r\n\r\n", 1, "is this a Redis?");
}

static void claims_to_send_an_array(void **state)
{
    (void)state;
    expect_down("*2147483647\r\n", 1, "fits no question");
}

#define BYTES_32  "thirty-two bytes of one and more"
#define BYTES_128 BYTES_32 BYTES_32 BYTES_32 BYTES_32

static void claims_to_send_a_long_text(void **state)
{
    (void)state;
    expect_down("$9223372036854775807\r\n" BYTES_128, 10000, "more than 1114112 bytes");
    expect_down("$1000000000\r\n" BYTES_128, 10000, "more than 1114112 bytes");
    expect_down("+never a newline" BYTES_128, 10000, "more than 1114112 bytes");
}

static void answers_nonsense(void **state)
{
    (void)state;
    expect_down("+hello\r\n", 2, "not answered with a digest");
    expect_down(":1\r\n", 2, "not answered with a digest");
    expect_down("$-1\r\n", 2, "not answered with a digest");
    expect_down("\r\n", 1, "is this a Redis?");
    expect_down("-\r\n", 1, "the server does not do it ()");
    expect_down("-\x1b[31mred\xff\r\n", 1, "(?[31mred?)");
}

#define DIGEST    "+0123456789012345678901234567890123456789\r\n"
#define DIGESTS_5 DIGEST DIGEST DIGEST DIGEST DIGEST

/* Servers of other kinds, as they describe themselves; what can be had is tested for real. */
static void is_of_another_kind(void **state)
{
#define GREETED    DIGESTS_5 DIGESTS_5 "+OK\r\n"
#define INFO(text) "$" text "\r\n" GREETED
    static const char *const good[] = {
        INFO("20\r\nredis_version:6.2.14"),
        INFO("20\r\nredis_version:6.0.16"),
        INFO("39\r\nredis_version:7.2.4\r\nserver_name:valkey"),
        INFO("37\r\nredis_version:6.3.4\r\nserver_threads:2"),
        INFO("45\r\nredis_version:7.4.0\r\ndragonfly_version:df-1.1"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct fake *fake = mem_new(sizeof(*fake));
        struct rig rig;
        struct question question;
        begin(fake, &rig, good[i], 1);
        do {
            rig_start(&rig, &question, "a");
            for (int turn = 0; turn < 4 && !question.answered; turn++)
                rig_turn(&rig);
        } while (question.answered); /* until it waits for an answer: the store is up */
        uv_close((uv_handle_t *)&fake->peers[fake->greeted - 1], NULL);
        rig_finish(&rig, &question);
        end(fake, &rig);
        free(fake);
    }
    expect_down("$20\r\nredis_version:5.0.14\r\n", 1,
                "it is version 5.0.14; Redis 6 or later is needed");
    expect_down("$19\r\nredis_mode:sentinel\r\n", 1, "this is a Sentinel; its URL is");
}

/* No INFO, the digests, a written key: usable; then one answer that fits no verb. */
static void answers_what_was_not_asked(void **state)
{
    struct fake *fake = mem_new(sizeof(*fake));
    struct rig rig;
    struct question question;
    static const char answers[] = "-NOPERM no INFO\r\n" DIGESTS_5 DIGESTS_5 "+OK\r\n";

    (void)state;
    assert_int_equal(REDIS_SCRIPTS - 1, 10); /* a ping is none */
    begin(fake, &rig, answers, 1);
    do {
        rig_start(&rig, &question, "a");
        for (int i = 0; i < 4 && !question.answered; i++)
            rig_turn(&rig);
    } while (question.answered); /* until it waits for an answer: the store is up */
    uv_buf_t buf = uv_buf_init((char *)(uintptr_t) "$2\r\nX9\r\n", 8);
    assert_int_equal(uv_try_write((uv_stream_t *)&fake->peers[fake->greeted - 1], &buf, 1), 8);
    rig_finish(&rig, &question);
    assert_int_equal(question.op.answer, STORE_UNSURE);
    assert_non_null(strstr(question.op.err.text, "fits no question"));
    end(fake, &rig);
    free(fake);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int run(const char *name, const struct CMUnitTest *tests, size_t count)
{
    return _cmocka_run_group_tests(name, tests, count, NULL, NULL);
}

int main(void)
{
    int failed = 0;
    const struct CMUnitTest fake_cases[] = {
        cmocka_unit_test(closes_at_once),
        cmocka_unit_test(says_nothing),
        cmocka_unit_test(speaks_http),
        cmocka_unit_test(claims_to_send_an_array),
        cmocka_unit_test(claims_to_send_a_long_text),
        cmocka_unit_test(answers_nonsense),
        cmocka_unit_test(answers_what_was_not_asked),
        cmocka_unit_test(is_of_another_kind),
    };

    signal(SIGPIPE, SIG_IGN);
    if (!server_is_installed()) {
        fprintf(stderr, "SKIP: no redis-server to start; the Redis store was not tested\n");
        return SKIPPED;
    }
    snprintf(directory, sizeof(directory), "/tmp/wakegate-redis-%ld", (long)getpid());
    if (mkdir(directory, 0700) != 0) {
        perror(directory);
        return EXIT_FAILURE;
    }
    failed += run("fault", fault_cases, fault_case_count);
    failed += run("record", record_cases, record_case_count);
    failed += run("fake", fake_cases, sizeof(fake_cases) / sizeof(fake_cases[0]));
    failed += run("sentinel", sentinel_cases, sentinel_case_count);
    failed += run("tls", tls_cases, tls_case_count);
    failed += run("words", words_cases, words_case_count);
    nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    metrics_free();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
