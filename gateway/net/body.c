/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/body.h"

/* What counts of the memory that a body has. */
static size_t counted(const struct buf *bytes)
{
    return bytes->size > BODY_FREE_BYTES ? bytes->size : 0;
}

void body_open(struct body *body, struct bodies *all, size_t most)
{
    *body = (struct body){.all = all, .bytes = {.max = most}};
}

bool body_append(struct body *body, struct slice more, enum http_fault *fault)
{
    struct bodies *all = body->all;
    struct buf *bytes = &body->bytes;

    *fault = FAULT_TOO_LARGE;
    if (more.len > bytes->max - bytes->len)
        return false;
    size_t need = bytes->len + more.len + 1;
    bool grows = need > bytes->size && need > BODY_FREE_BYTES;
    *fault = FAULT_NO_ROOM;
    if (grows && all->held >= all->most)
        return false;
    all->held -= counted(bytes);
    buf_append(bytes, more);
    all->held += counted(bytes);
    return true;
}

void body_release(struct body *body)
{
    if (body->all)
        body->all->held -= counted(&body->bytes);
    buf_release(&body->bytes);
}
