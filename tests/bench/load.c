/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

void load_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

double load_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

unsigned load_number(const char *text, unsigned long most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*end || value == 0 || value > most)
        load_fail("no number from 1 to %lu: %s", most, text);
    return (unsigned)value;
}

struct sockaddr_in load_server(const char *port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)load_number(port, 65535)),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

void load_raise_limit(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int load_socket(unsigned address)
{
    const int on = 1;
    const struct linger none = {.l_onoff = 1};
    const struct sockaddr_in own = {.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + address)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        load_fail("no socket: %s", strerror(errno));
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    if (bind(fd, (const struct sockaddr *)&own, sizeof(own)) != 0)
        load_fail("cannot bind a socket: %s", strerror(errno));
    return fd;
}

void load_connect(int fd, const struct sockaddr_in *server)
{
    if (connect(fd, (const struct sockaddr *)server, sizeof(*server)) != 0)
        load_fail("cannot connect: %s", strerror(errno));
}

void load_send(int fd, const char *bytes, size_t len)
{
    if (send(fd, bytes, len, MSG_NOSIGNAL) != (ssize_t)len)
        load_fail("sending failed: %s", strerror(errno));
}
