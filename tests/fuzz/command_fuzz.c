/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of the rooms, as their clients send them: the first line is the event's name, the rest
 * its payload. What is accepted keeps the limits of the protocol; what is refused is explained in
 * UTF-8, since the text goes back to the client.
 */
#include "tests/fuzz/fuzz.h"

#include "relay/room/command.h"
#include "relay/room/declaration.h"
#include "relay/socketio/packet_json.h"

static void check_id(struct slice id, bool required)
{
    assert(!required || id.len > 0);
    assert(utf16_length(id) <= FIELDS_ID_UNITS && slice_is_utf8(id));
    assert(id.len == 0 || !memchr(id.data, '\0', id.len));
}

static void check_command(const struct command *command)
{
    const bool start = command->kind == COMMAND_START, resume = command->kind == COMMAND_RESUME;

    check_id(command->thread, start || resume || command->kind == COMMAND_MESSAGES);
    check_id(command->message, start);
    check_id(command->interrupt, resume);
    check_id(command->run, command->kind == COMMAND_CANCEL || command->kind == COMMAND_DETACH);
    check_id(command->fork_from, false);
    check_id(command->tool_call, false);
    assert(utf16_length(command->input) <= COMMAND_INPUT_UNITS);
    assert((command->answer != NULL) == resume);
    assert(json_array_size(command->attachments) <= DECLARED_ATTACHMENTS);
    assert(json_array_size(command->tools) <= DECLARED_TOOLS);
    assert(!start || command->input.len > 0 || json_array_size(command->attachments) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = fuzz_slice(data, size);
    char *event = mem_text(fuzz_line(&input));
    const enum command_kind kind = command_kind(event);
    struct err err = {.text = ""};
    struct command command;
    json_error_t why;

    assert(kind == COMMAND_NONE || strcmp(command_name(kind), event) == 0);
    free(event);
    if (kind == COMMAND_NONE)
        return 0;
    json_t *payload = input.len > 0 ? packet_json_load(input, &why) : NULL;
    if (command_read(kind, payload, &command, &err))
        check_command(&command);
    else
        assert(err.text[0] && slice_is_utf8(slice_from(err.text)));
    json_decref(payload);
    return 0;
}
