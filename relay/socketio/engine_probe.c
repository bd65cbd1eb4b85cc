/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/socketio/engine_probe.h"

#include "relay/socketio/engine_polling.h"

void probe_begin(struct link *link, struct engine_session *session)
{
    struct dues *dues = &session->engine->dues;

    link->session = session;
    session->probe = link;
    due_set(dues, &link->due, &dues->lists[DUE_UPGRADE]);
}

void probe_on_due(struct due *due)
{
    link_close(CONTAINER_OF(due, struct link, due), WEBSOCKET_NO_STATUS);
}

static void become_transport(struct link *link)
{
    struct engine_session *session = link->session;

    due_clear(&link->due);
    session->probe = NULL;
    session->probed = false;
    session->link = link;
    session->websocket = true;
    polling_rest(session);
    session_stir(session);
}

void probe_message(struct link *link, struct slice payload, bool binary)
{
    struct engine_packet packet = {.type = ENGINE_MESSAGE};
    bool known = !binary && engine_packet_parse(payload, &packet);

    if (known && packet.type == ENGINE_PING && slice_eq(packet.data, SLICE("probe"))) {
        link->session->probed = true;
        session_stir(link->session); /* for the GET that waits */
        link_send(link, engine_message_packet(ENGINE_PONG, SLICE("probe")));
    } else if (known && packet.type == ENGINE_UPGRADE) {
        become_transport(link);
    } else {
        link_close(link, WEBSOCKET_NO_STATUS);
    }
}
