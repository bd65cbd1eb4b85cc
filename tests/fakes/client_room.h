/* SPDX-License-Identifier: Apache-2.0 */
/* client_room: a loop, an HTTP client and a scripted server, for one test each. */
#ifndef WAKEGATE_TESTS_CLIENT_ROOM_H
#define WAKEGATE_TESTS_CLIENT_ROOM_H

#include "relay/http_client.h"
#include "tests/fakes/http_stub.h"

enum { PATIENCE_MS = 20000 }; /* a time-out that must not be reached */

struct client_room {
    uv_loop_t loop;
    struct turn turn;
    struct http_client *client;
    struct stub stub;
    bool client_gone;
};

struct exchange {
    struct http_call call;
    struct client_room *room;
    bool over;
};

/* For cmocka; the client that is open in a new room reaches private addresses too. */
int room_set_up(void **state);
int room_tear_down(void **state);

void room_open_client(struct client_room *room, bool private_too, const char *ca_file);
void room_close_client(struct client_room *room); /* waits for its end */

/* Sends what `call` says, where it says nothing the room's own defaults. */
void exchange_begin(struct client_room *room, struct exchange *exchange);
void exchange_finish(struct exchange *exchange); /* waits for its end */
enum http_result exchange_run(struct client_room *room, struct exchange *exchange);
void exchange_get(struct client_room *room, struct exchange *exchange); /* a GET, to its end */
void exchange_release(struct exchange *exchange);

/* A POST whose answer does not matter. */
enum http_result room_post(struct client_room *room, const char *url);
enum http_result room_post_fresh(struct client_room *room, const char *url);

#endif
