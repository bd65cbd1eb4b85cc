/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet_json: reads JSON as JavaScript writes it.
 *
 * JSON.stringify makes text that jansson has no room for: whole numbers beyond 64 bits, halves of
 * surrogate pairs, NULs in keys, thousands of levels. A peer that sends such a thing is no
 * enemy, so its text is read with U+FFFD for the characters and with doubles for the numbers.
 */
#ifndef WAKEGATE_RELAY_SOCKETIO_PACKET_JSON_H
#define WAKEGATE_RELAY_SOCKETIO_PACKET_JSON_H

#include <jansson.h>

#include "gateway/core/slice.h"

/* Any value; strings may hold NULs. NULL: malformed, a key that stands twice, or nested too deep;
 * an array that is nested too deep and begins with a string is [that string, null], so that a
 * packet's name outlives what came with it. */
json_t *packet_json_load(struct slice text, json_error_t *why);

#endif
