/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A redis-server on a free loopback port, as a child that ends with this process. The rig's ping
 * waits until it serves.
 */
#include "tests/contract/store/rig.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;
static char url[64];

/* 127 is what the child ends with when there is no such program. */
static bool is_installed(void)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(127);
        execlp("redis-server", "redis-server", "--version", (char *)NULL);
        _exit(127);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static unsigned free_port(void)
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

const char *redis_server_start(const char *directory)
{
    char port[16];

    if (!is_installed())
        return NULL;
    snprintf(port, sizeof(port), "%u", free_port());
    snprintf(url, sizeof(url), "redis://127.0.0.1:%s/0", port);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execlp("redis-server", "redis-server", "--port", port, "--bind", "127.0.0.1", "--dir",
               directory, "--save", "", "--logfile", "redis.log", (char *)NULL);
        _exit(127);
    }
    return url;
}

void redis_server_stop(void)
{
    if (child <= 0)
        return;
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
    child = 0;
}
