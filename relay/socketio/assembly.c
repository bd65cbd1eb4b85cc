/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/socketio/assembly.h"

#include <stdlib.h>

static enum assembly_got fault(struct err *err, const char *why)
{
    err_set(err, "%s", why);
    return ASSEMBLY_FAULT;
}

static enum assembly_got so_far(const struct assembly *assembly)
{
    return assembly->count == assembly->packet.attachments ? ASSEMBLY_WHOLE : ASSEMBLY_MORE;
}

enum assembly_got assembly_text(struct assembly *assembly, struct slice text, struct err *err)
{
    if (assembly->attachments)
        return fault(err, "a text where an attachment was announced");
    if (!socket_packet_parse(text, &assembly->packet, err))
        return ASSEMBLY_FAULT;
    assembly->name_space = mem_text(assembly->packet.name_space);
    assembly->packet.name_space.data = assembly->name_space;
    if (assembly->packet.attachments > 0)
        assembly->attachments =
            mem_new(assembly->packet.attachments * sizeof(assembly->attachments[0]));
    return so_far(assembly);
}

enum assembly_got assembly_binary(struct assembly *assembly, struct slice bytes, size_t max,
                                  struct err *err)
{
    if (!assembly->attachments)
        return fault(err, "binary that was not announced");
    if (bytes.len > max - assembly->bytes)
        return fault(err, "attachments that are too large");
    assembly->bytes += bytes.len;
    assembly->attachments[assembly->count++] =
        (struct slice){.data = mem_text(bytes), .len = bytes.len};
    return so_far(assembly);
}

void assembly_clear(struct assembly *assembly)
{
    for (unsigned i = 0; i < assembly->count; i++)
        free((char *)assembly->attachments[i].data);
    free(assembly->attachments);
    free(assembly->name_space);
    socket_packet_release(&assembly->packet);
    *assembly = (struct assembly){0};
}
