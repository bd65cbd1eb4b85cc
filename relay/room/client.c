/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/room/client.h"

#include <stdlib.h>

#include "gateway/core/metrics.h"
#include "relay/room/room.h"

enum { WHOLE = 1000, BURST_SECONDS = 2 };

static const char *const codes[] = {
    [INVALID_COMMAND] = "INVALID_COMMAND",
    [UNKNOWN_RUN] = "UNKNOWN_RUN",
    [CONVERSATION_NOT_FOUND] = "CONVERSATION_NOT_FOUND",
};

struct client *client_new(struct rooms *rooms, struct socketio_socket *socket,
                          const struct credential *credential, struct client **all)
{
    struct client *client = mem_new(sizeof(*client));

    *client = (struct client){.references = 1,
                              .rooms = rooms,
                              .socket = socket,
                              .credential = credential,
                              .next = *all,
                              .link = all};
    if (client->next)
        client->next->link = &client->next;
    *all = client;
    ++*metrics_value(METRIC_ROOM_CLIENTS, NULL, NULL, NULL);
    return client;
}

struct client *client_hold(struct client *client)
{
    client->references++;
    return client;
}

void client_drop(struct client *client)
{
    if (--client->references == 0)
        free(client);
}

static void leave_all(struct client *client)
{
    while (client->members)
        room_leave(client->members);
}

void client_gone(struct client *client)
{
    leave_all(client);
    client->socket = NULL;
    client->credential = NULL;
    *client->link = client->next;
    if (client->next)
        client->next->link = client->link;
    --*metrics_value(METRIC_ROOM_CLIENTS, NULL, NULL, NULL);
    client_drop(client);
}

void client_disconnect(struct client *client)
{
    leave_all(client);
    client->credential = NULL;
    if (client->socket)
        socketio_disconnect(client->socket);
}

/* Whoever lost a right leaves the rooms, and may ask for them again. */
void client_renew(struct client *client, const struct credential *credential)
{
    if (!client->credential)
        return;
    if (!credential) {
        client_disconnect(client);
        return;
    }
    client->credential = credential;
    for (struct member *next, *member = client->members; member; member = next) {
        next = member->next_of_client;
        bool reads = credential->rights & RIGHT_READ, answers = credential->rights & RIGHT_ANSWER;
        bool allowed = credential_allows(credential, slice_from(member->room->name));
        if (!reads || !allowed || answers != member->answers)
            room_leave(member);
    }
}

struct member *client_member(const struct client *client, const struct room *room)
{
    struct member *member = client->members;

    while (member && member->room != room)
        member = member->next_of_client;
    return member;
}

bool client_may_send(struct client *client, unsigned per_second, uint64_t now_ms)
{
    uint64_t most = (uint64_t)per_second * WHOLE * BURST_SECONDS;
    uint64_t earned = (now_ms - client->allowed_ms) * per_second; /* one in 1000 ms is WHOLE */

    if (client->allowed_ms == 0 || earned > most)
        earned = most;
    client->allowance = client->allowance + earned < most ? client->allowance + earned : most;
    client->allowed_ms = now_ms;
    if (client->allowance < WHOLE)
        return false;
    client->allowance -= WHOLE;
    return true;
}

void client_answer(struct socketio_ack *ack, json_t *answer)
{
    if (ack) {
        json_t *list = json_pack("[O]", answer);
        socketio_acknowledge(ack, &(struct socketio_arguments){.json = list});
        json_decref(list);
    }
    json_decref(answer);
}

/* {code, message}, and in an answer the same as `error` too. */
static json_t *refused(enum refusal code, const char *message)
{
    return json_pack("{s:b, s:s, s:s, s:{s:s, s:s}}", "ok", 0, "code", codes[code], "message",
                     message, "error", "code", codes[code], "message", message);
}

static void emit_error(struct client *client, enum refusal code, const char *message)
{
    if (client->socket)
        socketio_emit(client->socket, "protocol:error",
                      json_pack("{s:s, s:s}", "code", codes[code], "message", message));
}

void client_refuse(struct client *client, struct socketio_ack *ack, enum refusal code,
                   const char *message)
{
    if (ack)
        client_answer(ack, refused(code, message));
    else
        emit_error(client, code, message);
}

void client_complain(struct client *client, struct socketio_ack *ack, enum refusal code,
                     const char *message)
{
    emit_error(client, code, message);
    if (ack)
        client_answer(ack, refused(code, message));
}
