/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lingering: connections that were answered and closed while their client was still sending.
 *
 * Closing a socket with unread bytes resets the connection, and the reset can overtake the answer:
 * the client of a body that is too large would see a broken pipe instead of 413. So what it still
 * sends is read and dropped until it closes too, for a short time, for few clients at once.
 */
#ifndef WAKEGATE_NET_LINGERING_H
#define WAKEGATE_NET_LINGERING_H

#include <uv.h>

enum { LINGERING_MOST = 64, LINGERING_MS = 2000, LINGERING_BYTES = 4 * 1024 * 1024 };

struct lingering {
    uv_loop_t *loop;
    struct leaving *first;
    unsigned count;
};

void lingering_open(struct lingering *lingering, uv_loop_t *loop);
/* Keeps the connection of `fd`, whose sending side is shut down; the caller closes its own `fd`. */
void lingering_keep(struct lingering *lingering, int fd);
/* Ends them all. The loop must run once more. */
void lingering_close(struct lingering *lingering);

#endif
