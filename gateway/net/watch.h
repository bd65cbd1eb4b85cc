/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch: a descriptor that belongs to a library and that the event loop watches for it.
 *
 * The memory is the watch's own, since libuv closes handles late. The descriptor is never closed
 * here; it must stay open until watch_close.
 */
#ifndef WAKEGATE_NET_WATCH_H
#define WAKEGATE_NET_WATCH_H

#include <uv.h>

enum { WATCH_FAILED = 1 << 16 }; /* beside UV_READABLE and UV_WRITABLE */

struct watch {
    uv_poll_t poll;
    int fd;
    void (*ready)(struct watch *watch, int fd, int events);
    void *context;
};

/* NULL: the loop cannot watch this descriptor. */
struct watch *watch_open(uv_loop_t *loop, int fd,
                         void (*ready)(struct watch *watch, int fd, int events), void *context);

/* Both take NULL. `events`: UV_READABLE | UV_WRITABLE. No event comes after watch_close. */
void watch_for(struct watch *watch, int events);
void watch_close(struct watch *watch);

#endif
