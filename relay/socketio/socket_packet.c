/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/socketio/socket_packet.h"

#include <string.h>

#include "relay/socketio/packet_json.h"

bool socket_packet_is_binary(const struct socket_packet *packet)
{
    return packet->type == SOCKET_BINARY_EVENT || packet->type == SOCKET_BINARY_ACK;
}

static bool is_event(const struct socket_packet *packet)
{
    return packet->type == SOCKET_EVENT || packet->type == SOCKET_BINARY_EVENT;
}

static bool is_ack(const struct socket_packet *packet)
{
    return packet->type == SOCKET_ACK || packet->type == SOCKET_BINARY_ACK;
}

/* ---- what stands before the JSON; each takes its part off `*text` */

static bool take_type(struct slice *text, struct socket_packet *packet, struct err *err)
{
    if (text->len == 0 || text->data[0] < '0' || text->data[0] > '0' + SOCKET_BINARY_ACK)
        return err_set(err, "unknown packet type");
    packet->type = (enum socket_packet_type)(text->data[0] - '0');
    *text = slice_from_at(*text, 1);
    return true;
}

static bool take_attachments(struct slice *text, struct socket_packet *packet, struct err *err)
{
    struct slice digits;
    uint64_t count = 0;

    if (!socket_packet_is_binary(packet))
        return true;
    bool dash = slice_cut(*text, '-', &digits, text);
    if (!dash || !slice_number(digits, &count) || count < 1 || count > SOCKET_ATTACHMENTS_MAX)
        return err_set(err, "a count of attachments that is not 1 to %d", SOCKET_ATTACHMENTS_MAX);
    packet->attachments = (unsigned)count;
    return true;
}

static bool take_namespace(struct slice *text, struct socket_packet *packet, struct err *err)
{
    packet->name_space = SLICE("/");
    if (!slice_starts(*text, SLICE("/")))
        return true;
    slice_cut(*text, ',', &packet->name_space, text);
    if (packet->name_space.len > SOCKET_NAMESPACE_MAX)
        return err_set(err, "a namespace of more than %d bytes", SOCKET_NAMESPACE_MAX);
    return true;
}

static bool take_id(struct slice *text, struct socket_packet *packet, struct err *err)
{
    size_t len = 0;

    while (len < text->len && text->data[len] >= '0' && text->data[len] <= '9')
        len++;
    packet->has_id = len > 0;
    if (is_ack(packet) && !packet->has_id)
        return err_set(err, "an acknowledgement without an id");
    if (!packet->has_id)
        return true;
    if (!is_ack(packet) && !is_event(packet))
        return err_set(err, "an id where none belongs");
    if (!slice_number(slice_first(*text, len), &packet->id) || packet->id > SOCKET_ID_MAX)
        return err_set(err, "an id that is too large");
    *text = slice_from_at(*text, len);
    return true;
}

/* ---- the JSON */

static bool check_name(const json_t *name, struct err *err)
{
    static const char *const reserved[] = {"connect",       "connect_error", "disconnect",
                                           "disconnecting", "newListener",   "removeListener"};

    if (json_is_number(name))
        return true;
    if (!json_is_string(name))
        return err_set(err, "an event without a name");
    if (strlen(json_string_value(name)) < json_string_length(name))
        return err_set(err, "an event with a NUL in its name");
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (strcmp(json_string_value(name), reserved[i]) == 0)
            return err_set(err, "an event with the reserved name %s", reserved[i]);
    return true;
}

static bool check_payload(const struct socket_packet *packet, struct err *err)
{
    const json_t *json = packet->json;

    switch (packet->type) {
    case SOCKET_CONNECT:
        return !json || json_is_object(json) || err_set(err, "a CONNECT that is not an object");
    case SOCKET_DISCONNECT:
        return !json || err_set(err, "a DISCONNECT with a payload");
    case SOCKET_CONNECT_ERROR:
        return json_is_object(json) || json_is_string(json) ||
               err_set(err, "a CONNECT_ERROR without a reason");
    case SOCKET_EVENT:
    case SOCKET_BINARY_EVENT:
        if (!json_is_array(json))
            return err_set(err, "an event that is not an array");
        return check_name(json_array_get(json, 0), err);
    case SOCKET_ACK:
    case SOCKET_BINARY_ACK:
        break;
    }
    return json_is_array(json) || err_set(err, "an acknowledgement that is not an array");
}

/* Marks the attachments that `json` names; false: it names one that there is not, or one twice. */
static bool mark_placeholders(const json_t *json, unsigned count, unsigned *seen)
{
    const char *key = NULL;
    json_t *item = NULL;
    size_t i = 0;

    if (json_is_true(json_object_get(json, "_placeholder"))) {
        const json_t *num = json_object_get(json, "num");
        double at = json_is_number(num) ? json_number_value(num) : -1;
        if (!(at >= 0 && at < count) || (unsigned)at != at || (*seen >> (unsigned)at & 1))
            return false;
        *seen |= 1U << (unsigned)at;
        return true;
    }
    json_array_foreach (json, i, item)
        if (!mark_placeholders(item, count, seen))
            return false;
    json_object_foreach ((json_t *)json, key, item)
        if (!mark_placeholders(item, count, seen))
            return false;
    return true;
}

static bool take_json(struct slice text, struct socket_packet *packet, struct err *err)
{
    unsigned seen = 0;
    json_error_t why;

    if (text.len > 0) {
        packet->json = packet_json_load(text, &why);
        if (!packet
                 ->json) /* jansson's own text quotes the packet, and may end inside a character */
            return err_set(err, "bad JSON from byte %d on", why.position);
    }
    if (!check_payload(packet, err))
        return false;
    if (packet->attachments > 0 && (!mark_placeholders(packet->json, packet->attachments, &seen) ||
                                    seen != (1U << packet->attachments) - 1))
        return err_set(err, "placeholders that do not name each attachment once");
    return true;
}

bool socket_packet_parse(struct slice text, struct socket_packet *packet, struct err *err)
{
    struct socket_packet found = {0};

    if (take_type(&text, &found, err) && take_attachments(&text, &found, err) &&
        take_namespace(&text, &found, err) && take_id(&text, &found, err) &&
        take_json(text, &found, err)) {
        *packet = found;
        return true;
    }
    socket_packet_release(&found);
    return false;
}

void socket_packet_release(struct socket_packet *packet)
{
    json_decref(packet->json);
    packet->json = NULL;
}

/* ---- writing */

static int append_chunk(const char *bytes, size_t len, void *out)
{
    return buf_append(out, (struct slice){.data = bytes, .len = len}) ? 0 : -1;
}

bool socket_packet_append(struct buf *out, const struct socket_packet *packet)
{
    buf_append_char(out, (char)('0' + packet->type));
    if (socket_packet_is_binary(packet))
        buf_appendf(out, "%u-", packet->attachments);
    if (!slice_eq(packet->name_space, SLICE("/"))) {
        buf_append(out, packet->name_space);
        buf_append_char(out, ',');
    }
    if (packet->has_id)
        buf_appendf(out, "%llu", (unsigned long long)packet->id);
    if (packet->json)
        json_dump_callback(packet->json, append_chunk, out, JSON_COMPACT | JSON_ENCODE_ANY);
    return !out->overflow;
}
