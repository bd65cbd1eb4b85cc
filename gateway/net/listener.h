/* SPDX-License-Identifier: Apache-2.0 */
/* listener: one listening socket, non-blocking. The socket file of a unix socket is its own. */
#ifndef WAKEGATE_NET_LISTENER_H
#define WAKEGATE_NET_LISTENER_H

#include <sys/stat.h>

#include "gateway/net/address.h"

struct listener {
    int fd;
    union address address; /* with the port that it got */
    dev_t device;          /* of the socket file, so that only our own is removed */
    ino_t inode;
};

/* "[::]" takes both families, or 0.0.0.0 where there is no IPv6. A socket file that nobody listens
 * on any more is replaced. */
bool listener_open(struct listener *listener, struct slice text, struct err *err);
/* Could it be opened? Binds and lets go; nobody can connect meanwhile, and no file is made or
 * removed. LISTENER_TAKEN: something listens there. */
enum listener_place { LISTENER_FREE, LISTENER_TAKEN, LISTENER_IMPOSSIBLE };
enum listener_place listener_look(struct slice text, struct err *err);
/* Removes its socket file. */
void listener_close(struct listener *listener);

#endif
