/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers as children that end with this process. Their output goes nowhere; what they say to a
 * command is read on a connection of its own.
 */
#include "tests/contract/redis_store/rig.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_US = 5000 };

char directory[64];
static struct server last; /* one runs at a time */

static void run_server(const char *const *args)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!freopen("/dev/null", "w", stdout))
        _exit(127);
    execvp("redis-server", (char *const *)(uintptr_t)args);
    _exit(127);
}

bool server_is_installed(void)
{
    const char *const args[] = {"redis-server", "--version", NULL};
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        run_server(args);
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

unsigned server_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    close(fd);
    return ntohs(address.sin_port);
}

void server_init(struct server *server, const char *name)
{
    *server = (struct server){.port = server_free_port()};
    snprintf(server->socket, sizeof(server->socket), "%s/%s.sock", directory, name);
    snprintf(server->url, sizeof(server->url), "redis+unix://%s", server->socket);
}

int server_dial(const struct server *server)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", server->socket);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

void server_start(struct server *server, const char *const *args)
{
    char port[16];
    const char *argv[SERVER_ARGS] = {"redis-server",
                                     "--port",
                                     port,
                                     "--bind",
                                     "127.0.0.1",
                                     "--unixsocket",
                                     server->socket,
                                     "--dir",
                                     directory,
                                     "--save",
                                     "",
                                     "--appendonly",
                                     "no",
                                     "--enable-debug-command",
                                     "local"};
    size_t count = 15;

    for (; args && *args; args++)
        argv[count++] = *args;
    assert_true(count < SERVER_ARGS);
    server_stop(&last);
    snprintf(port, sizeof(port), "%u", server->port);
    server->pid = fork();
    if (server->pid == 0)
        run_server(argv);
    last = *server;
    for (int fd = -1; fd < 0; usleep(POLL_US)) {
        if (waitpid(server->pid, NULL, WNOHANG) != 0) {
            server->pid = last.pid = 0;
            fail_msg("the redis-server of this test ended by itself");
        }
        fd = server_dial(server);
        if (fd >= 0)
            close(fd);
    }
}

void server_signal(struct server *server, int signal)
{
    assert_true(server->pid > 0);
    assert_int_equal(kill(server->pid, signal), 0);
}

void server_stop(struct server *server)
{
    if (server->pid <= 0)
        return;
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    unlink(server->socket);
    server->pid = last.pid = 0;
}

const char *server_do(struct server *server, const char *command)
{
    static char answer[4096];
    int fd = server_dial(server);

    assert_true(fd >= 0);
    assert_true(dprintf(fd, "%s\r\n", command) > 0);
    ssize_t len = read(fd, answer, sizeof(answer) - 1);
    close(fd);
    assert_true(len > 0);
    answer[len] = '\0';
    return answer;
}
