/* SPDX-License-Identifier: Apache-2.0 */
/* rooms_settings: what the config says of the rooms, under its key `rooms`. */
#ifndef WAKEGATE_RELAY_ROOM_ROOMS_SETTINGS_H
#define WAKEGATE_RELAY_ROOM_ROOMS_SETTINGS_H

#include "gateway/store/threads.h"
#include "relay/room/credentials.h"
#include "relay/socketio/socketio.h"

struct rooms_settings {
    char *path; /* of Socket.IO; begins and ends with '/' */
    struct credentials credentials;
    struct names origins, threads;
    struct socketio_settings socketio; /* its origins are those above */
    struct threads_settings history;
    unsigned rooms_per_client, messages_per_second;
    json_t *object; /* as it stood in the file */
};

/* Reads `rooms` of the whole config's cursor. NULL: it is not there. Never NULL after a mistake;
 * then it is good for rooms_settings_free alone. */
struct rooms_settings *rooms_settings_read(struct settings *parent, int64_t window_ms);
void rooms_settings_free(struct rooms_settings *settings); /* NULL is fine */

/* Is there a difference that only a restart brings into force? Both may be NULL. */
bool rooms_settings_need_restart(const struct rooms_settings *running,
                                 const struct rooms_settings *fresh);

#endif
