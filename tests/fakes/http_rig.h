/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_rig: a front with its HTTP server, in this process, and clients that send exact bytes.
 *
 * One thread: whenever a client waits, rig_turn lets the loop turn. Paths choose what the handlers
 * do: /echo takes a body of up to ECHO_MOST bytes and sends it back, /park waits for rig_release,
 * /refused is answered by `head`, /upgrade is taken over, anything else takes no body and gets 200.
 *
 * With RIG_TLS in the environment all clients of TCP listeners speak TLS, so that the same tests
 * hold for both.
 */
#ifndef WAKEGATE_TESTS_HTTP_RIG_H
#define WAKEGATE_TESTS_HTTP_RIG_H

#include "tests/check.h"

#include "gateway/core/buf.h"
#include "gateway/core/metrics.h"
#include "gateway/net/address.h"
#include "gateway/net/front.h"
#include "gateway/net/tls.h"

enum { ECHO_MOST = 4000, PARKED_MOST = 3000, TAKEN_MOST = 3000, REPLY_MOST = 1024 * 1024 };

/* A client gives up after so long; nothing asserts how long anything takes. */
#define RIG_PATIENCE_NS (20 * UINT64_C(1000000000))

struct rig {
    uv_loop_t loop;
    struct turn turn;
    struct certificate *certificate; /* NULL: plain */
    struct front *front;
    bool closed;
    unsigned heads, requests, faults;
    enum http_fault last_fault;
    char last_path[256], last_method[32], last_peer[64];
    struct exchange *parked[PARKED_MOST];
    size_t parked_count;
    struct http_socket *taken[TAKEN_MOST];
    struct buf early; /* of all that were taken */
    unsigned taken_count, unsent_heads, lost, gone;
};

struct client {
    struct rig *rig;
    int fd;
    struct tls *tls; /* NULL: plain */
    struct buf in;   /* received, not taken yet */
    bool over;       /* the server closed it */
    bool told;       /* and said so, in TLS */
};

struct reply {
    unsigned status;
    char head[2048]; /* with the status line, without the empty line */
    char body[8192];
    size_t body_len;
};

#define RIG_WAIT(rig, condition)                                                                   \
    for (uint64_t until = uv_hrtime() + RIG_PATIENCE_NS; !(condition); rig_turn(rig))              \
    assert_true(uv_hrtime() < until)

/* One listener on a free port, and limits that no test meets by accident. */
struct front_settings rig_settings(void);
struct rig *rig_new(const struct front_settings *settings);
/* With other handlers than those that the paths choose from. */
struct rig *rig_new_for(const struct front_settings *settings,
                        const struct http_handlers *handlers);
/* Checks that everything was let go. No exchange may be parked. */
void rig_free(struct rig *rig);

/* Lets the loop turn, waiting a moment when it has nothing to do. */
void rig_turn(struct rig *rig);
void rig_turns(struct rig *rig, int count);
/* Answers a parked exchange. */
void rig_release(struct rig *rig, size_t index);
/* Takes a parked exchange over. */
void rig_upgrade(struct rig *rig, struct exchange *exchange);
union address rig_address(const struct rig *rig, size_t index);

struct client dial(struct rig *rig);
/* Connects and says nothing, not even of TLS, which greet does then. */
struct client knock(struct rig *rig, const union address *address);
void greet(struct client *client);
struct client dial_address(struct rig *rig, const union address *address);
/* Says that no more will be sent. */
void say_end(struct client *client);
void hang_up(struct client *client);

/* false: the connection is gone. */
bool say_bytes(struct client *client, struct slice bytes);
bool say(struct client *client, const char *text);

/* Reads what has come, without waiting. */
void take_in(struct client *client);
/* Waits for one answer; false: the connection ended before one came. */
bool hear(struct client *client, struct reply *reply);
void assert_hears(struct client *client, unsigned status, const char *body);
/* The server closes the connection, and sent nothing more than was heard. */
void assert_ends(struct client *client);

#endif
