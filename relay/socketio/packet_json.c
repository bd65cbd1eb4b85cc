/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text is mended only after it was found unreadable, in a copy of the same length: an escape
 * becomes another one.
 */
#include "relay/socketio/packet_json.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/codec.h"

enum { FLAGS = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, ESCAPE = 6 };

/* The UTF-16 unit that an escape at the text's beginning stands for; -1: there is none. */
static long unit_of(struct slice text)
{
    unsigned char bytes[2];

    if (text.len < ESCAPE || !slice_starts(text, SLICE("\\u")) ||
        !hex_decode((struct slice){text.data + 2, 4}, bytes, sizeof(bytes)))
        return -1;
    return (long)bytes[0] << 8 | bytes[1];
}

static bool is_high(long unit)
{
    return unit >= 0xd800 && unit <= 0xdbff;
}

static bool is_low(long unit)
{
    return unit >= 0xdc00 && unit <= 0xdfff;
}

static void mend(char *text, size_t len)
{
    size_t at = 0;

    while (at < len) {
        long unit = unit_of((struct slice){text + at, len - at});
        if (unit < 0) {
            at += text[at] == '\\' ? 2 : 1;
            continue;
        }
        bool pair =
            is_high(unit) && is_low(unit_of((struct slice){text + at + ESCAPE, len - at - ESCAPE}));
        if (unit == 0 || is_low(unit) || (is_high(unit) && !pair))
            memcpy(text + at, "\\ufffd", ESCAPE);
        at += pair ? 2 * ESCAPE : ESCAPE;
    }
}

static json_t *name_alone(struct slice text)
{
    struct slice rest = slice_from_at(text, 1);
    json_t *name = NULL;

    if (slice_starts(text, SLICE("[")))
        name = json_loadb(rest.data, rest.len, FLAGS | JSON_DISABLE_EOF_CHECK, NULL);
    if (json_is_string(name))
        return json_pack("[o, n]", name);
    json_decref(name);
    return NULL;
}

json_t *packet_json_load(struct slice text, json_error_t *why)
{
    json_t *json = json_loadb(text.data, text.len, FLAGS, why);

    if (json)
        return json;
    char *copy = mem_text(text);
    mend(copy, text.len);
    json = json_loadb(copy, text.len, FLAGS | JSON_DECODE_INT_AS_REAL, why);
    if (!json && json_error_code(why) == json_error_stack_overflow)
        json = name_alone((struct slice){copy, text.len});
    free(copy);
    return json;
}
