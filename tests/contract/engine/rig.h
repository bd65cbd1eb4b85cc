/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine behind a real front, in this process, and clients that send exact bytes. It echoes:
 * each message goes back to the session that it came from. "end" ends the session instead.
 */
#ifndef WAKEGATE_TESTS_CONTRACT_ENGINE_RIG_H
#define WAKEGATE_TESTS_CONTRACT_ENGINE_RIG_H

#include "relay/socketio/engine.h"
#include "relay/socketio/websocket.h"
#include "tests/fakes/http_rig.h"

enum { SID_TEXT = 21 };

struct house {
    struct rig *rig;
    struct engine *engine;
    struct engine_settings settings;
    struct engine_session *last; /* opened */
    unsigned opened, closed, messages;
    size_t bytes; /* of the last message */
    bool binary, ended;
    char why[32], agent[32]; /* of the last session: why it closed, its User-Agent */
};

extern struct house house;

/* Without a heartbeat that a test meets by accident. */
struct engine_settings house_settings(void);
void house_open(const struct engine_settings *settings);
int house_set_up(void **state); /* with those settings */
/* Closes the engine first; all must have been let go. */
int house_tear_down(void **state);
void house_turn_for(unsigned ms);
void assert_closed(unsigned count, const char *why);

/* ---- HTTP */

/* One request, the answer awaited. `body` is sent as it is, with its length; NULL: none. */
void ask(struct client *client, const char *method, const char *query, const char *body);
struct reply answer_to(struct client *client, const char *method, const char *query,
                       const char *body);
void assert_answer(struct client *client, unsigned status, const char *body);

/* A polling session; the client's connection is kept. */
struct client open_polling(char sid[static SID_TEXT]);
/* "EIO=4&transport=polling&sid=..." in static memory. */
const char *polling_query(const char *sid);
void poll_for(struct client *client, const char *sid);
void post(struct client *client, const char *sid, const char *body);

/* ---- WebSocket */

#define HANDSHAKE_FIELDS                                                                           \
    "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n"       \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

struct client ws_dial(const char *query);
/* With "0{...}" taken in. */
struct client ws_open(char sid[static SID_TEXT]);
struct client ws_open_for(const char *sid); /* to be a probe */
void ws_say(struct client *client, enum websocket_opcode opcode, const char *text);
void ws_say_frame(struct client *client, unsigned char first, struct slice payload);
/* The payload of the next frame, which must have this opcode; valid until the next call. */
struct slice ws_hear(struct client *client, enum websocket_opcode opcode);
void assert_ws(struct client *client, const char *text);
void assert_ws_closes(struct client *client, unsigned status); /* WEBSOCKET_NO_STATUS: without */

extern const struct CMUnitTest request_cases[], polling_cases[], websocket_cases[], upgrade_cases[];
extern const size_t request_case_count, polling_case_count, websocket_case_count,
    upgrade_case_count;

#define CASE(test) cmocka_unit_test_setup_teardown(test, house_set_up, house_tear_down)

#endif
