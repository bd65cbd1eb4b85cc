/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/poll_set.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "gateway/core/op.h"

enum { EVENTS_PER_TURN = 256 };

static unsigned from_kernel(uint32_t events)
{
    const uint32_t failed = EPOLLERR | EPOLLHUP;

    return (events & (EPOLLIN | failed) ? (unsigned)POLL_SET_READABLE : 0) |
           (events & (EPOLLOUT | failed) ? (unsigned)POLL_SET_WRITABLE : 0);
}

static void on_ready(uv_poll_t *poll, int status, int ready)
{
    struct poll_set *set = CONTAINER_OF(poll, struct poll_set, poll);
    struct epoll_event events[EVENTS_PER_TURN];

    (void)status;
    (void)ready;
    int count = epoll_wait(set->epoll, events, EVENTS_PER_TURN, 0);
    for (int i = 0; i < count; i++)
        set->ready(events[i].data.ptr, from_kernel(events[i].events));
}

void poll_set_open(struct poll_set *set, uv_loop_t *loop,
                   void (*ready)(void *item, unsigned events))
{
    *set = (struct poll_set){.epoll = epoll_create1(EPOLL_CLOEXEC), .ready = ready};
    if (set->epoll < 0)
        abort();
    uv_poll_init(loop, &set->poll, set->epoll);
    uv_poll_start(&set->poll, UV_READABLE, on_ready);
}

static void on_closed(uv_handle_t *handle)
{
    struct poll_set *set = CONTAINER_OF(handle, struct poll_set, poll);

    close(set->epoll);
    set->closed(set);
}

void poll_set_close(struct poll_set *set, void (*closed)(struct poll_set *set))
{
    set->closed = closed;
    uv_poll_stop(&set->poll);
    uv_close((uv_handle_t *)&set->poll, on_closed);
}

static bool control(const struct poll_set *set, int operation, int fd, unsigned events, void *item)
{
    struct epoll_event event = {.events = (events & POLL_SET_READABLE ? (uint32_t)EPOLLIN : 0) |
                                          (events & POLL_SET_WRITABLE ? (uint32_t)EPOLLOUT : 0),
                                .data.ptr = item};

    return epoll_ctl(set->epoll, operation, fd, &event) == 0;
}

bool poll_set_add(struct poll_set *set, int fd, unsigned events, void *item)
{
    return control(set, EPOLL_CTL_ADD, fd, events, item);
}

void poll_set_change(struct poll_set *set, int fd, unsigned events, void *item)
{
    control(set, EPOLL_CTL_MOD, fd, events, item);
}

void poll_set_remove(struct poll_set *set, int fd)
{
    control(set, EPOLL_CTL_DEL, fd, 0, NULL);
}
