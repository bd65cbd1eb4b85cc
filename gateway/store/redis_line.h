/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_line: one connection to one Redis, kept up: the server is found, reached and greeted, and
 * when it is lost all that begins anew after a wait that grows, with the name looked up and the
 * Sentinels asked again.
 *
 * Ready means: the server took the password and the scripts, wrote one key, and where Sentinels
 * named it says itself that it is the master. They are asked while it is ready too, since a master
 * that was replaced takes writes until it is told so, seconds later, and then drops them.
 */
#ifndef WAKEGATE_STORE_REDIS_LINE_H
#define WAKEGATE_STORE_REDIS_LINE_H

#include "gateway/core/deadline.h"
#include "gateway/store/redis_greeting.h"
#include "gateway/store/redis_news.h"

enum redis_line_state {
    LINE_WAITING, /* for the next try */
    LINE_ASKING,  /* Sentinels */
    LINE_CONNECTING,
    LINE_GREETING,
    LINE_READY,
    LINE_LEAVING, /* given up; the stream is not gone yet */
    LINE_CLOSING
};

/* From the loop, and from redis_line_leave; never after redis_line_close. */
struct redis_line_events {
    void (*ready)(void *context);
    /* An answer, or one element of one; only while it is ready. */
    void (*reply)(void *context, const struct redis_reply *reply);
    /* It is not ready: lost, or not reached. */
    void (*down)(void *context, const struct err *why);
};

/* Embedded; what is not marked is the line's own. */
struct redis_line {
    enum redis_line_state state;    /* to be read */
    struct err why;                 /* to be read: it is not ready */
    char *place;                    /* to be read: the server, as far as it is known */
    struct redis_greeting greeting; /* to be read: the scripts' digests, how the server forgets */
    struct redis_news news;         /* to be told of refusals */
    bool heard;                     /* bytes came since it was cleared */
    uv_loop_t *loop;
    struct redis_url url;
    const struct redis_line_events *events;
    void *context;
    struct redis_sentinel *sentinel; /* while asking, and now and then while it is ready */
    size_t asked_first;              /* of the Sentinels */
    struct stream *stream;           /* NULL while waiting */
    struct redis_reader *reader;     /* lives as long as the stream */
    struct deadline deadline;        /* of the next try, the greeting, or the next look */
    bool has_deadline;
    unsigned failures; /* since an operation was last answered */
    void (*closed)(void *context);
};

/* Takes what `url` owns. `name`: in logs, after the place; borrowed. */
void redis_line_open(struct redis_line *line, uv_loop_t *loop, struct redis_url *url,
                     const char *name, const struct redis_line_events *events, void *context);
/* Only while it is ready. */
void redis_line_write(struct redis_line *line, struct slice bytes);
/* An operation was answered. */
void redis_line_worked(struct redis_line *line);
/* Gives up a line that is ready. */
void redis_line_leave(struct redis_line *line, const struct err *why, bool lasting);
void redis_line_close(struct redis_line *line, void (*closed)(void *context));

#endif
