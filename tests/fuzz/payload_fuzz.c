/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any body, decoded in every dialect, and payload_parse, which stands before all of them: what it
 * takes is one object in UTF-8, as deep as it may be, and says the same when it is written again.
 * What payload_scan takes, it reads as the tree does.
 */
#include "tests/fuzz/fuzz.h"

#include "dialects/payload.h"
#include "gateway/cli/wake_json.h"
#include "tests/payload_twins.h"

static size_t depth_of(const json_t *json)
{
    size_t deepest = 0, index;
    const char *key;
    json_t *item;

    json_array_foreach (json, index, item) {
        const size_t depth = depth_of(item);
        deepest = depth > deepest ? depth : deepest;
    }
    json_object_foreach ((json_t *)json, key, item) {
        const size_t depth = depth_of(item);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + (json_is_array(json) || json_is_object(json));
}

static void check_object(struct slice body, const json_t *root)
{
    assert(json_is_object(root) && slice_is_utf8(body));
    assert(depth_of(root) <= LIMIT_JSON_DEPTH);
    char *text = json_dumps(root, JSON_COMPACT);
    assert(text);
    json_t *again = payload_parse(slice_from(text), NULL);
    assert(again && json_equal(again, root));
    json_decref(again);
    free(text);
}

static void check_inside(const struct wake *wake, struct slice text)
{
    assert(text.len == 0 || (text.data >= wake->memory && text.len <= wake->used &&
                             text.data + text.len <= wake->memory + wake->used));
}

static void check_wake(const struct wake *wake)
{
    assert(wake_is_delivery_id(wake->delivery_id));
    assert(wake->conversation_count <= LIMIT_CONVERSATIONS && wake->used <= wake->size);
    check_inside(wake, wake->delivery_id);
    check_inside(wake, wake->reason);
    check_inside(wake, wake->handle);
    check_inside(wake, wake->summary);
    check_inside(wake, wake->ts);
    check_inside(wake, wake->text);
    check_inside(wake, wake->raw);
    for (size_t i = 0; i < wake->conversation_count; i++) {
        assert(wake->conversations[i].id.len > 0);
        check_inside(wake, wake->conversations[i].id);
        check_inside(wake, wake->conversations[i].latest_sender);
    }
    json_t *shown = wake_json(wake);
    char *text = json_dumps(shown, JSON_COMPACT);
    assert(text);
    free(text);
    json_decref(shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct request request = {.body = fuzz_slice(data, size)};
    struct err why = {.text = ""};
    bool taken;
    const char *difference = payload_twins_differ(request.body, &taken);
    json_t *root = payload_parse(request.body, &why);

    assert(!difference);
    if (root)
        check_object(request.body, root);
    else
        assert(why.text[0]);
    for (size_t i = 0; dialects[i]; i++) {
        struct err err = {.text = ""};
        struct wake wake = {0};
        if (dialects[i]->decode(&request, &wake, &err))
            check_wake(&wake);
        else
            assert(err.text[0]);
        assert(root || !wake.memory);
        wake_release(&wake);
    }
    json_decref(root);
    return 0;
}
