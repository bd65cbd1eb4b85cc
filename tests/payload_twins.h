/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload_twins: the two readers of payload v1 held against each other. What payload_scan takes,
 * the tree of payload_parse and wake_read_payload must take as well, and read the same from it.
 */
#ifndef WAKEGATE_TESTS_PAYLOAD_TWINS_H
#define WAKEGATE_TESTS_PAYLOAD_TWINS_H

#include "dialects/payload.h"
#include "dialects/payload_scan.h"

static inline const char *payload_twins_compare(const struct wake *a, const struct wake *b)
{
    if (a->version != b->version)
        return "version";
    if (!slice_eq(a->reason, b->reason) || a->step != b->step)
        return "reason or step";
    if (!slice_eq(a->handle, b->handle) || !slice_eq(a->delivery_id, b->delivery_id))
        return "handle or delivery_id";
    if (!slice_eq(a->summary, b->summary))
        return "summary";
    if (!slice_eq(a->ts, b->ts) || a->ts_ms != b->ts_ms || a->test != b->test)
        return "ts or test";
    if (a->conversation_count != b->conversation_count)
        return "the number of conversations";
    for (size_t i = 0; i < a->conversation_count; i++) {
        const struct conversation *x = &a->conversations[i], *y = &b->conversations[i];
        if (!slice_eq(x->id, y->id) || x->unread != y->unread ||
            !slice_eq(x->latest_sender, y->latest_sender))
            return "a conversation";
    }
    return NULL;
}

/* How the two differ; NULL: they do not. `*taken`: the scanner took the body. */
static inline const char *payload_twins_differ(struct slice body, bool *taken)
{
    struct wake scanned = {0}, read = {0};
    const char *difference = NULL;

    *taken = payload_scan(body, &scanned);
    if (!*taken)
        return scanned.memory ? "a wake that is no longer empty" : NULL;
    json_t *root = payload_parse(body, NULL);
    if (!root || !wake_read_payload(&read, root, body, NULL))
        difference = "what the tree refuses";
    else if (!json_object_get(root, "type") || !json_object_get(root, "version") ||
             read.handle.len == 0 || read.delivery_id.len == 0)
        difference = "what payload_decode refuses";
    else if (!slice_eq(scanned.raw, body) || scanned.raw.data == body.data)
        difference = "raw";
    else
        difference = payload_twins_compare(&scanned, &read);
    json_decref(root);
    wake_release(&scanned);
    wake_release(&read);
    return difference;
}

#endif
