/* SPDX-License-Identifier: Apache-2.0 */
/* A redis-server on a free loopback port, as a child that ends with this process. */
#include "tests/contract/threads/rig.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

char server_url[64];

static unsigned port;
static pid_t child;

static void run_server(char *const *args)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!freopen("/dev/null", "w", stdout))
        _exit(127);
    execvp(args[0], args);
    _exit(127);
}

bool server_is_installed(void)
{
    char name[] = "redis-server", option[] = "--version";
    char *const args[] = {name, option, NULL};
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        run_server(args);
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static struct sockaddr_in address(void)
{
    struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return loopback;
}

static void choose_port(void)
{
    struct sockaddr_in place = address();
    socklen_t len = sizeof(place);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&place, sizeof(place)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&place, &len), 0);
    close(fd);
    port = ntohs(place.sin_port);
    snprintf(server_url, sizeof(server_url), "redis://127.0.0.1:%u/0", port);
}

static int dial(void)
{
    struct sockaddr_in place = address();
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(fd, (struct sockaddr *)&place, sizeof(place)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* The second time on the same port, with what the first has written. */
void server_start(void)
{
    char text[16];
    const char *const args[] = {"redis-server", "--port",        text,     "--bind", "127.0.0.1",
                                "--dir",        directory,       "--save", "",       "--appendonly",
                                "yes",          "--appendfsync", "always", NULL};

    if (port == 0)
        choose_port();
    snprintf(text, sizeof(text), "%u", port);
    child = fork();
    if (child == 0)
        run_server((char *const *)(uintptr_t)args);
    for (int fd = -1, tries = 0; fd < 0; usleep(5000)) {
        assert_true(waitpid(child, NULL, WNOHANG) == 0 && tries++ < 4000);
        fd = dial();
        if (fd >= 0)
            close(fd);
    }
}

void server_stop(void)
{
    if (child <= 0)
        return;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    child = 0;
}

const char *server_do(const char *command)
{
    static char answer[16384];
    int fd = dial();

    assert_true(fd >= 0);
    assert_true(dprintf(fd, "%s\r\n", command) > 0);
    ssize_t len = read(fd, answer, sizeof(answer) - 1);
    close(fd);
    assert_true(len > 0);
    answer[len] = '\0';
    return answer;
}

/* A line of CLIENT LIST: "id=7 addr=... flags=b ... cmd=xread ...". */
size_t server_kill_blocked(void)
{
    char *list = strdup(server_do("CLIENT LIST")), command[64];
    struct slice line, rest = slice_from(list);
    size_t killed = 0;

    while (slice_cut(rest, '\n', &line, &rest)) {
        const char *id = memmem(line.data, line.len, "id=", 3);
        if (!id || !memmem(line.data, line.len, " flags=b ", 9))
            continue;
        snprintf(command, sizeof(command), "CLIENT KILL ID %lu", strtoul(id + 3, NULL, 10));
        server_do(command);
        killed++;
    }
    free(list);
    return killed;
}
