/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head: is the head of this request one that every HTTP implementation reads the same way?
 *
 * Requests that two parsers can cut at different places are how one request is smuggled inside
 * another, and libmicrohttpd lets several such shapes pass. They are refused here, before anybody
 * looks at the path. Pure.
 */
#ifndef WAKEGATE_NET_HEAD_H
#define WAKEGATE_NET_HEAD_H

#include "gateway/core/request.h"

enum expectation { EXPECT_NOTHING, EXPECT_CONTINUE, EXPECT_UNKNOWN };

struct head { /* what the head says of the body */
    bool has_length;
    uint64_t length; /* with has_length */
    bool chunked;
    enum expectation expectation;
};

/* false: a shape that must not pass; the request gets 400 and its connection is closed. The slices
 * lie where the library parsed them in place, and `end` is the end of the head there: what stands
 * between the fields tells of bytes that the library hides. NULL: the library hides none. */
bool head_read(const struct request *request, struct slice version, const char *end,
               struct head *head);

/* false: the request line has a control character in it. libmicrohttpd 0.9.75 cuts its parts at a
 * NUL, so `target_len` is the length of path and query up to the first one, before they were taken
 * apart; the slices lie where they were parsed. */
bool head_line_is_whole(struct slice method, struct slice path, size_t target_len,
                        struct slice version);

/* True when bytes of a body follow the head. */
bool head_has_body(const struct head *head);

/* True when they are few and on their way: reading them costs less than a new connection. */
bool head_body_is_short(const struct head *head);

#endif
