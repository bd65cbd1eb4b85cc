/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/room/service.h"

#include <string.h>

#include "gateway/core/clock.h"
#include "gateway/core/log.h"
#include "gateway/core/metrics.h"
#include "relay/room/command.h"
#include "relay/room/fields.h"
#include "relay/room/rooms.h"
#include "relay/room/take.h"

struct asked {
    struct client *client;
    const struct command *command;
    struct socketio_ack *ack;
};

static const char no_thread[] = "there is no such conversation, or not for this token";

static void count(enum command_kind kind, const char *result)
{
    ++*metrics_value(METRIC_ROOM_COMMANDS, command_name(kind), result, NULL);
}

static void complain(const struct asked *asked, enum refusal code, const char *message)
{
    count(asked->command->kind, "refused");
    client_complain(asked->client, asked->ack, code, message);
}

/* The room of the command's thread; NULL: refused. */
static struct room *find_room(const struct asked *asked)
{
    struct slice thread = asked->command->thread;
    struct room *room = rooms_find(asked->client->rooms, thread);

    return room && credential_allows(asked->client->credential, thread) ? room : NULL;
}

static bool has_right(const struct asked *asked, enum right right)
{
    return asked->client->credential->rights & (unsigned)right;
}

static void serve_messages(const struct asked *asked)
{
    struct room *room = find_room(asked);

    if (room && has_right(asked, RIGHT_READ)) {
        count(COMMAND_MESSAGES, "ok");
        room_ask(room, asked->client, asked->ack);
        return;
    }
    count(COMMAND_MESSAGES, "refused");
    client_refuse(asked->client, asked->ack, CONVERSATION_NOT_FOUND, no_thread);
}

static bool takes(json_t *answer)
{
    return json_is_true(json_object_get(answer, "take"));
}

/* An answer that does not take the wake leaves it to others. */
static void decline(const struct asked *asked, const struct room *room)
{
    if (!slice_eq(field_text(room->history.pending, "interruptId"), asked->command->interrupt)) {
        complain(asked, UNKNOWN_RUN, "the conversation is not waiting on that decision");
        return;
    }
    count(COMMAND_RESUME, "declined");
    client_answer(asked->ack, json_pack("{s:b}", "ok", 1));
}

static void serve_resume(const struct asked *asked)
{
    struct room *room = find_room(asked);

    if (!room)
        complain(asked, CONVERSATION_NOT_FOUND, no_thread);
    else if (!has_right(asked, RIGHT_ANSWER))
        complain(asked, INVALID_COMMAND, "this token may not answer");
    else if (takes(asked->command->answer))
        take_begin(room, asked->client, asked->command->interrupt, asked->ack);
    else
        decline(asked, room);
}

/* The place for a runtime behind a thread: none can be put there yet. */
static void serve_start(const struct asked *asked)
{
    if (!find_room(asked))
        complain(asked, CONVERSATION_NOT_FOUND, no_thread);
    else if (!has_right(asked, RIGHT_START))
        complain(asked, INVALID_COMMAND, "this token may not start runs");
    else
        complain(asked, INVALID_COMMAND,
                 "no runtime stands behind this conversation, so no run can be started in it");
}

/* A wake that is offered is a run that is over: nothing of it can be cancelled or detached. */
static void serve_cancel(const struct asked *asked)
{
    complain(asked, UNKNOWN_RUN, "the run is not active");
}

static void serve(const struct asked *asked)
{
    switch (asked->command->kind) {
    case COMMAND_START:
        serve_start(asked);
        return;
    case COMMAND_RESUME:
        serve_resume(asked);
        return;
    case COMMAND_CANCEL:
    case COMMAND_DETACH:
        serve_cancel(asked);
        return;
    case COMMAND_MESSAGES:
        serve_messages(asked);
        return;
    case COMMAND_NONE:
        return;
    }
}

static bool read_arguments(enum command_kind kind, const struct socketio_arguments *arguments,
                           struct command *command, struct err *err)
{
    if (json_array_size(arguments->json) > 1)
        return err_set(err, "there is more than one argument");
    if (arguments->attachment_count > 0)
        return err_set(err, "binary attachments are not taken");
    return command_read(kind, json_array_get(arguments->json, 0), command, err);
}

static void refuse_invalid(struct client *client, enum command_kind kind, struct socketio_ack *ack,
                           struct err *err)
{
    count(kind, "invalid");
    err_wrap(err, "%s", command_name(kind));
    if (kind == COMMAND_MESSAGES)
        client_refuse(client, ack, INVALID_COMMAND, err->text);
    else
        client_complain(client, ack, INVALID_COMMAND, err->text);
}

static void expel(struct client *client, struct socketio_ack *ack)
{
    log_begin(LOG_WARN, "room_client_expelled");
    log_text("client", client->credential->client);
    log_text("text", "it sends too many messages");
    log_end();
    client_complain(client, ack, INVALID_COMMAND, "too many messages; slow down");
    client_disconnect(client);
}

void service_event(struct client *client, const char *name,
                   const struct socketio_arguments *arguments, struct socketio_ack *ack)
{
    enum command_kind kind = command_kind(name);
    struct command command;
    struct err err;

    if (!client->credential || !client->rooms->settings) {
        socketio_ack_drop(ack);
        return;
    }
    if (!client_may_send(client, client->rooms->settings->messages_per_second,
                         clock_steady_us() / 1000)) {
        expel(client, ack);
        return;
    }
    if (kind == COMMAND_NONE) {
        socketio_ack_drop(ack);
        return;
    }
    if (!read_arguments(kind, arguments, &command, &err)) {
        refuse_invalid(client, kind, ack, &err);
        return;
    }
    serve(&(struct asked){.client = client, .command = &command, .ack = ack});
}
