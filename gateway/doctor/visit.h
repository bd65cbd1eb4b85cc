/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visit: one connection, TLS included, and where it is wanted one GET and its answer. Then it is
 * over: nothing is kept and nothing tried again.
 */
#ifndef WAKEGATE_DOCTOR_VISIT_H
#define WAKEGATE_DOCTOR_VISIT_H

#include "gateway/core/buf.h"
#include "gateway/core/deadline.h"
#include "gateway/net/stream.h"

enum { VISIT_ANSWER_BYTES = 16384 };

struct visit {
    struct stream_address to; /* its strings live until `done` */
    const char *ask;          /* the path of a GET; NULL: nothing is said */
    void (*done)(struct visit *visit);
    void *context;

    bool opened;                   /* connected, TLS finished */
    int64_t certificate_end_ms;    /* 0: no TLS */
    int64_t asked_ms, answered_ms; /* wall times around the answer's beginning */
    struct buf answer;             /* as much as came; the caller releases it */
    struct err why;                /* where it was not opened, or nothing came */

    struct stream *stream; /* its own, as the next two */
    struct deadline deadline;
    bool late;
};

/* `visit` stays where it is until `done`, which comes from the loop. */
void visit_start(uv_loop_t *loop, struct visit *visit);

#endif
