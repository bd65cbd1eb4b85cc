/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body: a request's body while it comes in, counted against what all bodies of a server may take.
 *
 * What a head announces costs nothing; memory is taken as the bytes come. The first BODY_FREE_BYTES
 * of each body are not counted and never refused, so that whoever fills the rest with large bodies
 * that never end keeps out no wake, which is small.
 */
#ifndef WAKEGATE_NET_BODY_H
#define WAKEGATE_NET_BODY_H

#include "gateway/core/buf.h"
#include "gateway/net/http_server.h"

enum { BODY_FREE_BYTES = 4096 };

struct bodies {
    size_t held, most; /* bytes of memory; the body that passes `most` is the last that grows */
};

struct body {
    struct bodies *all;
    struct buf bytes;
};

/* `most`: bytes that this body may have. */
void body_open(struct body *body, struct bodies *all, size_t most);
/* false: nothing was taken, and why. */
bool body_append(struct body *body, struct slice more, enum http_fault *fault);
void body_release(struct body *body); /* fine for one that was never opened */

#endif
