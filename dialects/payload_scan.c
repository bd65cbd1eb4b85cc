/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A member is found in a table, which says where in the wake its value goes and of which kind it
 * is. A string without escapes stands in the body as it is, so every slice first points into the
 * body, and is moved into the wake's own copy of it when all of it was read.
 */
#include "dialects/payload_scan.h"

#include <stddef.h>

#include "gateway/core/clock.h"
#include "gateway/core/limits.h"

enum { MOST_DIGITS = 18 };

enum kind { TEXT, NUMBER, NUMBER_OR_NULL, FLAG, LIST };

struct member {
    struct slice name;
    enum kind kind;
    size_t place; /* in the struct */
};

struct found { /* beside the wake */
    struct wake wake;
    struct slice type;
};

#define MEMBER(text, kind, type, field)                                                            \
    {                                                                                              \
        {.data = (text), .len = sizeof(text) - 1}, kind, offsetof(struct type, field)              \
    }

static const struct member payload_members[] = {
    MEMBER("type", TEXT, found, type),
    MEMBER("version", NUMBER, found, wake.version),
    MEMBER("reason", TEXT, found, wake.reason),
    MEMBER("step", NUMBER_OR_NULL, found, wake.step),
    MEMBER("handle", TEXT, found, wake.handle),
    MEMBER("conversations", LIST, found, wake.conversations),
    MEMBER("summary", TEXT, found, wake.summary),
    MEMBER("delivery_id", TEXT, found, wake.delivery_id),
    MEMBER("ts", TEXT, found, wake.ts),
    MEMBER("test", FLAG, found, wake.test),
};

static const struct member conversation_members[] = {
    MEMBER("id", TEXT, conversation, id),
    MEMBER("unread", NUMBER, conversation, unread),
    MEMBER("latest_sender", TEXT, conversation, latest_sender),
};

enum {
    PAYLOAD_MEMBERS = sizeof(payload_members) / sizeof(payload_members[0]),
    CONVERSATION_MEMBERS = sizeof(conversation_members) / sizeof(conversation_members[0]),
    VERSION_BIT = 1u << 1
};

struct scan {
    const char *at, *end;
    struct conversation *conversations; /* room for LIMIT_CONVERSATIONS */
    size_t conversation_count;
};

static void skip_blanks(struct scan *scan)
{
    while (scan->at < scan->end &&
           (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t' || *scan->at == '\r'))
        scan->at++;
}

/* Blanks and then this character. */
static bool take(struct scan *scan, char c)
{
    skip_blanks(scan);
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

static bool take_word(struct scan *scan, struct slice word)
{
    const struct slice rest = {.data = scan->at, .len = (size_t)(scan->end - scan->at)};

    if (!slice_starts(rest, word))
        return false;
    scan->at += word.len;
    return true;
}

static bool scan_text(struct scan *scan, struct slice *text)
{
    bool ascii = true;

    if (!take(scan, '"'))
        return false;
    const char *begin = scan->at;
    for (; scan->at < scan->end && *scan->at != '"'; scan->at++) {
        unsigned char c = (unsigned char)*scan->at;
        if (c < 0x20 || c == '\\')
            return false;
        ascii = ascii && c < 0x80;
    }
    const struct slice found = {.data = begin, .len = (size_t)(scan->at - begin)};
    if (scan->at == scan->end || (!ascii && !slice_is_utf8(found)))
        return false;
    scan->at++;
    *text = found;
    return true;
}

static bool scan_number(struct scan *scan, int64_t *number)
{
    skip_blanks(scan);
    bool minus = take_word(scan, SLICE("-"));
    const char *begin = scan->at;
    int64_t value = 0;
    for (; scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9'; scan->at++) {
        if (scan->at - begin == MOST_DIGITS)
            return false;
        value = value * 10 + (*scan->at - '0');
    }
    ptrdiff_t digits = scan->at - begin;
    bool fraction = scan->at < scan->end && (*scan->at == '.' || (*scan->at | 0x20) == 'e');
    if (digits == 0 || (digits > 1 && *begin == '0') || fraction)
        return false;
    *number = minus ? -value : value;
    return true;
}

static bool scan_flag(struct scan *scan, bool *flag)
{
    skip_blanks(scan);
    *flag = take_word(scan, SLICE("true"));
    return *flag || take_word(scan, SLICE("false"));
}

static bool scan_conversations(struct scan *scan);

static bool scan_value(struct scan *scan, enum kind kind, void *place)
{
    switch (kind) {
    case TEXT:
        return scan_text(scan, place);
    case NUMBER_OR_NULL:
        skip_blanks(scan);
        return take_word(scan, SLICE("null")) || scan_number(scan, place);
    case NUMBER:
        return scan_number(scan, place);
    case FLAG:
        return scan_flag(scan, place);
    case LIST:
        return scan_conversations(scan);
    }
    return false;
}

/* An object whose members stand in the table, each at most once. `*seen` gets a bit for each that
 * is there. */
static bool scan_object(struct scan *scan, const struct member *members, size_t count, void *into,
                        unsigned *seen)
{
    struct slice name;

    *seen = 0;
    if (!take(scan, '{'))
        return false;
    if (take(scan, '}'))
        return true;
    do {
        size_t i = 0;
        if (!scan_text(scan, &name) || !take(scan, ':'))
            return false;
        while (i < count && !slice_eq(name, members[i].name))
            i++;
        if (i == count || (*seen >> i & 1u))
            return false;
        *seen |= 1u << i;
        if (!scan_value(scan, members[i].kind, (char *)into + members[i].place))
            return false;
    } while (take(scan, ','));
    return take(scan, '}');
}

static bool scan_conversations(struct scan *scan)
{
    unsigned seen;

    if (!take(scan, '['))
        return false;
    if (take(scan, ']'))
        return true;
    do {
        struct conversation conversation = {0};
        if (scan->conversation_count == LIMIT_CONVERSATIONS ||
            !scan_object(scan, conversation_members, CONVERSATION_MEMBERS, &conversation, &seen))
            return false;
        if (conversation.id.len > 0)
            scan->conversations[scan->conversation_count++] = conversation;
    } while (take(scan, ','));
    return take(scan, ']');
}

static struct slice moved(struct slice text, struct slice from, struct slice to)
{
    if (text.len == 0)
        return (struct slice){0};
    return (struct slice){.data = to.data + (text.data - from.data), .len = text.len};
}

/* Gives the wake memory of its own, and moves what points into the body there. */
static void settle_in(struct wake *wake, const struct scan *scan, struct slice body)
{
    struct slice *const texts[] = {&wake->reason, &wake->handle, &wake->summary, &wake->delivery_id,
                                   &wake->ts};

    wake_reserve(wake, body, scan->conversation_count);
    wake->raw = wake_keep(wake, body);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        *texts[i] = moved(*texts[i], body, wake->raw);
    for (size_t i = 0; i < scan->conversation_count; i++) {
        struct conversation conversation = scan->conversations[i];
        conversation.id = moved(conversation.id, body, wake->raw);
        conversation.latest_sender = moved(conversation.latest_sender, body, wake->raw);
        wake->conversations[i] = conversation;
    }
    wake->conversation_count = scan->conversation_count;
    if (!clock_parse_iso(wake->ts, &wake->ts_ms))
        wake->ts_ms = 0;
}

bool payload_scan(struct slice body, struct wake *wake)
{
    struct conversation conversations[LIMIT_CONVERSATIONS];
    const char *begin = body.len > 0 ? body.data : "";
    struct scan scan = {.at = begin, .end = begin + body.len};
    struct found found = {.type = {0}};
    unsigned seen;

    scan.conversations = conversations;
    if (!scan_object(&scan, payload_members, PAYLOAD_MEMBERS, &found, &seen))
        return false;
    skip_blanks(&scan);
    if (scan.at != scan.end || !slice_eq(found.type, SLICE("agentchat.wake")) ||
        !(seen & VERSION_BIT) || found.wake.handle.len == 0 ||
        !wake_is_delivery_id(found.wake.delivery_id))
        return false;
    *wake = found.wake;
    settle_in(wake, &scan, body);
    return true;
}
