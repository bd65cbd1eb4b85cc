/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/combined_wake.h"

#include "dialects/text.h"
#include "gateway/core/buf.h"
#include "gateway/core/limits.h"

enum {
    SUMMARY_BYTES = 2048, /* what further summaries may add up to */
    RANK_TEST = 0,
    RANK_INVITE,
    RANK_UNKNOWN,
    RANK_UNANSWERED,
    RANK_REMINDER,
    RANK_MESSAGES
};

static int rank(const struct wake *wake)
{
    static const struct {
        const char *reason;
        int rank;
    } ranks[] = {{"messages", RANK_MESSAGES},
                 {"reminder", RANK_REMINDER},
                 {"unanswered", RANK_UNANSWERED},
                 {"invite", RANK_INVITE},
                 {"test", RANK_TEST}};
    struct slice reason = wake_reason(wake);

    if (wake->test)
        return RANK_TEST;
    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++)
        if (slice_eq(reason, slice_from(ranks[i].reason)))
            return ranks[i].rank;
    return RANK_UNKNOWN;
}

/* Of equals the last, which knows most. */
static const struct wake *strongest(const struct wake *const *wakes, size_t count)
{
    const struct wake *found = wakes[0];

    for (size_t i = 1; i < count; i++)
        if (rank(wakes[i]) >= rank(found))
            found = wakes[i];
    return found;
}

static size_t find(const struct conversation *list, size_t count, struct slice id)
{
    size_t at = 0;

    while (at < count && !slice_eq(list[at].id, id))
        at++;
    return at;
}

/* Each once, with what was last said of it. */
static size_t unite(const struct wake *const *wakes, size_t count,
                    struct conversation list[static LIMIT_CONVERSATIONS])
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < wakes[i]->conversation_count; j++) {
            const struct conversation *named = &wakes[i]->conversations[j];
            size_t at = find(list, used, named->id);
            if (at == LIMIT_CONVERSATIONS)
                continue;
            list[at] = *named;
            used += at == used;
        }
    return used;
}

static struct slice summary_of(const struct wake *wake)
{
    return wake->summary.len > 0 ? wake->summary
                                 : text_first_paragraph(text_without_trailer(wake->text));
}

/* Those that differ, while they are few. */
static void put_summaries(const struct wake *const *wakes, size_t count, struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        struct slice summary = summary_of(wakes[i]);
        bool known = summary.len == 0;
        for (size_t j = 0; j < i && !known; j++)
            known = slice_eq(summary, summary_of(wakes[j]));
        if (known || (out->len > 0 && out->len + summary.len > SUMMARY_BYTES))
            continue;
        if (out->len > 0)
            buf_append_char(out, ' ');
        buf_append(out, summary);
    }
}

/* What follows the first paragraph. */
static struct slice body_of(struct slice text)
{
    struct slice whole = text_without_trailer(text);

    return slice_from_at(whole, text_first_paragraph(whole).len);
}

static const struct wake *strongest_text(const struct wake *const *wakes, size_t count)
{
    const struct wake *found = NULL;

    for (size_t i = 0; i < count; i++)
        if (wakes[i]->text.len > 0 && (!found || rank(wakes[i]) >= rank(found)))
            found = wakes[i];
    return found;
}

static void keep_conversations(struct wake *combined, const struct conversation *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        combined->conversations[i] =
            (struct conversation){.id = wake_keep(combined, list[i].id),
                                  .unread = list[i].unread,
                                  .latest_sender = wake_keep(combined, list[i].latest_sender)};
    combined->conversation_count = count;
}

static struct trace first_trace(const struct wake *const *wakes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (wakes[i]->trace.parent.len > 0)
            return wakes[i]->trace;
    return wakes[0]->trace;
}

void combined_wake(const struct wake *const *wakes, size_t count, struct wake *combined)
{
    struct conversation list[LIMIT_CONVERSATIONS];
    struct buf summary = BUF_INIT(LIMIT_OUT_BODY_BYTES), text = BUF_INIT(LIMIT_OUT_BODY_BYTES);
    const struct wake *leading = strongest(wakes, count), *spoken = strongest_text(wakes, count);
    const struct wake *first = wakes[0], *last = wakes[count - 1];
    size_t room = 0, conversations = unite(wakes, count, list);

    put_summaries(wakes, count, &summary);
    if (spoken) {
        buf_append(&text, buf_slice(&summary));
        buf_append(&text, body_of(spoken->text));
    }
    for (size_t i = 0; i < conversations; i++)
        room += list[i].id.len + list[i].latest_sender.len;
    room += summary.len + text.len + leading->reason.len + leading->handle.len + last->ts.len;
    wake_reserve_for(combined, conversations, room);
    keep_conversations(combined, list, conversations);
    combined->version = leading->version;
    combined->reason = wake_keep(combined, leading->reason);
    combined->step = leading->step;
    combined->handle = wake_keep(combined, leading->handle);
    combined->summary = wake_keep(combined, buf_slice(&summary));
    combined->text = wake_keep(combined, buf_slice(&text));
    combined->delivery_id = wake_keep(combined, first->delivery_id);
    combined->ts = wake_keep(combined, last->ts);
    combined->ts_ms = last->ts_ms;
    combined->test = leading->test;
    const struct trace trace = first_trace(wakes, count);
    combined->trace.parent = wake_keep(combined, trace.parent);
    combined->trace.state = wake_keep(combined, trace.state);
    buf_release(&summary);
    buf_release(&text);
}
