/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify: tells the service manager what state the process is in, and that its loop turns.
 *
 * The protocol is that of sd_notify(3): one datagram for each message, to the unix socket (a path,
 * or "@" and an abstract name) that NOTIFY_SOCKET names; with WATCHDOG_USEC set, and WATCHDOG_PID
 * absent or this process, WATCHDOG=1 twice in that time. Nothing happens where nobody asked for it.
 * What cannot be told is logged and changes nothing else.
 *
 * A change of state waits up to a second for a manager that is slow to read; a sign of life never
 * waits, since another one follows.
 */
#ifndef WAKEGATE_GATEWAY_NOTIFY_H
#define WAKEGATE_GATEWAY_NOTIFY_H

#include <sys/socket.h>
#include <sys/un.h>

#include "gateway/core/deadline.h"

struct notify {
    int fd; /* -1: nobody wants to know */
    struct sockaddr_un manager;
    socklen_t manager_len;
    uint64_t every_ms;      /* between two signs of life; 0: none are wanted */
    struct deadline signal; /* the next one */
};

/* Reads the environment. The caller's memory, until the loop has run once more after the closing.
 */
void notify_open(struct notify *notify, uv_loop_t *loop);

void notify_ready(struct notify *notify);     /* it serves; also the end of a reload */
void notify_reloading(struct notify *notify); /* followed by notify_ready, whatever came of it */
/* It ends, and needs up to `ms` for that. */
void notify_stopping(struct notify *notify, uint64_t ms);

void notify_close(struct notify *notify);

#endif
