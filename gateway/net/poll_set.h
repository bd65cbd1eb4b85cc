/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll_set: many descriptors that the event loop watches as one.
 *
 * A handle of libuv for each costs 160 bytes and four system calls; a descriptor in here costs what
 * the kernel keeps. Events are level-triggered. In one turn an event may still come for what was
 * removed in that turn: its item must stay until the turn ends.
 */
#ifndef WAKEGATE_NET_POLL_SET_H
#define WAKEGATE_NET_POLL_SET_H

#include <stdbool.h>
#include <uv.h>

enum { POLL_SET_WRITABLE = 1 << 0, POLL_SET_READABLE = 1 << 1 };

struct poll_set {
    uv_poll_t poll;
    int epoll;
    /* `events` of one descriptor; one that failed is both. */
    void (*ready)(void *item, unsigned events);
    void (*closed)(struct poll_set *set);
};

/* Ends the process when there is no descriptor for it. */
void poll_set_open(struct poll_set *set, uv_loop_t *loop,
                   void (*ready)(void *item, unsigned events));
/* The set may go in `closed`. */
void poll_set_close(struct poll_set *set, void (*closed)(struct poll_set *set));

/* false: the kernel does not take it. */
bool poll_set_add(struct poll_set *set, int fd, unsigned events, void *item);
void poll_set_change(struct poll_set *set, int fd, unsigned events, void *item);
/* Before the descriptor is closed: it may have duplicates. */
void poll_set_remove(struct poll_set *set, int fd);

#endif
