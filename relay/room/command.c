/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/room/command.h"

#include <string.h>

#include "relay/room/declaration.h"
#include "relay/room/fields.h"

static bool check_input(json_t *value, const char *path, struct err *err)
{
    struct slice input = {.data = json_string_value(value), .len = json_string_length(value)};

    if (!field_string(value, path, err))
        return false;
    return utf16_length(input) <= COMMAND_INPUT_UNITS ||
           err_set(err, "%s: has more than %d characters", path, COMMAND_INPUT_UNITS);
}

static const struct field start_fields[] = {{"threadId", true, field_id},
                                            {"messageId", true, field_id},
                                            {"input", true, check_input},
                                            {"attachments", false, declaration_attachments},
                                            {"clientTools", false, declaration_tools},
                                            {"forkFromMessageId", false, field_id},
                                            {0}};

static const struct field resume_fields[] = {{"threadId", true, field_id},
                                             {"interruptId", true, field_id},
                                             {"answer", true, field_any},
                                             {"clientTools", false, declaration_tools},
                                             {0}};

static const struct field cancel_fields[] = {{"runId", true, field_id}, {0}};

static const struct field detach_fields[] = {
    {"runId", true, field_id}, {"toolCallId", false, field_id}, {0}};

static const struct field messages_fields[] = {{"threadId", true, field_id}, {0}};

static const struct {
    const char *name;
    const struct field *fields;
} commands[] = {
    [COMMAND_START] = {"run:start", start_fields},
    [COMMAND_RESUME] = {"run:resume", resume_fields},
    [COMMAND_CANCEL] = {"run:cancel", cancel_fields},
    [COMMAND_DETACH] = {"run:detach", detach_fields},
    [COMMAND_MESSAGES] = {"thread:messages", messages_fields},
};

enum command_kind command_kind(const char *event)
{
    size_t kind = 0;

    while (kind < COMMAND_NONE && strcmp(commands[kind].name, event) != 0)
        kind++;
    return (enum command_kind)kind;
}

const char *command_name(enum command_kind kind)
{
    return kind < COMMAND_NONE ? commands[kind].name : "";
}

bool command_read(enum command_kind kind, json_t *payload, struct command *command, struct err *err)
{
    if (!fields_check(payload, "", commands[kind].fields, err))
        return false;
    struct command read = {
        .kind = kind,
        .thread = field_text(payload, "threadId"),
        .message = field_text(payload, "messageId"),
        .input = field_text(payload, "input"),
        .fork_from = field_text(payload, "forkFromMessageId"),
        .interrupt = field_text(payload, "interruptId"),
        .answer = json_object_get(payload, "answer"),
        .run = field_text(payload, "runId"),
        .tool_call = field_text(payload, "toolCallId"),
        .attachments = json_object_get(payload, "attachments"),
        .tools = json_object_get(payload, "clientTools"),
    };
    if (kind == COMMAND_START && read.input.len == 0 && json_array_size(read.attachments) == 0)
        return err_set(err, "input: is empty, and there is no attachment");
    *command = read;
    return true;
}
