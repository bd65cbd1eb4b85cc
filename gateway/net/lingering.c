/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/lingering.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway/core/buf.h"
#include "gateway/core/op.h"

struct leaving {
    struct lingering *of;
    struct leaving *next, *before;
    uv_poll_t poll;
    uv_timer_t timer;
    int fd;
    size_t bytes;
    unsigned handles; /* not closed yet */
};

static void on_handle_closed(uv_handle_t *handle)
{
    struct leaving *one = handle->data;

    one->handles--;
    if (one->handles == 0)
        free(one);
}

static void end(struct leaving *one)
{
    struct lingering *lingering = one->of;

    if (one->before)
        one->before->next = one->next;
    else
        lingering->first = one->next;
    if (one->next)
        one->next->before = one->before;
    lingering->count--;
    uv_poll_stop(&one->poll);
    close(one->fd);
    uv_close((uv_handle_t *)&one->poll, on_handle_closed);
    uv_close((uv_handle_t *)&one->timer, on_handle_closed);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct leaving *one = CONTAINER_OF(poll, struct leaving, poll);
    static char dropped[65536];

    (void)events;
    if (status < 0) {
        end(one);
        return;
    }
    ssize_t len = recv(one->fd, dropped, sizeof(dropped), MSG_DONTWAIT);
    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (len > 0)
        one->bytes += (size_t)len;
    if (len <= 0 || one->bytes > LINGERING_BYTES)
        end(one);
}

static void on_time(uv_timer_t *timer)
{
    end(CONTAINER_OF(timer, struct leaving, timer));
}

void lingering_open(struct lingering *lingering, uv_loop_t *loop)
{
    *lingering = (struct lingering){.loop = loop};
}

void lingering_keep(struct lingering *lingering, int fd)
{
    if (lingering->count >= LINGERING_MOST)
        return;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return;
    struct leaving *one = mem_new(sizeof(*one));
    *one = (struct leaving){.of = lingering, .next = lingering->first, .fd = own, .handles = 2};
    if (one->next)
        one->next->before = one;
    lingering->first = one;
    lingering->count++;
    uv_poll_init(lingering->loop, &one->poll, own);
    uv_timer_init(lingering->loop, &one->timer);
    one->poll.data = one->timer.data = one;
    uv_poll_start(&one->poll, UV_READABLE, on_readable);
    uv_timer_start(&one->timer, on_time, LINGERING_MS, 0);
}

void lingering_close(struct lingering *lingering)
{
    while (lingering->first)
        end(lingering->first);
}
