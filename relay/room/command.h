/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command: what a client of a room may ask (the pilotoo wire protocol, version 1), checked
 * strictly: a key that is not known, a wrong type or a passed limit is refused with a text that
 * names the field.
 *
 * Pure: it knows neither rooms nor rights.
 */
#ifndef WAKEGATE_RELAY_ROOM_COMMAND_H
#define WAKEGATE_RELAY_ROOM_COMMAND_H

#include <jansson.h>

#include "gateway/core/err.h"
#include "gateway/core/slice.h"

enum { COMMAND_INPUT_UNITS = 16000 }; /* UTF-16 code units, as JavaScript counts */

enum command_kind {
    COMMAND_START,
    COMMAND_RESUME,
    COMMAND_CANCEL,
    COMMAND_DETACH,
    COMMAND_MESSAGES,
    COMMAND_NONE /* no name of a command */
};

struct command { /* borrows from the payload; absent fields are empty or NULL */
    enum command_kind kind;
    struct slice thread, message, input, fork_from; /* start; thread: resume, messages too */
    struct slice interrupt;                         /* resume */
    json_t *answer;                                 /* resume; never NULL there */
    struct slice run, tool_call;                    /* cancel, detach */
    json_t *attachments, *tools;                    /* start; tools: resume too */
};

enum command_kind command_kind(const char *event);
const char *command_name(enum command_kind kind); /* "run:start", ... */

/* `payload` may be NULL: the event had no argument. */
bool command_read(enum command_kind kind, json_t *payload, struct command *command,
                  struct err *err);

#endif
