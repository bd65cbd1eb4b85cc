/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/watch.h"

#include <stdlib.h>

#include "gateway/core/buf.h"
#include "gateway/core/op.h"

struct watch *watch_open(uv_loop_t *loop, int fd,
                         void (*ready)(struct watch *watch, int fd, int events), void *context)
{
    struct watch *watch = mem_new(sizeof(*watch));

    watch->fd = fd;
    watch->ready = ready;
    watch->context = context;
    if (uv_poll_init_socket(loop, &watch->poll, fd) != 0) {
        free(watch);
        return NULL;
    }
    return watch;
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = CONTAINER_OF(poll, struct watch, poll);

    watch->ready(watch, watch->fd, status < 0 ? WATCH_FAILED : events);
}

void watch_for(struct watch *watch, int events)
{
    if (watch)
        uv_poll_start(&watch->poll, events, on_poll);
}

static void on_close(uv_handle_t *handle)
{
    free(CONTAINER_OF(handle, struct watch, poll));
}

void watch_close(struct watch *watch)
{
    if (watch)
        uv_close((uv_handle_t *)&watch->poll, on_close);
}
