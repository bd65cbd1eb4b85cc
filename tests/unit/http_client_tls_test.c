/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates: `openssl s_server` answers with ones that the openssl command made a moment ago in
 * a directory of the test's own.
 */
#include "tests/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fakes/client_room.h"

extern char **environ;

static char directory[] = "/tmp/wakegate-tls-"
                          "XX"
                          "XX"
                          "XX";

/* Starts `openssl <arguments>` in the directory; its standard output goes to `out`, or nowhere. */
static pid_t start_openssl(const char *arguments, int out)
{
    posix_spawn_file_actions_t actions;
    char text[512], *words[32] = {"openssl"};
    size_t count = 1;
    struct slice rest, word;
    pid_t pid = -1;

    snprintf(text, sizeof(text), "%s", arguments);
    rest = slice_from(text);
    while (rest.len > 0) {
        slice_cut(rest, ' ', &word, &rest);
        ((char *)(uintptr_t)word.data)[word.len] = '\0';
        words[count++] = (char *)(uintptr_t)word.data;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (out >= 0)
        posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    int failed = posix_spawnp(&pid, "openssl", &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed ? -1 : pid;
}

static bool openssl(const char *arguments)
{
    pid_t pid = start_openssl(arguments, -1);
    int status = -1;

    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool make_authority(const char *name)
{
    char arguments[512];

    snprintf(arguments, sizeof(arguments),
             "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=%s "
             "-keyout %s.key -out %s.pem",
             name, name, name);
    return openssl(arguments);
}

static bool make_certificate(const char *name, const char *alternative, const char *authority)
{
    char arguments[512];

    snprintf(arguments, sizeof(arguments),
             "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=%s "
             "-addext subjectAltName=%s -addext basicConstraints=critical,CA:FALSE "
             "-CA %s.pem -CAkey %s.key -keyout %s.key -out %s.pem",
             name, alternative, authority, authority, name, name);
    return openssl(arguments);
}

struct tls_server {
    pid_t pid;
    FILE *output; /* open as long as it may write */
    char url[64];
};

/* "ACCEPT 127.0.0.1:<port>" is the first line that it prints. */
static void start_server(struct tls_server *server, const char *certificate)
{
    char arguments[256], line[256];
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    snprintf(arguments, sizeof(arguments),
             "s_server -accept 127.0.0.1:0 -www -cert %s.pem -key %s.key", certificate,
             certificate);
    server->pid = start_openssl(arguments, ends[1]);
    close(ends[1]);
    assert_true(server->pid > 0);
    server->output = fdopen(ends[0], "r");
    const char *accept = NULL;
    while (!accept && fgets(line, sizeof(line), server->output))
        accept = strncmp(line, "ACCEPT ", 7) == 0 ? line + 7 : NULL;
    assert_non_null(accept);
    line[strcspn(line, "\r\n")] = '\0';
    snprintf(server->url, sizeof(server->url), "https://%.40s/", accept);
}

static void stop_server(struct tls_server *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    fclose(server->output);
}

static void get(struct client_room *room, struct exchange *exchange, const char *certificate,
                const char *authority)
{
    struct tls_server server;

    if (authority) {
        room_close_client(room);
        room_open_client(room, true, authority);
    }
    start_server(&server, certificate);
    *exchange = (struct exchange){.call = {.url = server.url, .timeout_ms = PATIENCE_MS}};
    exchange_get(room, exchange);
    stop_server(&server);
}

static void test_known_authority(void **state)
{
    struct exchange exchange;

    get(*state, &exchange, "good", "authority.pem");
    assert_string_equal(exchange.call.err.text, "");
    assert_int_equal(exchange.call.result, HTTP_ANSWERED);
    assert_int_equal(exchange.call.status, 200);
    exchange_release(&exchange);
}

static void test_unknown_authority(void **state)
{
    struct exchange exchange;

    get(*state, &exchange, "good", "stranger.pem");
    assert_int_equal(exchange.call.result, HTTP_NOT_SENT);
    get(*state, &exchange, "good", NULL); /* nor do the system's certificates know it */
    assert_int_equal(exchange.call.result, HTTP_NOT_SENT);
    assert_non_null(strstr(exchange.call.err.text, "certificate"));
}

static void test_wrong_host(void **state)
{
    struct exchange exchange;

    get(*state, &exchange, "other", "authority.pem");
    assert_int_equal(exchange.call.result, HTTP_NOT_SENT);
    assert_true(strlen(exchange.call.err.text) > 0);
}

static void test_missing_authority_file(void **state)
{
    struct exchange exchange;

    get(*state, &exchange, "good", "absent.pem");
    assert_int_equal(exchange.call.result, HTTP_NOT_SENT);
}

/* A server that speaks no TLS has not seen a request. */
static void test_no_tls_there(void **state)
{
    struct client_room *room = *state;
    char url[64];
    struct exchange exchange = {.call = {.url = url}};

    snprintf(url, sizeof(url), "https://127.0.0.1:%d/", room->stub.port);
    stub_script(&room->stub, STUB_DROP, SLICE(""));
    assert_int_equal(exchange_run(room, &exchange), HTTP_NOT_SENT);
}

static bool make_certificates(void)
{
    return mkdtemp(directory) && chdir(directory) == 0 && make_authority("authority") &&
           make_authority("stranger") && make_certificate("good", "IP:127.0.0.1", "authority") &&
           make_certificate("other", "DNS:other.test", "authority");
}

static void remove_certificates(void)
{
    DIR *files = opendir(".");

    for (struct dirent *file = readdir(files); file; file = readdir(files))
        unlink(file->d_name);
    closedir(files);
    rmdir(directory);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, room_set_up, room_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_known_authority), TEST(test_unknown_authority),      TEST(test_wrong_host),
        TEST(test_no_tls_there),    TEST(test_missing_authority_file),
    };

    if (!openssl("version")) {
        fprintf(stderr, "SKIPPED: no openssl command here, so no certificates\n");
        return 77;
    }
    if (!make_certificates()) {
        fprintf(stderr, "the openssl command made no certificates\n");
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_certificates();
    return failed;
}
